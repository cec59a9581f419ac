"""What a forked child must not touch.

A child that writes or closes a connection it inherited corrupts the parent's database, so
everything that holds one registers here and is told, in the child, before any other code of the
child runs. Does no I/O.
"""

import ctypes
import os
from typing import Protocol
from weakref import WeakSet


class Poisonable(Protocol):
    """Something a forked child must not use."""

    def poison(self) -> None:
        """Make every later use raise. Runs in the child: only sets flags and drops references."""
        ...


_poisonables: WeakSet[Poisonable] = WeakSet()  # owner: this module; entries leave when collected


def poison_after_fork(thing: Poisonable) -> None:
    """Have ``thing.poison()`` called in every child forked from now on."""
    _poisonables.add(thing)


def keep_forever(inherited: object) -> None:
    """Never let this process destroy ``inherited``, not even when it exits.

    DuckDB closes a connection in its destructor, and closing an inherited one writes to the
    parent's file.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))


def _poison_all() -> None:
    for thing in list(_poisonables):
        thing.poison()


os.register_at_fork(after_in_child=_poison_all)
