"""Who looks at the page, and what he may do.

Answers from the session's request and its signed cookie. It decides what is shown; what is done is
checked again in the app, by every verb.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

import panel as pn

from rxferrix_lab.reactive.operator import Identity

OPERATORS = "RXFERRIX_OPERATORS"
# A proxy on this machine makes everybody look local; its headers give it away.
_PROXY_HEADERS = ("x-forwarded-for", "x-real-ip", "forwarded", "x-forwarded-host", "via")


class Request(Protocol):
    """What Bokeh keeps of the request that opened the session."""

    remote_ip: str | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks for the page.

    Attributes:
        identity: as whom the app is operated; None where nothing may be shown.
        is_signed_in: whether he signed in, rather than sitting at this machine.
    """

    identity: Identity | None
    is_signed_in: bool


def visitor() -> Visitor:
    """The visitor of the current session."""
    if sign_in_is_on():
        return _signed_in()
    request = _request()
    if request is not None and is_from_here(_peer(request), _headers(request)):
        return Visitor(Identity("local", admin=True), is_signed_in=False)
    return Visitor(None, is_signed_in=False)


def sign_in_is_on() -> bool:
    """Whether Panel asks visitors to sign in."""
    has_way = bool(pn.config.basic_auth) or bool(pn.config.oauth_provider)
    return has_way and pn.config.cookie_secret is not None


def is_from_here(peer: str, headers: frozenset[str]) -> bool:
    """Whether a request comes from this machine itself, and not through a proxy on it.

    >>> is_from_here("127.0.0.1", frozenset()), is_from_here("::1", frozenset())
    (True, True)
    >>> is_from_here("127.0.0.1", frozenset({"x-forwarded-for"}))
    False
    >>> is_from_here("10.0.0.7", frozenset())
    False
    """
    if headers & frozenset(_PROXY_HEADERS):
        return False
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def operators(listed: str | None = None) -> frozenset[str]:
    """The users named as operators; none named means nobody."""
    text = os.environ.get(OPERATORS, "") if listed is None else listed
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _signed_in() -> Visitor:
    # The cookie that marks a guest is not signed: whoever sends it is a guest at most.
    is_guest = bool(pn.state.cookies.get("is_guest"))
    user = pn.state.user
    if user is None or (is_guest and not pn.config.oauth_optional):
        return Visitor(None, is_signed_in=False)
    is_operator = not is_guest and user in operators()
    return Visitor(Identity(user, admin=is_operator), is_signed_in=True)


def _request() -> Request | None:
    document = pn.state.curdoc
    context = document.session_context if document is not None else None
    return getattr(context, "request", None)


def _peer(request: Request) -> str:
    return getattr(request, "remote_ip", None) or ""  # absent where a proxy class knows none


def _headers(request: Request) -> frozenset[str]:
    return frozenset(str(name).lower() for name in request.headers or {})
