"""Gathers the evidence for the oracle: from the database, from the journals, from the script.

What is live and what is over lie in tables of their own, and it reads both itself: a row that is in neither is lost.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from tasks_app.engine.doctor.whole import broken_rules
from tasks_app.engine.nodes import worker_of
from tasks_app.lifecycle.taken_back import BEGUN, SETTLED, TOLD, VERB
from tasks_app.models import AuditEntry, Campaign

from . import curbs, draining, journal, leaving, sites, turns
from .edits import JOURNAL as EDITS
from .edits import PREFIX, Effects, Row, wrong_edits
from .events import EventEvidence, Matched, wrong_events
from .fleet import Fleet
from .graphs import out_of_order
from .oracle import ACCEPTED, REFUSED, UNKNOWN, Asked, Evidence, given_twice
from .receiver import WEBHOOK
from .scenarios import LEAVING, WORKERS, Fault, Scenario
from .subscribers import BAD, GOOD
from .subscribers import TASKS as TOLD_TASKS
from .workload import BRIEF_TYPE, POISON_MAX_RETRY, POISONS, Wish, is_transactional

_TASK = "id, biz_key, status, updated_at, job, claimed_due, start_time"
_BATCH = "batch_no, lane, task_type, ids, ok, failed, reaped, worker, claimed_at, started_at, finished_at"
TASKS = f"(SELECT {_TASK} FROM punctual_task UNION ALL SELECT {_TASK} FROM punctual_past) AS t"
BATCHES = f"(SELECT {_BATCH} FROM punctual_batch UNION ALL SELECT {_BATCH} FROM punctual_past_batch) AS b"
# A worker had time to take a batch if it was ready for so long, or started so long ago, before the load ended.
READY_SECONDS, STARTED_SECONDS = 3.0, 20.0
BEHIND_SECONDS = 1.0  # an asynchronous standby may be so much behind by itself


def gather(
    scenario: Scenario,
    script: Sequence[Fault],
    wishes: Sequence[Wish],
    fleet: Fleet,
    calm: tuple[float, float],
    lost: tuple[float, float] | None = None,
) -> Evidence:
    """`calm`: from when on no fault was at work, and when the load ended, in seconds since the epoch. `lost`: between
    when and when what was acknowledged may have been lost with its primary."""
    connection.close()  # ours was cut with the others
    _index_for_the_rules()
    calls = [_unless_lost(json.loads(line), lost) for line in journal.read("client")]
    again = [_unless_lost(json.loads(line), lost) for line in journal.read("again")]
    batches = _query(f"SELECT ids, ok + failed, reaped FROM {BATCHES} WHERE started_at IS NOT NULL")
    left = leaving.newest(leaving.copies(LEAVING)) if scenario.leaves else {}
    edits = [_unless_lost(json.loads(line), lost) for line in journal.read(EDITS)]
    answered = [(call["task"], call["key"]) for call in (*calls, *again, *edits) if call.get("task")]
    found = dict(_query(f"SELECT id, biz_key FROM {TASKS}"))
    keys = dict(answered) | found | {one.id: one.key for one in left.values()}
    reported = _reported() if scenario.lags else Reported()
    unsettled = [ids for ids, settled, _ in batches if settled < len(ids)]
    events = _events(scenario, reported) if scenario.events else None
    rows, lines = Counter(key for (key,) in _query("SELECT key FROM chaos_effect")), Counter(journal.read("effects"))
    open_runs = Counter(keys[task_id] for ids in unsettled for task_id in ids if task_id in keys)
    told_runs = Counter(keys[task] for task in reported.runs if task in keys)
    edited = {call["key"] for call in edits}
    return Evidence(
        asked=_asked_before(wishes, scenario) | _asked_by_client(calls, again, scenario),
        statuses=_without(_statuses(), edited) | {one.key: [one.status] for one in left.values()},
        rows=Counter(_without(rows, edited)),
        lines=Counter(_without(lines, edited)),
        unsettled_runs=open_runs,
        in_flight=sum(len(ids) - settled for ids, settled, _ in batches if settled < len(ids)) + len(reported.runs),
        lost_batches=sum(reaped for _, _, reaped in batches),
        # What was settled in the time that is lost is started here, and not settled.
        batches_at_stake=len(batches) if scenario.lags else _batches_at_stake(script, wishes),
        failures=Counter(code for (code,) in _query("SELECT error_code FROM punctual_attempt")),
        broken_rules=[f"{rule}: not so for {task_id} ({detail})" for rule, task_id, detail in broken_rules()],
        hung_processes=fleet.hung,
        # Of two sites one stands by at the end; whether each has worked when it should, sites.py asks.
        idle_workers=[] if scenario.sites else _idle_workers(fleet, *calm),
        largest_child_mb=fleet.largest_child_mb(),
        child_limit_mb=settings.PUNCTUAL["CELERY"]["worker_max_memory_per_child"] // 1000,
        longest_schedule_ms=max((call["ms"] for call in calls if "ms" in call), default=0.0),
        schedule_limit_ms=scenario.longest_schedule_ms,
        in_the_past=_query("SELECT count(*) FROM punctual_past")[0][0],
        moves=scenario.moves,
        reported=told_runs,
        replays=_replays() if scenario.replays else None,
        campaign=_campaign("replayed") if scenario.replays else _campaign("created") if scenario.backfills else None,
        events_told=min((len(set(ids)) for ids in events.told.values()), default=0) if events else 0,
        wrong_events=list(wrong_events(events)) if events else [],
        out_of_order=out_of_order() if scenario.graphs else [],
        wrong_edits=list(
            wrong_edits(
                edits,
                _edited_rows(),
                {key: Effects(rows[key], lines[key], open_runs[key] + told_runs[key]) for key in edited},
            )
        ),
        wrong_answers=_wrong_answers(again, calls if scenario.lags else []),
        wrong_numbers=list(given_twice(answered, found)),
        wrong_leaving=_wrong_leaving(left) if scenario.leaves else [],
        wrong_curbs=_wrong_curbs() if scenario.holds else [],
        wrong_starts=_wrong_starts(fleet) if scenario.sites else [],
        wrong_turns=list(turns.wrong_turns(turns.witnessed(), turns.results())) if scenario.turns else [],
    )


def _without(found: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in keys}


def _edited_rows() -> dict[str, list[Row]]:
    found = defaultdict(list)
    columns = "id, biz_key, status, execute_time"
    both = f"(SELECT {columns} FROM punctual_task UNION ALL SELECT {columns} FROM punctual_past) AS t"
    for key, *row in _query(
        f"SELECT biz_key, status, execute_time FROM {both} WHERE biz_key LIKE %s ORDER BY id", [f"{PREFIX}%"]
    ):
        found[key].append(Row(*row))
    return found


@dataclass(frozen=True)
class Reported:
    """What a failover is said to have taken back, by the audit: as `manage.py failover report` shows it."""

    runs: tuple[int, ...] = ()  # tasks whose handlers were called
    told: frozenset[int] = frozenset()  # tasks that subscribers were told of
    rows: frozenset[int] = frozenset()  # of the outbox, that they were told of


def _reported() -> Reported:
    entries = list(AuditEntry.objects.filter(verb=VERB).values_list("outcome", "task_id", "detail"))
    events = [(task, detail["row"]) for outcome, task, detail in entries if outcome == TOLD]
    return Reported(
        tuple(task for outcome, task, _ in entries if outcome in (SETTLED, BEGUN)),
        frozenset(task for task, _ in events if task is not None),
        frozenset(row for _, row in events),
    )


def _unless_lost(call: dict, lost: tuple[float, float] | None) -> dict:
    """What was acknowledged while the standby was behind may or may not be there."""
    if lost is not None and call["state"] == ACCEPTED and lost[0] - BEHIND_SECONDS <= call["at"] <= lost[1]:
        return call | {"state": UNKNOWN}
    return call


def _wrong_starts(fleet: Fleet) -> list[str]:
    starts = _query(f"SELECT worker, date_part('epoch', started_at) FROM {BATCHES} WHERE started_at IS NOT NULL")
    where = {pid: site for name, site in sites.SITES.items() for pid in fleet.members[name].children_seen}
    named = (sites.Started(int(name.rpartition(":")[2]), at) for name, at in starts)
    return list(sites.wrong_starts(sites.seen(), named, where))


def wrong_drains(drains: Iterable[draining.Drained]) -> list[str]:
    starts = _query(f"SELECT worker, date_part('epoch', started_at) FROM {BATCHES} WHERE started_at IS NOT NULL")
    named = (draining.Started(worker_of(slot), at) for slot, at in starts)
    return list(draining.wrong_drains(drains, named))


def _wrong_leaving(left: Mapping[int, leaving.Copied]) -> list[str]:
    [(state, removed)] = _query(
        "SELECT t.state, a.removed FROM punctual_tenant t JOIN punctual_tenant_archive a ON a.tenant = t.name"
        " WHERE t.name = %s",
        [LEAVING],
    )
    own = "SELECT id FROM {} WHERE tenant = %s"
    here = {id_ for table in ("punctual_task", "punctual_past") for (id_,) in _query(own.format(table), [LEAVING])}
    return leaving.wrong_leaving(state, len(here), removed, left, {id_ for (id_,) in _query(f"SELECT id FROM {TASKS}")})


def _wrong_curbs() -> list[str]:
    claims = _query(
        "SELECT lane, task_type, cardinality(ids), date_part('epoch', claimed_at), ok + failed,"
        " date_part('epoch', started_at)"
        f" FROM {BATCHES} WHERE started_at IS NOT NULL"
    )
    found = curbs.wrong_curbs(curbs.stretches(), (curbs.Claim(*row) for row in claims), curbs.open_incidents())
    return list(found)


def _events(scenario: Scenario, reported: Reported) -> EventEvidence:
    units, said = {}, defaultdict(Counter)
    rows = _query(
        "SELECT id, event, tenant, task_type, count, keys, task_ids FROM punctual_outbox"
        " WHERE created_at >= (SELECT max(since) FROM punctual_subscription)"  # all before the first task
    )
    for row, event, tenant, task_type, count, keys, tasks in rows:
        for place in range(count):
            about = keys[place] if keys else f"no unit, {event}"
            units[f"{row}-{place + 1}"] = f"{tenant}/{task_type}/{about}"
        said[event].update(tasks or ())
    told_to = (GOOD, BAD, *([WEBHOOK] if scenario.webhooks else []))
    told = {name: list(journal.read(name)) for name in told_to}
    if scenario.lags:
        lost = {one for ids in told.values() for one in ids} - units.keys()
        about = dict(line.split(" ") for line in journal.read(TOLD_TASKS))
        known = {one for one in lost if about[one] in map(str, reported.told) or _row(one) in reported.rows}
        told = {name: [one for one in ids if one not in known] for name, ids in told.items()}
    return EventEvidence(units, told, _changes(said))


def _row(event: str) -> int:
    return int(event.partition("-")[0])


def _changes(said: Mapping[str, Counter]) -> dict[str, Matched]:
    """Where the row of a task is gone, taken back or dropped with its partition, its events are believed: its effect is
    looked at anyway."""
    statuses = dict(_query(f"SELECT id, status FROM {TASKS}"))

    def by_row(events: Counter, *wanted: str) -> Matched:
        gone = Counter({task: times for task, times in events.items() if task not in statuses})
        return Matched(gone + Counter(task for task, one in statuses.items() if not wanted or one in wanted), events)

    failures = Counter(task for (task,) in _query("SELECT task_id FROM punctual_attempt"))
    return {
        "new task": by_row(said["task.created"] + said["task.replaced"]),
        "success": by_row(said["task.succeeded"], "SUCCESS"),
        "cancellation": by_row(said["task.cancelled"], "CANCELLED"),
        "failed try": Matched(failures, said["task.failed"] + said["task.dead"]),
    }


def _index_for_the_rules() -> None:
    """The rules look up events by task, which the product never does: for 20,000 tasks that needs an index."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX ON punctual_dead_letter (task_id)")
        cursor.execute("ANALYZE")


