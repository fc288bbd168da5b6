"""An operator's orders for some tasks, at once; those for many are campaigns. And what an order would do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tasks_app.conf import conf
from tasks_app.core.errors import RetryLimited
from tasks_app.engine import tracing
from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.engine.watch.browse import Filter, tally
from tasks_app.lifecycle import operate as _operate
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.operate import Answer, Operated, Row, Verb, expected
from tasks_app.lifecycle.retry_limit import RETRIES_A_MINUTE
from tasks_app.models import AnyTask

COUNT_SECONDS = 4.0
_MAKES_DUE = (Verb.RETRY, Verb.REPLAY, Verb.MOVE)
_STILL_LIVE = (Answer.REPLAYED, Answer.DUE_NOW, Answer.MOVED)  # the row is the same: what runs is what was ordered


@dataclass(frozen=True, slots=True)
class Preview:
    """What an order would do to the tasks as they are now."""

    counts: Counter  # of Answer
    newest: int  # tasks younger than this are not meant
    complete: bool  # False: there are more, the count was given up

    @property
    def acted(self) -> int:
        return sum(count for answer, count in self.counts.items() if answer.acted)


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
    return operate_tasks(Verb.MOVE, ids, operator, at)


def preview_tasks(verb: Verb, ids: Sequence[int]) -> Preview:
    rows = tasks_by_id(ids).values()
    counts = Counter(_expected(verb, task.id, task.status, task.due_at is not None, task.current) for task in rows)
    return Preview(counts, max(ids, default=0), complete=True)


def preview_matching(verb: Verb, wanted: Filter, seconds: float = COUNT_SECONDS) -> Preview:
    """Count everything that matches, for at most so long."""
    newest = AnyTask.objects.order_by("-id").values_list("id", flat=True).first() or 0
    found, complete = tally(replace(wanted, newest=newest), seconds)
    counts: Counter = Counter()
    for (status, due, current), count in found.items():
        counts[_expected(verb, 0, status, due, current)] += count
    return Preview(counts, newest, complete)


def operate_tasks(verb: Verb, ids: Sequence[int], operator: Operator, at: datetime | None = None) -> Operated:
    """One order for some tasks, in one transaction."""
    if verb in _MAKES_DUE and tracing.traced_call():
        with tracing.scheduling(f"{verb} tasks", {}) as keep:
            done = _operate.operate(verb, ids, operator, at)
            keep(one for one, answer in done.answers.items() if answer in _STILL_LIVE)
    else:
        done = _operate.operate(verb, ids, operator, at)
    if done.due is not None:
        wake_on_commit(dict.fromkeys(range(conf().SHARDS), done.due))
    return done


def _expected(verb: Verb, id_: int, status: str, due: bool, current: bool) -> Answer:
    return expected(verb, Row(id_, "", "", "", status, due, current))
