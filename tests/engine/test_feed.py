"""The feed: everybody hears of each commit, and of the end."""

from rxferrix_lab.engine.feed import Feed
from rxferrix_lab.engine.writer import Change

CHANGE = Change(3, frozenset({"notes"}))


def test_listeners_hear_of_a_commit_until_they_stop() -> None:
    feed, heard = Feed(), list[Change]()
    stop = feed.listen(heard.append)
    feed.publish(CHANGE)
    stop()
    stop()
    feed.publish(CHANGE)

    assert heard == [CHANGE]
    assert feed.version == 3
    assert feed.listeners == 0


def test_a_listener_that_raises_does_not_keep_the_news_from_others() -> None:
    feed, heard = Feed(), list[Change]()

    def fail(change: Change) -> None:
        raise ValueError

    feed.listen(fail)
    feed.listen(heard.append)
    feed.publish(CHANGE)

    assert heard == [CHANGE]


def test_those_who_asked_are_told_of_the_end_once() -> None:
    feed, told = Feed(), list[str]()
    feed.listen(lambda _: None, lambda: told.append("end"))
    feed.listen(lambda _: None)
    feed.close()
    feed.close()

    assert told == ["end"]
    assert feed.listeners == 0
