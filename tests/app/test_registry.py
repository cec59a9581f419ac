"""The registry: one name, one thing."""

import pytest

from rxferrix_lab import MutationCtx, RxFerrix, Workpool
from rxferrix_lab.errors import DuplicateNameError, UnknownFunctionError


def work(ctx: MutationCtx) -> None: ...


@pytest.mark.parametrize("what", ["function", "workpool", "cron", "table"])
def test_a_name_is_declared_once_in_a_program_and_again_in_a_notebook(what: str) -> None:
    def declare(app: RxFerrix) -> None:
        match what:
            case "function":
                app.mutation(work)
            case "workpool":
                app.workpool(Workpool("emails", max_parallelism=1))
            case "cron":
                app.cron("beat", "0 0 9 * * *", app.registry.functions["target"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            case _:
                app.table("notes", "text VARCHAR")

    program, notebook = RxFerrix(interactive=False), RxFerrix(interactive=True)
    for app in (program, notebook):
        app.mutation(name="target")(work)
        declare(app)

    with pytest.raises(DuplicateNameError, match=f"the {what} .* is declared twice"):
        declare(program)
    declare(notebook)


def test_a_table_declared_again_in_another_case_is_the_same_table() -> None:
    app = RxFerrix(interactive=True).table("Notes", "text VARCHAR")
    app.table("notes", "text VARCHAR, size INTEGER")

    assert app.registry.tables == {"notes": "text VARCHAR, size INTEGER"}


def test_an_unknown_function_is_told_by_name() -> None:
    with pytest.raises(UnknownFunctionError, match='"nope" is not registered in this app'):
        RxFerrix().registry.function("nope")


def test_a_pool_that_is_no_workpool_is_refused() -> None:
    with pytest.raises(TypeError, match="workpool"):
        RxFerrix().workpool("emails")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
