"""A small table that shows itself: HTML in a cell, columns of text in a console."""

from collections.abc import Sequence
from dataclasses import dataclass

from rxferrix_lab.views.labels import esc

CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a caption."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    when_empty: str = "nothing yet"

    def __repr__(self) -> str:
        """Columns of text."""
        if not self.rows:
            return f"{self.caption}: {self.when_empty}"
        lines = [list(self.columns), *(list(row) for row in self.rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([self.caption, *text])

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The caption above the table."""
        caption = f'<div style="font-weight:600;margin-bottom:4px">{esc(self.caption)}</div>'
        if not self.rows:
            return f'{caption}<div style="opacity:.7">{esc(self.when_empty)}</div>'
        head = "".join(f'<th style="{CELL}">{esc(column)}</th>' for column in self.columns)
        body = "".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[str]) -> str:
    return "".join(f'<td style="{CELL}">{esc(cell)}</td>' for cell in row)
