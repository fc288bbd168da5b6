"""The way of many tasks from what a caller gives to scheduled rows, and to the wake-up after its commit."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, shown
from tasks_app.core.memory import collector_paused
from tasks_app.engine import tracing
from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.lifecycle.alike import Alike, alike
from tasks_app.lifecycle.decisions import Scheduled
from tasks_app.lifecycle.request import Request, Unit, build, like_it
from tasks_app.lifecycle.shards import shard_of_one, shards_of

if TYPE_CHECKING:
    from tasks_app.lifecycle.together import Changed, RowChange


@collector_paused()
def requests_of(
    one_request: Callable[..., Request],
    task_type: str,
    tasks: Iterable[Mapping[str, Any]],
    common: Mapping[str, Any],
) -> list[Request]:
    """Every input checked; an error says which one it was."""
    requests: list[Request] = []
    like_the_first: Callable[[Mapping[str, Any]], Request] | None = None
    fields: Set[str] | None = None  # those of the first task, if others that have them can be built like it
    for number, one in enumerate(tasks):
        try:
            if like_the_first and type(one) is dict and one.keys() == fields and one.get("at", ...) is not None:
                requests.append(like_the_first(one))
                continue
            requests.append(one_request(task_type, **{**common, **one}))
            if number == 0:
                like_the_first = like_it(requests[0], one.keys())
                fields = frozenset(one) if like_the_first else None
        except (InvalidTask, TypeError) as error:
            words = str(error).replace(f"{one_request.__name__}()", "a task")
            raise InvalidTask(f"task number {number} ({shown(one)}): {words}") from None
    return requests


@collector_paused()
def requests_for_many(
    task_type: str, tasks: Iterable[Mapping[str, object]], common: Mapping[str, object]
) -> Sequence[Request]:
    """To be scheduled: column by column if they are alike, and else as requests_of makes them; also if they come one by
    one, since each may be the same object as the one before, with other content."""
    if not isinstance(tasks, list | tuple):
        return requests_of(build, task_type, tasks, common)
    one_by_one = partial(requests_of, build, task_type, tasks, common)
    if len(tasks) > 1:
        with suppress(InvalidTask, TypeError):  # which one_by_one will say more about
            if many := alike(build(task_type, **{**common, **tasks[0]}), tasks, one_by_one):
                return many
    return one_by_one()


# More tasks than this in one call lie in nearly all shards: not worth asking each in which.
_FEW = 16


@collector_paused()
def scheduled(verb: Callable[..., list[Scheduled]], requests: Sequence[Request], *by: str) -> list[Scheduled]:
    """Schedule, and wake those who have to look earlier for it, once the caller has committed."""
    answers = _traced(verb, requests, *by) if requests and tracing.traced_call() else verb(requests, *by)
    dues = [answer.due for answer in answers if answer.due is not None]
    if len(dues) > _FEW:
        wake_on_commit(dict.fromkeys(range(conf().SHARDS), min(dues)))
    elif dues:
        earliest: dict[int, float] = {}
        units = requests.units() if isinstance(requests, Alike) else [request.unit for request in requests]
        shards = shards_of(*zip(*units, strict=True))
        for shard, answer in zip(shards, answers, strict=True):
            if answer.due is not None:
                earliest[shard] = min(answer.due, earliest.get(shard, answer.due))
        wake_on_commit(earliest)
    return answers


def scheduled_alone(verb: Callable[..., list[Scheduled]], request: Request, *by: str) -> Scheduled:
    """scheduled, for a single request: what is worth its while for many would take as long as the rest."""
    if tracing.traced_call():
        return scheduled(verb, [request], *by)[0]
    [answer] = verb([request], *by)
    if answer.due is not None:
        _wake(request.unit, answer.due)
    return answer


def rescheduled_with(change: "RowChange", request: Request, params: Mapping[str, object], by: str) -> "Changed | None":
    """The same for a new time and a row of the caller's. Nothing is done if they are not in one database, nor for a
    call that is traced: that takes statements of its own."""
    if change.using != conf().DATABASE or tracing.traced_call():
        return None
    from tasks_app.lifecycle.together import reschedule_with

    changed = reschedule_with(change, request, params, by)
    if changed is not None and changed.task is not None and changed.task.due is not None:
        _wake(request.unit, changed.task.due)
    return changed


def _wake(unit: Unit, due: float) -> None:
    wake_on_commit({shard_of_one(*unit): due})


def _traced(verb: Callable[..., list[Scheduled]], requests: Sequence[Request], *by: str) -> list[Scheduled]:
    """In a span of the caller's trace, which the runs of these tasks will be in."""
    _, task_type, _ = (requests.like if isinstance(requests, Alike) else requests[0]).unit
    with tracing.scheduling(f"{verb.__name__} {task_type}", {"punctual.type": task_type}) as keep:
        answers = verb(requests, *by)
        keep(answer.task_id for answer in answers if answer.due is not None)
        return answers
