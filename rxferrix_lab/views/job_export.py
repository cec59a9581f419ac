"""Taking the filtered jobs away: as CSV, Parquet or SQL."""

from collections.abc import Callable
from io import BytesIO

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.reactive.job_filter import JobSearch
from rxferrix_lab.reactive.model import LiveModel

LOOK = {"size": "small", "margin": (4, 2)}


def export_buttons(model: LiveModel, search: Callable[[], JobSearch]) -> pn.Row:
    """One button for each format; a click makes the file of what is filtered then."""

    def sql() -> BytesIO:
        return BytesIO(model.sql_of(search()).encode())

    def csv() -> BytesIO:
        return BytesIO(model.export_jobs(search(), "csv"))

    def parquet() -> BytesIO:
        return BytesIO(model.export_jobs(search(), "parquet"))

    made = [
        pmui.FileDownload(callback=make, filename=f"jobs.{kind}", label=label, **LOOK)
        for make, kind, label in (
            (csv, "csv", "CSV"),
            (parquet, "parquet", "Parquet"),
            (sql, "sql", "SQL"),
        )
    ]
    for button in made:
        button.variant = "text"  # given to the constructor, it warns of a default of its own
    return pn.Row(*made, margin=0)
