"""Where an error came from: the app's own code that failed, and the way there. Asked of failures only."""

import linecache
import os
import site
import sysconfig
from collections.abc import Iterator
from functools import cache
from types import FrameType, TracebackType

FRAMES = 8  # of a stack that are told, the last ones
TRACE_LENGTH = 2_000
FRAME_LENGTH = 200
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # tasks_app


def frame_of(error: BaseException) -> str:
    """Module and function of the app's code in which the error came up, without the line: that moves with every edit.

    The app is whatever is no library, and the package of the handler itself, which may be installed like one.
    """
    home, found = None, None
    for frame in _frames(error.__traceback__):
        if _kind(frame.f_code.co_filename) == "standard":
            continue
        package = _module(frame).partition(".")[0]
        home = home or package
        if package == home or _kind(frame.f_code.co_filename) == "app":
            found = frame
    return f"{_module(found)}:{found.f_code.co_qualname}"[:FRAME_LENGTH] if found is not None else ""


def trace_of(error: BaseException) -> str:
    """The last frames of the stack without our own, in Python's form; far cheaper than the traceback module's."""
    told = []
    for frame, line in list(_with_lines(error.__traceback__))[-FRAMES:]:
        code = frame.f_code
        told.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
        if source := linecache.getline(code.co_filename, line, frame.f_globals).strip():
            told.append(f"    {source}\n")
    return "".join(told)[-TRACE_LENGTH:]


def without_ours(trace: TracebackType | None) -> TracebackType | None:
    """The stack from the handler on, without the worker's own frames; the whole stack if the error is in the worker."""
    rest = trace
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_OURS):
        rest = rest.tb_next
    return rest or trace


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    for frame, _ in _with_lines(trace):
        yield frame


def _with_lines(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or "?"


@cache
def _kind(filename: str) -> str:
    """What a file is: of the standard library, of an installed one, or the app's."""
    if filename.startswith("<"):
        return "standard"
    where = os.path.abspath(filename)
    if any(where.startswith(folder) for folder in _installed()):
        return "library"
    return "standard" if where.startswith(_standard()) else "app"


@cache
def _installed() -> tuple[str, ...]:
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    return tuple(os.path.abspath(one) + os.sep for one in places if one)


@cache
def _standard() -> tuple[str, ...]:
    places = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}
    return tuple(os.path.abspath(one) + os.sep for one in places if one)
