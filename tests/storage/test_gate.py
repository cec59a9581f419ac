"""Readers pass together; whoever changes the file keeps new ones waiting."""

import threading

from rxferrix_lab.storage.gate import Gate


def test_readers_are_inside_together_and_may_enter_again() -> None:
    gate = Gate()

    with gate.reading(), gate.reading(), gate.held_if_empty() as is_mine:
        assert not is_mine


def test_an_empty_gate_can_be_held() -> None:
    gate = Gate()
    with gate.reading():
        pass

    with gate.held_if_empty() as is_mine:
        assert is_mine


def test_a_reader_that_comes_while_it_is_held_waits() -> None:
    gate, order = Gate(), list[str]()

    def read() -> None:
        with gate.reading():
            order.append("read")

    with gate.held():
        reader = threading.Thread(target=read)
        reader.start()
        order.append("changed")
    reader.join()

    assert order == ["changed", "read"]


def test_it_is_let_go_where_the_change_failed() -> None:
    gate = Gate()

    try:
        with gate.held_if_empty():
            raise OSError
    except OSError:
        pass

    with gate.reading():
        pass
