"""The widgets that choose which jobs are shown. They write the controls, and follow the URL."""

from functools import partial
from typing import Any, cast

import panel as pn
import panel_material_ui as pmui
from param.parameterized import Event

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.job_filter import instant_in
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views.state_filter import StateFilter

ANY = ""
FIRST_PAGE = {"at": ""}


class JobFilters:
    """Chips of the states, and a row of fields."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model = model
        self._controls = controls
        self.states = StateFilter(sizing_mode="stretch_width", margin=(6, 5))
        self._fields: dict[str, Any] = {
            "text": _field("Text or id", "in name, arguments, error", 210),
            "function": _choice("Function"),
            "pool": _choice("Pool"),
            "cron": _choice("Cron"),
            "since": _field("Asked for since", "2026-11-30 09:00", 160),
            "until": _field("and before", "2026-11-30 18:00", 160),
        }
        self._clear = pmui.Button(label="Clear", variant="text", size="small", margin=(10, 4))
        self.row = pn.FlexBox(
            *self._fields.values(), self._clear, sizing_mode="stretch_width", gap="4px"
        )
        self._from_controls()
        self._wire()

    def _wire(self) -> None:
        self.states.param.watch(self._states_chosen, "chosen")
        for name, field in self._fields.items():
            field.param.watch(partial(self._filled, name), "value")
        self._clear.on_click(self._cleared)
        self._controls.param.watch(self._from_controls, ["states", *self._fields])
        self._model.param.watch(self._from_model, ["counts"])
        self._from_model()

    async def load_names(self) -> None:
        """Offer the functions, pools and crons that there are."""
        found = await self._model.names()
        for column, names in found.items():
            field = self._fields[column]
            chosen = getattr(self._controls, column)
            offered = sorted({*names, chosen} - {ANY})
            options = {"any": ANY} | {name: name for name in offered}
            if options != field.options:
                field.param.update(options=options, value=chosen)

    def _from_model(self, *_: object) -> None:
        self.states.show_counts(self._model.counts)

    def _from_controls(self, *_: object) -> None:
        chosen = [state for state in self._controls.states.split(",") if state]
        if chosen != self.states.chosen:
            self.states.chosen = chosen
        for name, field in self._fields.items():
            value = getattr(self._controls, name)
            if isinstance(field.param["value"].default, str | None) and value != field.value:
                self._offer(field, value)
                field.value = value
        self._mark_wrong()

    def _offer(self, field: Any, value: str) -> None:  # noqa: ANN401  # of two classes
        options = getattr(field, "options", None)
        if isinstance(options, dict) and value not in options.values():
            field.options = {**options, value: value}

    def _mark_wrong(self) -> None:
        for name in ("since", "until"):
            value = getattr(self._controls, name)
            is_wrong = bool(value) and instant_in(value, self._controls.zone) is None
            self._fields[name].error_state = is_wrong

    def _filled(self, name: str, event: Event) -> None:
        value = cast("str | None", event.new) or ""
        if value != getattr(self._controls, name):
            self._controls.param.update(**{name: value}, **FIRST_PAGE)

    def _states_chosen(self, event: Event) -> None:
        states = ",".join(cast("list[str]", event.new))
        if states != self._controls.states:
            self._controls.param.update(states=states, **FIRST_PAGE)

    def _cleared(self, event: object) -> None:
        del event
        self._controls.param.update(**dict.fromkeys(("states", *self._fields), ""), **FIRST_PAGE)


def _field(label: str, placeholder: str, width: int) -> pmui.TextInput:
    return pmui.TextInput(
        label=label, placeholder=placeholder, size="small", width=width, margin=(6, 4)
    )


def _choice(label: str) -> pmui.Select:
    return pmui.Select(
        label=label,
        options={"any": ANY},
        value=ANY,
        size="small",
        width=160,
        sx={"& .MuiInputBase-root": {"height": "37px"}},  # as high as a text field
        margin=(6, 4),
        searchable=True,
    )
