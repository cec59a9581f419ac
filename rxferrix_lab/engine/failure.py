"""An exception as it is stored: its class, its message, and the user's frames of its traceback."""

import sysconfig
import traceback
from pathlib import Path
from typing import Literal

from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.errors import ArgumentsError

LONGEST_TEXT = 20_000
_OURS = str(Path(__file__).resolve().parent.parent)
_STANDARD = sysconfig.get_path("stdlib")
_PLUMBING = ("anyio", "trio", "outcome", "msgspec", "sniffio")


def error_of(
    error: BaseException, kind: Literal["error", "timeout", "arguments"] = "error"
) -> JobError:
    """The error to store, with the user's frames only.

    Frames of this package, of the event loop and of Python itself are left out.
    """
    return JobError(
        kind,
        type(error).__name__,
        _bounded(_message_of(error)),
        _bounded("".join(_user_frames(error))),
    )


def arguments_error(error: ArgumentsError) -> JobError:
    """The error of a job whose stored arguments no longer fit its function."""
    return error_of(error, "arguments")


def _user_frames(error: BaseException) -> list[str]:
    told = traceback.TracebackException.from_exception(error)
    _keep_users_frames(told)
    return list(told.format())


def _keep_users_frames(told: traceback.TracebackException) -> None:
    """Also of what it came from, and of the members of a group."""
    ahead = [told]
    while ahead:
        each = ahead.pop()
        each.stack = traceback.StackSummary.from_list(
            [frame for frame in each.stack if _is_users(frame.filename)]
        )
        others = (each.__cause__, each.__context__, *(each.exceptions or ()))
        ahead.extend(other for other in others if other is not None)


def _is_users(filename: str) -> bool:
    if filename.startswith(_OURS):
        return False
    if "site-packages" in filename:
        packages = Path(filename.rsplit("site-packages", 1)[1]).parts
        return not any(part in _PLUMBING for part in packages[:2])
    return not filename.startswith((_STANDARD, "<frozen"))


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as worse:  # noqa: BLE001  # the user's __str__ may do anything
        return f"<its message cannot be had: {type(worse).__name__}>"


def _bounded(text: str) -> str:
    # A lone surrogate, as in a file name that is no UTF-8, cannot be stored.
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
