"""schedule, reschedule and ensure: write a new task for a unit, and decide about its current one.

Encryption, quotas and turns are imported when a call needs them: every process of a project imports this module.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, ScheduleConflict
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lately import Lately
from tasks_app.core.states import Status
from tasks_app.core.tenants import RATE_SECONDS
from tasks_app.core.tokens import packed_uuids
from tasks_app.database import atomic
from tasks_app.models import ScheduleTask
from tasks_app.sql import Row, run, run_in_parts
from tasks_app.sql.binary import TextArray, bytes_array, instant_array, smallint_array, utf8_array, uuid_array

from .alike import PART, Alike, Unlike
from .alike_rows import insert_alike
from .alone import EVENTS, edit_alone, insert_alone, insert_over
from .asking import may_concern
from .decisions import (
    CurrentRow,
    Outcome,
    Scheduled,
    decide_ensure,
    decide_hasten,
    decide_reschedule,
    decide_schedule,
)
from .past import bring_back, past_idem, past_units
from .request import Request, Unit
from .shards import shards_of

# Each round means that another transaction has changed the unit and committed. After this many rounds, the caller's
# transaction must roll back, because its change must not be half done.
ROUNDS = 10
SYSTEM = "system"
_Pairs = Sequence[tuple[Request, CurrentRow]]
BOUND = Lately()  # tenants that have quotas to be counted


class _Verb(NamedTuple):
    """One way to schedule: how to decide about a unit's current row, and how to write the change."""

    decide: Callable[[CurrentRow | None], Outcome]
    mostly_new: bool = False  # insert first, and only read the rows that were in the way
    by_idem_key: bool = False  # a row with the request's idem_key is the answer, in any state
    repeats: bool = False  # a unit may be given twice in one call: the first one counts
    bound: bool = True  # quotas of tenants apply
    # A new row is a copy of the old one with a new time. If False, it comes from the request, and the past is not read.
    copies: bool = True


def schedule(requests: Sequence[Request]) -> list[Scheduled]:
    """Schedule each unit unless it is already live. The new row replaces a finished one."""
    if type(requests) is Alike:
        return _schedule_alike(requests) or schedule(requests.one_by_one())
    if len(requests) != 1 or not _fits_single_row(requests[0]):
        return _apply(requests, _SCHEDULE, SYSTEM)
    if made := insert_alone(requests[0]) or _answer_single(requests[0]):
        return [made]
    return _apply(requests, _SCHEDULE_LEFT_OUT, SYSTEM)


def schedule_unbound(requests: Sequence[Request]) -> list[Scheduled]:
    """schedule without quotas, for tasks that belong to a run that has already taken place."""
    return _apply(requests, _SCHEDULE._replace(bound=False), SYSTEM)


def reschedule(requests: Sequence[Request], by: str = SYSTEM) -> list[Scheduled]:
    """Move each unit to its new time; a unit that succeeded stays as it is."""
    return _edit(requests, _RESCHEDULE, by)


def hasten(requests: Sequence[Request], by: str = SYSTEM) -> list[Scheduled]:
    """reschedule for waiting units; a unit that runs stays as it is."""
    return _edit(requests, _HASTEN, by)


def ensure(requests: Sequence[Request], by: str = SYSTEM) -> list[Scheduled]:
    """Make sure that each unit runs: like reschedule, but a unit that succeeded is scheduled again."""
    return _edit(requests, _ENSURE, by)


_SCHEDULE = _Verb(decide_schedule, mostly_new=True, by_idem_key=True, repeats=True, copies=False)
_SCHEDULE_LEFT_OUT = _SCHEDULE._replace(mostly_new=False)  # by insert_task: the unit is live, or its tenant has quotas
_RESCHEDULE = _Verb(decide_reschedule)
_HASTEN = _Verb(decide_hasten)
_ENSURE = _Verb(decide_ensure)


def _answer_single(request: Request) -> Scheduled | None:
    """Schedule a unit that has a current row, if a single statement can do it; else None."""
    row = _lock_current([request]).get(request.unit)
    if row is None:
        return None
    if decide_schedule(row) is Outcome.EXISTS:
        return Scheduled(Outcome.EXISTS, row.id)
    return insert_over(request, row, SYSTEM)