def _asked_before(wishes: Iterable[Wish], scenario: Scenario) -> dict[str, Asked]:
    return {
        wish.key: Asked(
            ACCEPTED,
            is_transactional(wish.task_type),
            POISONS.get(wish.poison, "SUCCESS"),
            brief=_brief(wish.task_type, scenario),
            leaves=scenario.leaves and wish.tenant == LEAVING,
        )
        for wish in wishes
    }


def _asked_by_client(calls: Iterable[dict], again: Iterable[dict], scenario: Scenario) -> dict[str, Asked]:
    """Once accepted stays accepted; once unknown is never refused any more."""
    told = defaultdict(set)
    types = {}
    for call in calls:
        told[call["key"]].add(call["state"])
        types[call["key"]] = call["type"]
    ensured = Counter((call["key"], call["state"]) for call in again if call["verb"] == "ensure")
    return {
        key: Asked(
            _state(states),
            is_transactional(types[key]),
            times=1 + ensured[key, ACCEPTED],
            # Of one that was asked for and has no answer, its client was ended in between.
            times_unknown=ensured[key, "asked"] - ensured[key, ACCEPTED] - ensured[key, REFUSED],
            brief=_brief(types[key], scenario),
        )
        for key, states in told.items()
    }


def _brief(task_type: str, scenario: Scenario) -> bool:
    return scenario.moves and task_type == BRIEF_TYPE


