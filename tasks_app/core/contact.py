"""Between the handlers of a batch and the thread that keeps its lease: what they tell it, and what it tells them.

Handlers write here and go on; nothing of it waits for the database. Who tells nothing and asks nothing pays nothing.
"""

import time
from collections import deque
from collections.abc import Mapping
from itertools import count
from math import inf
from typing import NamedTuple, Protocol

from .clock import DatabaseClock
from .progress import checked_fraction, clean_note
from .text import visible

MOST_LINES = 200
MOST_BYTES = 16_384  # of the texts of all lines
LINE_LENGTH = 2_000
LEVEL_LENGTH = 20


class Line(NamedTuple):
    number: int  # from 0, of all that this try has logged
    at: float  # seconds since the epoch, on the database's clock
    level: str  # of Python's logging; "" for what the handler has logged itself
    text: str


class Hides(Protocol):
    """What hides the words of one encrypted task."""

    def line(self, text: str) -> str: ...


class News(NamedTuple):
    """What a report says that was not told yet. Of lines, all that are kept."""

    progress: tuple[float | None, str] | None
    lines: list[Line]


class Report:
    """What one try tells of itself. Its handler writes it, in whatever threads; the thread with the lease reads it.

    Without a lock: an interrupted handler could leave one locked, and the lease would be lost for a line of text.
    """

    def __init__(self, task_id: int, attempt: int, contact: "Contact | None" = None) -> None:
        self.task_id = task_id
        self.attempt = attempt
        self.shown = False  # its progress may be in the database
        self._contact = contact
        self._numbers = count()
        self._lines: deque[Line] = deque(maxlen=MOST_LINES)
        self._progress: tuple[float | None, str] | None = None
        self._told = News(None, [])

    # The handler's side.

    def progress(self, fraction: object, note: object = "") -> None:
        before, self._progress = self._progress, (checked_fraction(fraction), clean_note(note))
        if before is None:
            self._tell_soon()

    def log(self, text: object, level: str = "") -> None:
        """Never raises: a line is no reason to fail."""
        line = Line(next(self._numbers), self._now(), _clean(level, LEVEL_LENGTH), _clean(text, LINE_LENGTH))
        self._lines.append(line)
        if line.number == 0:
            self._tell_soon()

    # The side of the thread that keeps the lease.

    @property
    def how_far(self) -> tuple[float | None, str] | None:
        """What it said last of its progress."""
        return self._progress

    @property
    def cipher(self) -> Hides | None:
        """What hides its words before they are written; None: they may be read."""
        return None if self._contact is None else self._contact.ciphers.get(self.task_id)

    @property
    def lines(self) -> list[Line]:
        """The last that it has logged."""
        lines = list(self._lines)
        room = MOST_BYTES
        for place in range(len(lines) - 1, -1, -1):
            room -= len(lines[place].text.encode())
            if room < 0:
                return lines[place + 1 :]
        return lines

    def news(self) -> News | None:
        """What there is to tell; the same again, and more, unless it is noted as told."""
        progress, lines = self._progress, self.lines
        if progress is self._told.progress:
            progress = None
        if lines and self._told.lines and lines[-1].number == self._told.lines[-1].number:
            lines = []
        return News(progress, lines) if progress is not None or lines else None

    def note_told(self, news: News) -> None:
        self._told = News(news.progress or self._told.progress, news.lines or self._told.lines)

    def _tell_soon(self) -> None:
        """The first of a kind: people see at once that there is something."""
        if self._contact is not None:
            self._contact.fresh.append(self)

    def _now(self) -> float:
        return time.time() if self._contact is None else self._contact.now()


class Contact:
    """One for each batch."""

    def __init__(self, clock: DatabaseClock | None = None) -> None:
        self.gone: set[int] = set()  # ids that are no longer ours; filled by the heartbeat
        self.lost = False  # the whole batch is no longer ours
        self.lease_until = inf  # by lease_clock; renewals move it. Without a thread that renews, it has no end.
        self.lapsed = False  # the lease ended before a renewal was confirmed: no further handler may be called
        self.asking: set[int] = set()  # whose handlers have asked whether they are ours
        self.reports: dict[int, Report] = {}  # of tries that are not over
        self.fresh: deque[Report] = deque()  # those with something that is not to wait for a heartbeat
        self.ciphers: Mapping[int, Hides] = {}  # what hides the words of tasks that are encrypted
        self._clock = clock

    # The handlers' side.

    def report(self, task_id: int, attempt: int) -> Report:
        made = self.reports[task_id] = Report(task_id, attempt, self)
        return made

    def is_over(self, task_id: int) -> bool:
        if self.lost or task_id in self.gone:
            return True
        self.asking.add(task_id)
        return False

    # The side of the thread that keeps the lease.

    def take_fresh(self) -> list[Report]:
        taken = []
        while self.fresh:
            taken.append(self.fresh.popleft())
        return taken

    def now(self) -> float:
        """Seconds since the epoch, on the database's clock."""
        return time.time() if self._clock is None else self._clock.now()


def _clean(text: object, longest: int) -> str:
    """Whatever it is, as a text: control characters are shown instead of obeyed, and it is not endless."""
    try:
        given = str(text)
    except Exception as error:
        given = f"<{type(text).__name__} whose text can't be read: {type(error).__name__}>"
    cut = given[:longest].encode("utf-8", "backslashreplace").decode()
    return visible(cut, lines=True) + ("…" if len(given) > longest else "")
