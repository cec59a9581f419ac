"""The colours of the page as Material's theme, light and dark."""

from typing import Any

from rxferrix_lab.views.palette import ACCENT


def _theme(paper: str, text: str, ground: str, line: str) -> dict[str, Any]:
    bar: dict[str, Any] = {
        "backgroundColor": paper,
        "color": text,
        "boxShadow": "none",
        "borderBottom": line,
    }
    # The title's white is written into the component; it must read on a white bar as well.
    bar |= {
        "& a, & .title": {"color": "inherit !important"},
        "& .title": {"fontSize": "20px", "whiteSpace": "nowrap"},
    }
    return {
        "palette": {
            "primary": {"main": ACCENT},
            "background": {"default": ground, "paper": paper},
            "text": {"primary": text},
        },
        "components": {"MuiAppBar": {"styleOverrides": {"root": bar}}},
        "typography": {"fontSize": 13},
    }


THEME = {
    "light": _theme("#ffffff", "#1b2130", "#ffffff", "1px solid #e2e5ea"),
    "dark": _theme("#181c22", "#e8eaed", "#14181d", "1px solid #363c45"),
}
