"""The last runs of a cron as a strip of small cells, one shape for each way that one went.

Pure: turns `CronRun`s into cells with a few words each. The shapes read without colour: a high bar
failed, a hollow one was skipped, a crossed one was missed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from rxferrix_lab.reactive.picture import CronRun
from rxferrix_lab.views import labels, palette

Cell = tuple[str, str]  # the shape's name, and what is said of it

# Each in a box of 10 by 18; "fill" where the shape is filled, "" where only its outline is drawn.
SHAPES: Mapping[str, tuple[str, str]] = {
    "succeeded": ("M1.5 7h7v10h-7z", "fill"),
    "failed": ("M1.5 1h7v16h-7z", "fill"),
    "canceled": ("M1.5 13h7v4h-7z", "fill"),
    "skipped": ("M2 7.5h6v9h-6z", ""),
    "missed": ("M2 7.5h6v9h-6zM2 7.5l6 9M8 7.5l-6 9", ""),
    "running": ("M2 7l6.5 5-6.5 5z", "fill"),
    "canceling": ("M2 9h6v6h-6z", "fill"),
    "pending": ("M5 10.5a2 2 0 1 0 .01 0", ""),
}


def cells(runs: Sequence[CronRun], zone: str) -> list[Cell]:
    """The cells of runs, oldest first; what passed unseen has one before the run that made up."""
    found: list[Cell] = []
    for run in runs:
        at = labels.instant(run.at, zone)
        if run.missed:
            found.append(("missed", f"{at} · {_missed(run.missed)}"))
        found.append((run.outcome, _told(run, at)))
    return found


def in_words(runs: Sequence[CronRun]) -> str:
    """How many went which way, for those who hear the page."""
    if not runs:
        return "has not run yet"
    counted = Counter(run.outcome for run in runs)
    counted["missed"] = sum(run.missed for run in runs)  # type: ignore[index]  # not an outcome
    parts = [f"{counted[name]} {name}" for name in SHAPES if counted[name]]  # type: ignore[index]
    return f"last {len(runs)}: {', '.join(parts)}"


def shapes() -> dict[str, dict[str, str]]:
    """The shapes with their colours, for the browser."""
    return {
        name: {"path": path, "fill": fill, "colour": palette.colour(name)}
        for name, (path, fill) in SHAPES.items()
    }


def legend() -> str:
    """What the shapes stand for, as HTML."""
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:4px">'
        f'<svg width="10" height="18" viewBox="0 0 10 18" aria-hidden="true" '
        f'fill="{palette.colour(name) if fill else "none"}" stroke="{palette.colour(name)}" '
        f'stroke-width="1.2"><path d="{path}"/></svg>{palette.mark(name).text}</span>'
        for name, (path, fill) in SHAPES.items()
    )
    return (
        f'<div role="note" aria-label="legend" class="rx-quiet" '
        f'style="display:flex;flex-wrap:wrap;gap:2px 14px;font-size:12px">{items}</div>'
    )


def _told(run: CronRun, at: str) -> str:
    parts = [at, run.outcome]
    if run.job is not None:
        parts.append(f"job {run.job}")
    if run.took is not None:
        parts.append(f"took {labels.duration(run.took)}")
    if run.detail:
        parts.append(labels.short(run.detail, 200))
    return " · ".join(parts)


def _missed(count: int) -> str:
    return "1 occurrence passed unseen" if count == 1 else f"{count:,} occurrences passed unseen"