def _wrong_answers(again: Iterable[dict], calls: Iterable[dict]) -> list[str]:
    """A task that was accepted is known; one that has succeeded is left alone by reschedule, and renewed by ensure. Of
    `calls`, those to which nobody knows what became of them may not be known."""
    doubtful = {call["key"] for call in calls if call["state"] == UNKNOWN}
    right = {"find": "the task", "reschedule": "IGNORED", "ensure": "CREATED"}
    return [
        f"{call['verb']} of {call['key']} answered {call['answer']} instead of {right[call['verb']]}"
        for call in again
        if "answer" in call and call["answer"] != right[call["verb"]] and call["key"] not in doubtful
    ]


def _state(told: set[str]) -> str:
    if ACCEPTED in told:
        return ACCEPTED
    return REFUSED if told == {"asked", REFUSED} else UNKNOWN


def _statuses() -> dict[str, list[str]]:
    found = defaultdict(list)
    # Those that take turns have a witness of their own.
    others = "job IS NULL OR job NOT IN (SELECT id FROM punctual_job WHERE overlap <> 'allow')"
    for key, status in _query(f"SELECT biz_key, status FROM {TASKS} WHERE {others} ORDER BY id"):
        found[key].append(status)
    return found


def _batches_at_stake(script: Sequence[Fault], wishes: Iterable[Wish]) -> int:
    killers = sum(wish.poison == "kill" for wish in wishes)
    # Every lie is found out by the one who was lied to, so none costs a batch.
    # A killer takes along the batch it was in, and then itself once for each try.
    return sum(fault.batches_at_stake for fault in script) + killers * (POISON_MAX_RETRY + 2)


