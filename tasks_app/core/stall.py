"""Whether a process hangs, and on what: judged from outside, by its marks and by the CPU time of its threads.

CPU time and not the clock: a process that waits for PostgreSQL, was stopped (SIGSTOP), or slept with its machine uses
none.
"""

from collections.abc import Callable, Collection, Sequence

from .at_work import Kind, Mark

UNKNOWN = Mark(0, 0, 0, False, "", Kind.PART, "unknown")  # it hangs where no thread has set a mark
SHARE = 0.2  # of the limit; the thread that holds the interpreter used at least so much of it, on a busy machine too


class Judge:
    """Called again and again; `cpu` says how many seconds a thread has computed (0: all of them), None: it is gone."""

    def __init__(self, limit: float, cpu: Callable[[int], float | None]) -> None:
        self._limit = limit
        self._cpu = cpu
        self._pulse = -1
        self._silent = 0.0  # seconds without a pulse, in which it computed
        self._computed = 0.0  # seconds of the process
        self._since: dict[int, float] = {}  # by the mark's number: the CPU of its thread when the mark was first seen
        self._before: dict[int, float] = {}  # the same, when the pulse was last heard; 0: of the process

    @property
    def silent(self) -> float:
        """For how many seconds the process has computed without a pulse."""
        return self._silent

    def poll(self, seconds: float, pulse: int, marks: Sequence[Mark]) -> Mark | None:
        """The mark that the process has hung on for longer than the limit, or None. `seconds`: since the last poll."""
        used = {mark.number: self._cpu(mark.native_id) or 0.0 for mark in marks}
        self._since = {number: self._since.get(number, cpu) for number, cpu in used.items()}
        # The innermost mark of each thread: the others are what that one is part of.
        inner = {mark.native_id: mark for mark in sorted(marks)}.values()
        for mark in inner:
            if not mark.patient and used[mark.number] - self._since[mark.number] >= self._limit:
                return mark
        computed, self._computed = self._computed, self._cpu(0) or 0.0
        if pulse != self._pulse or computed == self._computed:  # it responds, or it is stopped
            self._pulse, self._silent, self._before = pulse, 0.0, used | {0: self._computed}
            return None
        self._silent += seconds
        return self._holder(inner, used) if self._silent >= self._limit else None

    def _holder(self, inner: Collection[Mark], used: dict[int, float]) -> Mark | None:
        """The mark of the thread that blocks all others: the only one using CPU. None: no thread has for long."""
        before = self._since | self._before  # of marks that were set since then: when they were first seen
        spent = {mark: used[mark.number] - before[mark.number] for mark in inner}
        mark = max(spent, key=spent.__getitem__, default=UNKNOWN)
        if spent.get(mark, 0.0) >= SHARE * self._limit:
            return mark
        return UNKNOWN if self._computed - self._before[0] >= SHARE * self._limit else None