def _edit(requests: Sequence[Request], verb: _Verb, by: str) -> list[Scheduled]:
    """Edit a single unit that keeps its payload with one statement. If that fails, and for all others, use rounds."""
    if len(requests) == 1 and requests[0].payload is None:
        row, answer = edit_alone(requests[0], verb.decide, by)
        if row is None:
            answer = _edit_unknown(requests[0], verb, by)
        if answer is not None:
            return [answer]
    return _apply(requests, verb, by)


def _edit_unknown(request: Request, verb: _Verb, by: str) -> Scheduled | None:
    """Edit a unit that has no live row. Returns None if it needs a round."""
    row = _past_rows([request.unit]).get(request.unit)
    if row is None:
        return _insert_unknown([request]).get(request.unit)
    if verb.decide(row) is Outcome.IGNORED:
        # The row that we waited for may have been replaced meanwhile, which only a new statement sees.
        return None if _lock_current([request]) else Scheduled(Outcome.IGNORED, row.id)
    try:
        with atomic():  # a restored row must stay in the past if the edit is refused
            if bring_back([row.id]) and (answer := edit_alone(request, verb.decide, by).answer):
                return answer
            raise _InTheWay
    except _InTheWay:
        return None


def _apply(requests: Sequence[Request], verb: _Verb, by: str) -> list[Scheduled]:
    """Decide and write until every request has an answer. Each round reads units again that others have changed."""
    answers: dict[Unit, Scheduled] = {}
    first: dict[Unit, Request] = {}
    for request in requests:
        if first.setdefault(request.unit, request) is not request and not verb.repeats:
            raise InvalidTask(f"unit {request.unit!r} is given twice in one call; which time is meant?")
    with atomic(savepoint=False):
        open_requests = list(first.values())
        if verb.mostly_new:
            answers |= _insert(open_requests, bound=verb.bound)
        for _ in range(ROUNDS):
            open_requests = [r for r in open_requests if r.unit not in answers]
            if open_requests:
                answers |= _round(open_requests, verb, by)
                if left := [r for r in open_requests if r.unit not in answers]:
                    from .quotas import refuse_over_quota

                    refuse_over_quota(left, _left_out_by_quota(left, verb) if verb.bound else (), bound=verb.bound)
        open_requests = [r for r in open_requests if r.unit not in answers]
        if open_requests:
            tenant, task_type, key = unit = open_requests[0].unit
            raise ScheduleConflict(
                f"unit {unit!r} was changed by others {ROUNDS} times while it was being scheduled. "
                "Roll back and try again.",
                ScheduleTask.objects.filter(biz_key=key, task_type=task_type, tenant=tenant, current=True).first(),
            )
    return _in_order(requests, answers, first)


def _in_order(
    requests: Sequence[Request], answers: dict[Unit, Scheduled], first: dict[Unit, Request]
) -> list[Scheduled]:
    return [
        answers[r.unit] if first[r.unit] is r else Scheduled(Outcome.EXISTS, answers[r.unit].task_id) for r in requests
    ]


