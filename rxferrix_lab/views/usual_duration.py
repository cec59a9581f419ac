"""How long runs of a function usually take, with one run marked. An inline picture, no plot."""

from collections.abc import Sequence
from datetime import timedelta

from rxferrix_lab.views.labels import duration, esc
from rxferrix_lab.views.palette import ACCENT, FOLD

BINS = 40
WIDTH, HEIGHT = 480, 56


def usual_duration(usual: Sequence[timedelta], this: timedelta | None) -> str:
    """A histogram as HTML; a sentence where there is nothing to compare with."""
    if not usual:
        return '<span class="rx-quiet">No run of this function has succeeded yet.</span>'
    lengths = sorted(length.total_seconds() for length in usual)
    median, p95 = (
        lengths[len(lengths) // 2],
        lengths[min(int(len(lengths) * 0.95), len(lengths) - 1)],
    )
    note = f"half of {len(lengths)} runs took {_s(median)} or less, 95 % {_s(p95)} or less"
    if len(lengths) == 1:
        note = f"the only run that has succeeded took {_s(median)}"
    if this is not None and len(lengths) > 1:
        share = sum(length < this.total_seconds() for length in lengths) / len(lengths)
        note += f"; this run took {duration(this)}, longer than {int(share * 100)} % of them"
    return f'{_histogram(lengths, this)}<div class="rx-quiet">{esc(note)}</div>'


def _histogram(lengths: Sequence[float], this: timedelta | None) -> str:
    mark_s = this.total_seconds() if this is not None else 0.0
    most = max(lengths[-1], mark_s, 1e-6)
    counts = [0] * BINS
    for length in lengths:
        counts[min(int(length / most * BINS), BINS - 1)] += 1
    step = WIDTH / BINS
    bars = "".join(
        f'<rect x="{at * step:.1f}" y="{HEIGHT - _tall(count, counts):.1f}" width="{step - 1:.1f}" '
        f'height="{_tall(count, counts):.1f}" fill="{ACCENT}" opacity="0.75"/>'
        for at, count in enumerate(counts)
        if count
    )
    x = min(mark_s / most * WIDTH, WIDTH - 1.5)
    line = (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" stroke="{FOLD}" stroke-width="3"/>'
        if this is not None
        else ""
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" style="width:100%;max-width:{WIDTH}px" role="img" '
        f'aria-label="durations from 0 to {esc(_s(most))}"><line x1="0" x2="{WIDTH}" y1="{HEIGHT}" '
        f'y2="{HEIGHT}" stroke="currentColor" opacity="0.3"/>{bars}{line}</svg>'
    )


def _tall(count: int, counts: Sequence[int]) -> float:
    return max(count / max(counts) * (HEIGHT - 4), 2.0)


def _s(seconds: float) -> str:
    return duration(timedelta(seconds=seconds))
