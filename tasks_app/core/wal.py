"""PostgreSQL's write-ahead log as a backup sees it: positions, the names of segments, and how far a segment is written.

A segment that is not complete yet is kept as pieces: stretches of its pages, each of which is written once. What a
later piece says of a page is what counts, since a page only grows.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

PAGE = 8192  # XLOG_BLCKSZ, which nobody changes; checked against the server
# A record has at least its header. What is missing at the end of a page by less than that is no record, but the zeros
# that one ended with.
LEAST_RECORD = 24
ALIGNED = 8  # records begin at multiples of it

_SEGMENT = re.compile(r"[0-9A-F]{24}")
_HISTORY = re.compile(r"[0-9A-F]{8}\.history")
_PIECE = re.compile(r"([0-9A-F]{24})\.([0-9]{1,10})-([0-9]{1,10})\.piece")


def parse_lsn(text: str) -> int:
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)


def lsn_text(position: int) -> str:
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


class Segment(NamedTuple):
    timeline: int
    number: int
    size: int  # bytes of every segment of this server

    @property
    def name(self) -> str:
        per_log = (1 << 32) // self.size
        return f"{self.timeline:08X}{self.number // per_log:08X}{self.number % per_log:08X}"

    @property
    def begin(self) -> int:
        return self.number * self.size

    @property
    def end(self) -> int:
        return self.begin + self.size


def segment_of(name: str, size: int) -> Segment | None:
    """By its file's name; None if it is no segment's."""
    if not _SEGMENT.fullmatch(name):
        return None
    per_log = (1 << 32) // size
    return Segment(int(name[:8], 16), int(name[8:16], 16) * per_log + int(name[16:], 16), size)


def segment_at(timeline: int, position: int, size: int) -> Segment:
    return Segment(timeline, position // size, size)


def is_history(name: str) -> bool:
    """Whether it is the file that says where a timeline began."""
    return _HISTORY.fullmatch(name) is not None


def forks(history: str) -> dict[int, int]:
    """By the history of a timeline: those that it goes back to, and the position up to which each of them counts."""
    lines = [line.split() for line in history.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return {int(number): parse_lsn(position) for number, position, *_ in lines}


@dataclass(frozen=True, slots=True, order=True)
class Piece:
    segment: str
    until: int  # sorted by where they end: the last one that has a page has most of it
    since: int

    @property
    def name(self) -> str:
        return f"{self.segment}.{self.since}-{self.until}.piece"


def piece_of(name: str) -> Piece | None:
    found = _PIECE.fullmatch(name)
    return Piece(found[1], int(found[3]), int(found[2])) if found else None


def joined(pieces: list[tuple[Piece, bytes]], size: int) -> bytes:
    """A whole segment, with zeros where nothing is written yet, as far as pieces reach without a gap."""
    whole, reached = bytearray(size), 0
    for piece, data in sorted(pieces, key=lambda one: one[0]):
        if piece.since > reached:
            continue  # left over from before those at the beginning were made one
        whole[piece.since : piece.since + len(data)] = data
        reached = max(reached, piece.since + len(data))
    return bytes(whole)


class Written(NamedTuple):
    pages: int  # bytes, whole pages
    end: int  # bytes: where what is written ends, within the last page


def written(data: bytes, begin: int) -> Written:
    """How much of these bytes has been written; they begin with a page at this position of the log."""
    pages = 0
    # Each page says where it belongs; what was never written is zero.
    while pages + 16 <= len(data) and int.from_bytes(data[pages + 8 : pages + 16], "little") == begin + pages:
        pages += PAGE
    pages = min(pages, len(data))
    end = len(data[:pages].rstrip(b"\0"))
    return Written(pages, min(-(-end // ALIGNED) * ALIGNED, pages))