def _round(requests: list[Request], verb: _Verb, by: str) -> dict[Unit, Scheduled]:
    """Lock the current rows, decide for each unit, and write. Units that another transaction changed get no answer."""
    answers = _seen_before(requests) if verb.by_idem_key else {}
    requests = [r for r in requests if r.unit not in answers]
    rows = _lock_current(requests)
    if verb.copies:
        rows |= _past_rows([r.unit for r in requests if r.unit not in rows])
    new: list[Request] = []  # units without a row, which every verb creates
    todo: dict[Outcome, list[tuple[Request, CurrentRow]]] = {}
    for request in requests:
        row = rows.get(request.unit)
        if row is None:
            new.append(request)
        else:
            todo.setdefault(verb.decide(row), []).append((request, row))
    if returning := [row.id for _, row in todo.get(Outcome.CREATED, ()) if row.past]:
        # The next round finds these rows live, and replaces them like any others.
        bring_back(returning)
        todo[Outcome.CREATED] = [pair for pair in todo[Outcome.CREATED] if not pair[1].past]
    as_it_is = [(outcome, *pair) for outcome in (Outcome.EXISTS, Outcome.IGNORED) for pair in todo.get(outcome, ())]
    # A row that we waited for may have been replaced meanwhile, which only a new statement sees: leave it for a round.
    succeeded = _lock_current([request for _, request, row in as_it_is if row.past])
    answers |= {
        request.unit: Scheduled(outcome, row.id) for outcome, request, row in as_it_is if request.unit not in succeeded
    }
    answers |= _move(todo.get(Outcome.UPDATED, ()))
    answers |= _replace(todo.get(Outcome.REPLACED, ()), Outcome.REPLACED, by, verb)
    answers |= _replace(todo.get(Outcome.CREATED, ()), Outcome.CREATED, by, verb)
    answers |= _insert_unknown(new) if verb.copies else _insert(new, bound=verb.bound)
    if verb is _SCHEDULE_LEFT_OUT and new:
        _note_bound(new[0].unit)
    return answers


def _left_out_by_quota(requests: Sequence[Request], verb: _Verb) -> set[Unit]:
    """Units without an answer and without a row, which a quota left out. Units with an earlier task are not included:
    that task was restored from the past, or changed by another transaction."""
    seen = _seen_before(requests) if verb.by_idem_key else {}
    units = [request.unit for request in requests if request.unit not in seen]
    rows = _lock_current([request for request in requests if request.unit not in seen])
    if verb.copies:
        return set(units) - rows.keys() - past_units([unit for unit in units if unit not in rows]).keys()
    return {unit for unit in units if verb.decide(rows.get(unit)) is Outcome.CREATED}


def _insert_unknown(requests: Sequence[Request]) -> dict[Unit, Scheduled]:
    """Insert units that were not found, and then search the past again. Since the first search, another transaction may
    have scheduled one of them, which ran and was moved there. After the insert this can't happen any more. If a unit is
    found, none of them gets an answer, and the next round decides."""
    if not requests:
        return {}
    try:
        with atomic():
            answers = _insert(requests)
            if past_units(list(answers)):
                raise _InTheWay
    except _InTheWay:
        return {}
    return answers


def _seen_before(requests: Iterable[Request]) -> dict[Unit, Scheduled]:
    keyed: dict[tuple[str, str], list[Unit]] = {}
    for request in requests:
        if request.idem_key is not None:
            tenant, _, _ = request.unit
            keyed.setdefault((tenant, request.idem_key), []).append(request.unit)
    if not keyed:
        return {}
    found = run("find_idem", {"tenants": [t for t, _ in keyed], "idem_keys": [k for _, k in keyed]})
    holders = {(tenant, key): task_id for tenant, key, task_id in found}
    holders |= past_idem([one for one in keyed if one not in holders])
    return {unit: Scheduled(Outcome.EXISTS, task_id) for one, task_id in holders.items() for unit in keyed[one]}


def _lock_current(requests: Sequence[Request]) -> dict[Unit, CurrentRow]:
    if not requests:
        return {}
    tenants, types, keys = zip(*(r.unit for r in requests), strict=True)
    found = run("lock_current", {"tenants": list(tenants), "types": list(types), "keys": list(keys)})
    return {(tenant, type_, key): CurrentRow(*rest) for tenant, type_, key, *rest in found}


def _past_rows(units: Sequence[Unit]) -> dict[Unit, CurrentRow]:
    return {unit: CurrentRow(*row[:4]) for unit, row in past_units(units).items()}


def _move(pairs: _Pairs) -> dict[Unit, Scheduled]:
    if not pairs:
        return {}
    moved = run("move", _times(pairs) | {"kept": conf().kept_kinds})
    if waiting := [row.id for _, row in pairs if row.status == Status.BLOCKED]:
        from .turns import move_turns

        move_turns(waiting)
    return _answers(Outcome.UPDATED, moved)


