"""How long a context may be used: until its function has returned, and not a moment longer."""

from rxferrix_lab.errors import DeadContextError


class Lifetime:
    """The life of one query's context. Owned by the thread that runs the query."""

    __slots__ = ("_function", "_is_over")

    def __init__(self, function: str) -> None:
        self._function = function
        self._is_over = False

    def check(self) -> None:
        """Refuse use after the function has returned.

        Raises:
            DeadContextError: the snapshot is gone.
        """
        if self._is_over:
            raise DeadContextError(self._function)

    def end(self) -> None:
        """The function has returned."""
        self._is_over = True
