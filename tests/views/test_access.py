"""Who may look, and who is an operator."""

import pytest

from rxferrix_lab.views.access import is_from_here, operators


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_peer_on_this_machine_is_from_here(peer: str) -> None:
    assert is_from_here(peer, frozenset({"host", "user-agent"}))


@pytest.mark.parametrize(
    "peer", ["10.0.0.7", "192.168.1.4", "::2", "fe80::1%eth0", "", "localhost"]
)
def test_any_other_peer_is_not(peer: str) -> None:
    assert not is_from_here(peer, frozenset())


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "x-real-ip", "forwarded", "x-forwarded-host", "via"]
)
def test_what_came_through_a_proxy_is_not(header: str) -> None:
    assert not is_from_here("127.0.0.1", frozenset({header}))


def test_operators_are_those_named() -> None:
    assert operators(" ann, bob ,,") == {"ann", "bob"}


def test_none_named_means_nobody() -> None:
    assert operators("") == frozenset()
