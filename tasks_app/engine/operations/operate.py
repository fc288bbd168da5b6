"""An operator's orders for some tasks, at once; those for many are campaigns. And what an order would do."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from tasks_app.conf import conf
from tasks_app.core.errors import RetryLimited
from tasks_app.core.moves import Move
from tasks_app.core.states import lies_aside
from tasks_app.engine import tracing
from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.engine.watch.browse import Alike, Filter, Tally, tally
from tasks_app.lifecycle import operate as _operate
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.operate import Answer, Operated, Row, Verb, checked_move, clock, expected
from tasks_app.lifecycle.retry_limit import RETRIES_A_MINUTE
from tasks_app.models import AnyTask

COUNT_SECONDS = 4.0
_MAKES_DUE = (Verb.RETRY, Verb.REPLAY, Verb.MOVE)
_STILL_LIVE = (Answer.REPLAYED, Answer.DUE_NOW, Answer.MOVED)  # the row is the same: what runs is what was ordered


@dataclass(frozen=True, slots=True)
class Preview:
    """What an order would do to the tasks as they are now."""

    tallies: Mapping[Answer, Mapping[Alike, Tally]]
    newest: int  # tasks younger than this are not meant
    complete: bool  # False: there are more, the count was given up

    @property
    def counts(self) -> Counter[Answer]:
        return Counter({answer: sum(one.count for one in found.values()) for answer, found in self.tallies.items()})

    @property
    def acted(self) -> int:
        return sum(count for answer, count in self.counts.items() if answer.acted)

    @property
    def kinds(self) -> list[tuple[str, str, int]]:
        """Of what would be acted on: how many tasks of which type and in which lane, the most first."""
        kinds: Counter[tuple[str, str]] = Counter()
        for alike, one in self._acted_on():
            kinds[alike.task_type, alike.lane] += one.count
        return [(*kind, count) for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))]

    @property
    def planned(self) -> tuple[datetime, datetime] | None:
        """The earliest and the latest time for which what would be acted on is planned."""
        found = [one for _, one in self._acted_on()]
        return (min(one.first for one in found), max(one.last for one in found)) if found else None

    def _acted_on(self) -> Iterator[tuple[Alike, Tally]]:
        return chain.from_iterable(found.items() for answer, found in self.tallies.items() if answer.acted)


def retry_tasks(ids: Sequence[int], operator: Operator) -> Operated:
    """Dead tasks start anew, failed ones are tried at once; all others stay as they are, and the answer says so."""
    return operate_tasks(Verb.RETRY, ids, operator)


def retry_now_and_then(task_id: int, operator: Operator) -> Operated:
    """retry_tasks of one; RetryLimited if that was done too often within the last minute."""
    done = retry_tasks([task_id], operator)
    if done.answers.get(task_id) is Answer.LIMITED:
        times = f"{RETRIES_A_MINUTE} times within a minute"
        raise RetryLimited(f"Task {task_id} was retried {times}. Look at why it fails, or wait.")
    return done


def cancel_tasks(ids: Sequence[int], operator: Operator) -> Operated:
    """Whatever is live of these tasks is cancelled. A running attempt is not called back, but can't settle any more."""
    return operate_tasks(Verb.CANCEL, ids, operator)


def move_tasks(ids: Sequence[int], at: datetime, operator: Operator) -> Operated:
    """Live tasks are moved to this time; a running one is replaced by a new one."""
    return operate_tasks(Verb.MOVE, ids, operator, checked_move(at))


def preview_tasks(verb: Verb, ids: Sequence[int]) -> Preview:
    found: dict[Alike, Tally] = {}
    for task in tasks_by_id(ids).values():
        alike = Alike(task.status, task.due_at is not None, task.current, task.task_type, task.lane)
        planned = task.execute_time if task.due_at is None or lies_aside(task.due_at) else task.due_at
        one = Tally(1, planned, planned)
        found[alike] = found[alike] + one if alike in found else one
    return Preview(_by_answer(verb, found), max(ids, default=0), complete=True)


def preview_matching(verb: Verb, wanted: Filter, seconds: float = COUNT_SECONDS) -> Preview:
    """Count everything that matches, for at most so long."""
    newest = AnyTask.objects.order_by("-id").values_list("id", flat=True).first() or 0
    found, complete = tally(replace(wanted, newest=newest), seconds)
    return Preview(_by_answer(verb, found), newest, complete)


def operate_tasks(verb: Verb, ids: Sequence[int], operator: Operator, move: Move | None = None) -> Operated:
    """One order for some tasks, in one transaction."""
    if verb in _MAKES_DUE and tracing.traced_call():
        with tracing.scheduling(f"{verb} tasks", {}) as keep:
            done = _operate.operate(verb, ids, operator, move)
            keep(one for one, answer in done.answers.items() if answer in _STILL_LIVE)
    else:
        done = _operate.operate(verb, ids, operator, move)
    if done.due is not None:
        wake_on_commit(dict.fromkeys(range(conf().SHARDS), done.due))
    return done


def new_times(foreseen: Preview, move: Move, most: int) -> tuple[datetime, datetime] | None:
    """The earliest and the latest time that the move would give to what it would act on, no more than `most` of it."""
    if foreseen.planned is None:
        return None
    return move.bounds(*foreseen.planned, min(foreseen.acted, most), clock())


def _by_answer(verb: Verb, found: Mapping[Alike, Tally]) -> dict[Answer, dict[Alike, Tally]]:
    tallies: dict[Answer, dict[Alike, Tally]] = {}
    for alike, one in found.items():
        answer = expected(verb, Row(0, "", "", "", alike.status, alike.due, alike.current))
        tallies.setdefault(answer, {})[alike] = one
    return tallies
