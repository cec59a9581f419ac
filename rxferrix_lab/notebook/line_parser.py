"""Command lines of the magics, read with argparse but answered in the cell: never an exit."""

import argparse
from typing import Never

from IPython.core.error import UsageError


class HelpShown(Exception):  # noqa: N818  # nothing went wrong
    """`--help` was asked for, and printed."""


class LineParser(argparse.ArgumentParser):
    """A parser whose errors are IPython's usage errors."""

    def exit(self, status: int = 0, message: str | None = None) -> Never:
        """End the magic, not the kernel."""
        if status:
            raise UsageError((message or "").strip())
        raise HelpShown

    def error(self, message: str) -> Never:
        """Say what is wrong and how the line is written."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise UsageError(f"{message}; usage: {usage}")