def _idle_workers(fleet: Fleet, calm: float, end: float) -> list[str]:
    """Workers that had time to take a batch after the last fault and took none: deaf ones."""
    if end - calm < READY_SECONDS:
        return []  # the machine was so slow that the last fault outlasted the load
    ready = {
        int(name.rpartition(":")[2]): at
        for name, at in _query("SELECT name, date_part('epoch', started_at) FROM punctual_node WHERE kind = 'WORKER'")
    }
    busy = {
        int(name.rpartition(":")[2])
        for (name,) in _query(f"SELECT DISTINCT worker FROM {BATCHES} WHERE started_at > to_timestamp(%s)", [calm])
    }
    return [
        member.name
        for member in (fleet.members[name] for name in WORKERS)
        if not busy & member.children_seen
        and (ready.get(member.pid, end) < end - READY_SECONDS or member.started_at < end - STARTED_SECONDS)
    ]


def _replays() -> Counter:
    """Of each task that the campaign was for, how often its audit says it was replayed."""
    found = Counter()
    for task, times in _query(
        "SELECT chosen.id, count(a.id) FROM punctual_campaign c"
        " JOIN punctual_campaign_chunk k ON k.campaign_id = c.id CROSS JOIN unnest(k.ids) AS chosen(id)"
        " LEFT JOIN punctual_audit_entry a"
        "   ON a.operation = c.operation AND a.task_id = chosen.id AND a.outcome = 'replayed'"
        " GROUP BY chosen.id"
    ):
        found[task] = times
    return found


def _campaign(answer: str) -> str:
    """DONE, with this answer for each of its tasks; or where it got stuck."""
    one = Campaign.objects.get()
    whole = one.state == "DONE" and one.done == one.total and one.counts == {answer: one.total}
    return "DONE" if whole else f"{one.state} after {one.done} of {one.total}: {one.counts}"


def finishes() -> list[float]:
    return [at for (at,) in _query(f"SELECT date_part('epoch', updated_at) FROM {TASKS} WHERE status = 'SUCCESS'")]


def starts() -> list[tuple[float, float]]:
    """Of every task that is over: when it was due, and when it began."""
    return _query(
        f"SELECT date_part('epoch', claimed_due), date_part('epoch', start_time) FROM {TASKS}"
        " WHERE status = 'SUCCESS' AND claimed_due IS NOT NULL AND start_time IS NOT NULL"
    )


def batch_ends() -> list[tuple[float, float, float]]:
    """Of every batch: when it was claimed, when it ended, and when the last of its tasks had finished."""
    return _query(
        "SELECT date_part('epoch', b.claimed_at), date_part('epoch', coalesce(b.finished_at, 'infinity')),"
        "       date_part('epoch', max(t.updated_at))"
        f" FROM {BATCHES} CROSS JOIN unnest(b.ids) AS one(id) JOIN {TASKS} USING (id)"
        " GROUP BY b.batch_no, b.claimed_at, b.finished_at"
    )


def _query(statement: str, params=None) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()
