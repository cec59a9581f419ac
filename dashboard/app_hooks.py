"""Starts the app before the first page of `panel serve dashboard`, and stops it at the end.

Panel imports this file several times, so nothing happens when it is imported.
"""

import sys

from rxferrix_lab.views.page import start_app, stop_app


def on_server_loaded(server_context: object) -> None:
    """Start the app; what goes wrong is shown on the page."""
    del server_context
    start_app(sys.argv)


def on_server_unloaded(server_context: object) -> None:
    """Stop the app cleanly."""
    del server_context
    stop_app(sys.argv)
