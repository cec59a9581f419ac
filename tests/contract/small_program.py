"""The names and the small app that the tests of functions, arguments and contexts share."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rxferrix_lab import Identity, RxFerrix

ANN = Identity("ann")
ADMIN = Identity("root", admin=True)
NOW = timedelta(0)


@dataclass
class Parcel:
    name: str
    sent_at: datetime


@dataclass
class Letter:
    name: str


def notes() -> RxFerrix:
    """An app with a table of notes."""
    return RxFerrix().table("notes", "text VARCHAR")
