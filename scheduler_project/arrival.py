"""Owns how much of an HTTP request has arrived; whether it is a good one is gunicorn's business.

It finds the end of a request and nothing else. Where the framing makes no sense (two lengths, a chunk without a size)
the request counts as complete: gunicorn refuses it at once, and closes the connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_HEAD = 128 * 1024  # gunicorn's own limits of a line and a field are lower
MOST_BODY = 10 * 1024 * 1024  # Django's own limit for what is no file is lower
END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*(?=\r\n)", re.IGNORECASE)
_LENGTH_NAME = re.compile(rb"\r\ncontent-length:", re.IGNORECASE)
_CODING_NAME = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_EXPECT = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LONGEST_SIZE_LINE = 1024


class TooLarge(Exception):
    """More than we keep; `status` is the answer to it."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Arrival:
    """One request as far as it has come."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.complete = False
        self.wants_continue = False  # the client waits for our word before it sends the body
        self._searched = 0
        self._steps: Iterator[int] | None = None  # of the body: each gives the length that has to be here to go on
        self._needed = 0

    def feed(self, data: bytes) -> bool:
        """Take what came; True if the request is complete now. Every byte is looked at once, however it drips."""
        self.data += data
        if self._steps is None and not self._read_head():
            return False
        while not self.complete and len(self.data) >= self._needed:
            self._needed = next(self._steps, 0)
            self.complete = not self._needed
        self.wants_continue = self.wants_continue and not self.complete
        return self.complete

    def _read_head(self) -> bool:
        end = self.data.find(END, max(0, self._searched - len(END)))
        self._searched = len(self.data)
        if end > MOST_HEAD or (end < 0 and len(self.data) > MOST_HEAD):
            raise TooLarge("431 Request Header Fields Too Large")
        if end < 0:
            return False
        head = bytes(self.data[: end + 2])
        lengths, codings = len(_LENGTH_NAME.findall(head)), len(_CODING_NAME.findall(head))
        after = end + len(END)
        if (lengths, codings) == (1, 0) and (length := _LENGTH.search(head)):
            self._steps = self._by_length(after, int(length[1]))
        elif (lengths, codings) == (0, 1) and _CHUNKED.search(head):
            self._steps = self._by_chunks(after)
        else:
            self._steps = iter(())
        self.wants_continue = bool(_EXPECT.search(head))
        return True

    def _by_length(self, start: int, length: int) -> Iterator[int]:
        if length > MOST_BODY:
            raise TooLarge("413 Content Too Large")
        yield start + length

    def _by_chunks(self, start: int) -> Iterator[int]:
        while True:
            line = _SIZE.match(self.data, start)
            if line is None:
                if (
                    b"\n" in self.data[start : start + _LONGEST_SIZE_LINE]
                    or len(self.data) > start + _LONGEST_SIZE_LINE
                ):
                    return  # nonsense
                yield len(self.data) + 1
                continue
            size, start = int(line[1], 16), line.end()
            if start + size > MOST_BODY:
                raise TooLarge("413 Content Too Large")
            if size == 0:
                yield from self._trailers(start)
                return
            start += size + 2  # with the line's end behind it
            yield start

    def _trailers(self, start: int) -> Iterator[int]:
        """Either nothing but the empty line, or lines until one."""
        yield start + 2
        if self.data[start : start + 2] == b"\r\n":
            return
        searched = start
        while self.data.find(END, searched) < 0:
            if len(self.data) > start + MOST_HEAD:
                raise TooLarge("431 Request Header Fields Too Large")
            searched = max(start, len(self.data) - len(END))
            yield len(self.data) + 1