def _replace(pairs: _Pairs, outcome: Outcome, by: str, verb: _Verb) -> dict[Unit, Scheduled]:
    """Replace the old rows with new ones: all of them, or none if one can't be replaced."""
    if not pairs:
        return {}
    hand_on = [verb.copies and row.status != Status.SUCCESS for _, row in pairs]
    retire = {
        "ids": [row.id for _, row in pairs],
        "statuses": [row.status for _, row in pairs],
        "hand_on": hand_on,
        "by": by,
        "kept": conf().kept_kinds,
    }
    try:
        with atomic():
            if len(run("retire", retire)) != len(pairs):
                raise _InTheWay
            answers = _insert_copies(pairs, outcome, hand_on) if verb.copies else _insert_successors(pairs, verb.bound)
            if len(answers) != len(pairs):
                raise _InTheWay
    except _InTheWay:
        if len(pairs) == 1:
            return {}
        # One of them is in the way, perhaps of another one (two units with the same idem_key): try each by itself.
        return {unit: answer for pair in pairs for unit, answer in _replace([pair], outcome, by, verb).items()}
    return answers


class _InTheWay(Exception):
    """A row could not be retired, or its successor not inserted: undo both, and decide again."""


def _insert_copies(pairs: _Pairs, outcome: Outcome, hand_on: list[bool]) -> dict[Unit, Scheduled]:
    handed = [row.idem_key if handing else None for (_, row), handing in zip(pairs, hand_on, strict=True)]
    emitted = {"event": EVENTS[outcome], "kept": conf().kept_kinds}
    params = _times(pairs) | {"idem_keys": handed, "hand_on": hand_on} | emitted
    rows = run("insert_replacements", params)
    instances = [(task_id, replaced, job) for *_, task_id, _, replaced, job in rows if job is not None]
    if instances:
        from .turns import hand_on_turns, queue_again

        if outcome is Outcome.REPLACED:
            hand_on_turns([(replaced, task_id) for task_id, replaced, _ in instances])
        else:
            queue_again([(task_id, job) for task_id, _, job in instances])
    return _answers(outcome, [row[:5] for row in rows])


def _insert_successors(pairs: _Pairs, bound: bool) -> dict[Unit, Scheduled]:
    replaces = {request.unit: row.id for request, row in pairs}
    return _insert([request for request, _ in pairs], replaces, bound=bound)


def _fits_single_row(request: Request) -> bool:
    """Whether insert_task will probably be enough. If it isn't, only the time for one statement is lost."""
    if request.idem_key is not None or may_concern([request.unit]):
        return False
    tenant, _, _ = request.unit
    return tenant not in BOUND


def _note_bound(unit: Unit) -> None:
    """Remember that the tenant has quotas, so that its tasks use rounds from the start for a while."""
    tenant, _, _ = unit
    BOUND.note(tenant)


def _schedule_alike(many: Alike) -> list[Scheduled]:
    """Insert new units as columns, and schedule the others by request. Returns and writes nothing if this is not
    possible. An error in a later part rolls back the earlier parts, even if the caller's transaction continues."""
    if not _fits_single_row(many.like):
        return []
    with atomic(savepoint=False):
        try:
            rows = insert_alike(many)
        except Unlike:
            return []
        made = {key: Scheduled(Outcome.CREATED, task_id, due) for key, task_id, due in rows}
        if left := [many[place] for place, key in enumerate(many.keys) if key not in made]:
            answers = _apply(left, _SCHEDULE_LEFT_OUT, SYSTEM)
            made |= {request.unit[2]: answer for request, answer in zip(left, answers, strict=True)}
    return [made[key] for key in many.keys]


