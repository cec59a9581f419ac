"""What the page shows where there is no app to show: who may not look, and what failed."""

import sys

import panel as pn

from rxferrix_lab.views.access import OPERATORS
from rxferrix_lab.views.card import card, html
from rxferrix_lab.views.hosting import Hosted
from rxferrix_lab.views.labels import esc


def _page(title: str, *paragraphs: str) -> pn.viewable.Viewable:
    body = html("".join(f"<p>{text}</p>" for text in paragraphs))
    return pn.Column(card(title, body, max_width=860), sizing_mode="stretch_width")


def sign_in_needed() -> pn.viewable.Viewable:
    """For a visitor from elsewhere, where nobody can sign in."""
    command = (
        "panel serve dashboard --address 0.0.0.0 --basic-auth users.json "
        "--cookie-secret SECRET --allow-websocket-origin HOST:5006"
    )
    return _page(
        "Sign in to see this app",
        "Without sign-in this page answers only the machine that it runs on. You came from "
        "elsewhere, or through a proxy, so nothing of the app is shown.",
        "Whoever runs the server turns sign-in on with Panel's own options, for example:",
        f'<div class="rx-pre">{esc(command)}</div>',
        f"and names the operators in the environment: <code>{OPERATORS}=ann,bob</code>. Everyone "
        "else who signs in may look and not change anything.",
    )


def sign_in_lost() -> pn.viewable.Viewable:
    """For a visitor without a valid cookie, where sign-in is on."""
    return _page(
        "You are not signed in",
        'Your sign-in is missing or has ended. <a class="rx-link" href="login">Sign in again</a>.',
    )


def app_failed(host: Hosted) -> pn.viewable.Viewable:
    """For an app that could not be imported or started."""
    if host.is_import_failure:
        module = host.target.partition(":")[0]
        command = f"{sys.executable} -c 'import {module}'"
        return _page(
            f"The app {host.target} could not be imported",
            "This is how it ended:",
            f'<div class="rx-pre">{esc(host.problem)}</div>',
            "Run this in the same folder until it prints nothing, then reload the page:",
            f'<div class="rx-pre">{esc(command)}</div>',
        )
    return _page(
        "The app does not run",
        f'<div class="rx-pre">{esc(host.problem)}</div>',
        "Put that right and reload the page; the server tries again each time.",
    )
