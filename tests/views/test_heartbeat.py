"""The banner: what everybody must know at once."""

from rxferrix_lab.reactive.picture import Health
from rxferrix_lab.views.heartbeat import banner_of


def test_nothing_is_said_while_all_is_well() -> None:
    assert banner_of(Health(is_running=True)) == ""


def test_database_that_cannot_be_written_is_not_called_stale() -> None:
    health = Health(is_running=True, trouble="no space left on device")

    assert banner_of(health) == "The database cannot be written: no space left on device"


def test_picture_that_is_not_of_now_is_called_stale() -> None:
    assert banner_of(Health(problem="the app has stopped")) == "Stale: the app has stopped"