def _insert(
    requests: Iterable[Request], replaces: Mapping[Unit, int] | None = None, *, bound: bool = True
) -> dict[Unit, Scheduled]:
    """Insert new rows, in the same order as all callers. Units that have a current row get no answer, and neither do
    units that exceed a tenant's quota if the caller is `bound` by it."""
    requests = sorted(requests, key=lambda request: request.unit[::-1])
    if not requests:
        return {}
    units, at, delay, payload, lane, max_retry, repeat_after, expires_after, idem_key = zip(*requests, strict=True)
    tenant, task_type, keys = zip(*units, strict=True)
    limited = REGISTRY.limited(task_type)
    texts: Sequence[str | None] = [text or "{}" for text in payload]
    in_bytes: Sequence[bytes | None] = []
    if may_concern(units):
        from .confidential import hide_payloads

        texts, in_bytes = hide_payloads(units, texts, bound=bound)
    if None in payload:
        REGISTRY.refuse_without_payload(name for name, text in zip(task_type, payload, strict=True) if text is None)
    columns: dict[str, Any] = {
        "tenant": tenant,
        "task_type": task_type,
        "replaces": [replaces[unit] for unit in units] if replaces else [None],
        "idem_key": idem_key,
        "at": at,
        "delay": delay,
        "lane": lane,
        "limited": [one in limited for one in task_type] if limited else [False],
        "max_retry": max_retry,
        "repeat_after": repeat_after,
        "expires_after": expires_after,
        "payload": texts,
    }
    alike = {name: values[0] for name, values in columns.items() if values.count(values[0]) == len(values)}
    always = {"kept": conf().kept_kinds, "unbound": not bound, "window": RATE_SECONDS}
    always |= {f"all_{name}": alike.get(name) for name in columns}

    def part(first: int) -> dict[str, object]:
        some = slice(first, first + PART)
        return always | {
            "biz_key": _texts(keys[some]),
            "shard": smallint_array(shards_of(tenant[some], task_type[some], keys[some])),
            "token": uuid_array(packed_uuids(len(keys[some]))),
            "payload_bytes": bytes_array(in_bytes[some]) if in_bytes else "{}",
            **{
                name: "{}" if name in alike else _BINARY.get(name, list)(values[some])
                for name, values in columns.items()
            },
        }

    parts = [part(0)] if len(keys) <= PART else map(part, range(0, len(keys), PART))
    if idem_key.count(None) == len(idem_key):
        emits = "task.created" in conf().kept_events
        return _answers(Outcome.CREATED, run_in_parts("insert_told_tasks" if emits else "insert_tasks", parts))
    return _insert_keyed(requests, replaces, parts, bound=bound)


def _texts(values: Iterable[str]) -> TextArray:
    return utf8_array([value.encode() for value in values])


# Columns whose values usually differ from task to task.
_BINARY: dict[str, Callable[[Any], object]] = {"payload": _texts, "at": instant_array}


def _insert_keyed(
    requests: Sequence[Request],
    replaces: Mapping[Unit, int] | None,
    parts: Iterable[Mapping[str, object]],
    *,
    bound: bool,
) -> dict[Unit, Scheduled]:
    """Insert, and only then search the past for rows with one of the keys. Their units get no answer. In the other
    order, neither statement would see a row that is moved to the past between them."""
    held: dict[tuple[str, str], int] = {}
    try:
        with atomic():
            answers = _answers(Outcome.CREATED, run_in_parts("insert_keyed_tasks", parts))
            mine = [(r.unit[0], r.idem_key) for r in requests if r.idem_key is not None and r.unit in answers]
            held = past_idem(mine)
            if held:
                raise _InTheWay
    except _InTheWay:
        rest = [r for r in requests if (r.unit[0], r.idem_key) not in held]
        return _insert(rest, replaces, bound=bound)
    return answers


def _times(pairs: _Pairs) -> dict[str, object]:
    units, texts = [request.unit for request, _ in pairs], [request.payload for request, _ in pairs]
    in_bytes: list[bytes | None] = [None] * len(texts)
    if may_concern(units):
        from .confidential import hide_payloads_of

        texts, in_bytes = hide_payloads_of(units, texts, [row.job for _, row in pairs])
    return {
        "ids": [row.id for _, row in pairs],
        "ats": [request.at for request, _ in pairs],
        "delays": [request.delay for request, _ in pairs],
        "payloads": texts,
        "payload_bytes": bytes_array(in_bytes),
    }


def _answers(outcome: Outcome, rows: Iterable[Row]) -> dict[Unit, Scheduled]:
    return {(tenant, type_, key): Scheduled(outcome, task_id, due) for tenant, type_, key, task_id, due in rows}
