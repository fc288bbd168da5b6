"""What is overdue since nobody dispatched: held back while an operator is asked, then dealt with page by page.

Held is what was due before `held_before`, in `held_lanes`: no claim takes it. Whatever is due later goes on.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.core.installation import Facts
from tasks_app.core.lanes import LANES, URGENT_LANE
from tasks_app.core.overdue import Answer, Choice, LaneOverdue, Preview
from tasks_app.core.tenants import CANARY, INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.models import Installation, RehearsedTask, TaskBatch
from tasks_app.sql import array, run

from .audit import Entry, Operator, audit
from .claim import return_unstarted
from .installation import ITSELF, SUBJECT, Row, locked, note_adopted, touch
from .limited import limited_types
from .operate import Verb, operate
from .outbox import tell
from .rehearsal import put_back
from .shards import all_shards

log = logging.getLogger(__name__)

PAGE = 2_000  # tasks in one transaction
COUNTED = 250_000  # of each shard and limited type, at most: then there are more
ASKED_LANES = tuple(lane for lane in LANES if lane != URGENT_LANE)  # what is urgent goes on without a question


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did."""

    tasks: int
    done: bool  # all that was asked for is


def ask_if_long_silent(row: Row) -> bool:
    """A beat is about to dispatch. If nobody has for long, and much is overdue, that is held until somebody decides."""
    if not _long_silent(row):
        return False
    with atomic():
        row = locked()
        if not _long_silent(row):
            return False  # another beat has asked, or found that there is nothing to ask
        now = _clock()
        before = now - timedelta(seconds=conf().BACKLOG_SECONDS)
        ((overdue,),) = run("many_overdue", _places(ASKED_LANES, before, conf().BACKLOG_ASK + 1))
        if overdue <= conf().BACKLOG_ASK:
            return False
        _hold(now, ASKED_LANES, row.seen_at)
        silent = f"nobody has dispatched since {row.seen_at:%Y-%m-%d %H:%M:%S} UTC"
        words = f"more than {conf().BACKLOG_ASK:,} tasks are overdue, and {silent}"
        audit(Operator(ITSELF, words), "hold", [Entry(SUBJECT, "asked", detail={"lanes": list(ASKED_LANES)})])
        log.warning("installation.asks since=%s", row.seen_at and row.seen_at.isoformat())
    return True


def preview(row: Row | None, older_seconds: float | None = None, most: int = COUNTED) -> Preview:
    """What is overdue now; of the lanes that are held, what was due when that began."""
    now = _clock()
    before = (row and row.held_before) or now
    older = now - timedelta(seconds=older_seconds or 0.0)
    rows = run("count_overdue", _places(LANES, before, most) | {"older": older})
    found = {lane: LaneOverdue(lane, *figures) for lane, *figures in rows}
    silent = row and (row.silent_since or row.seen_at)
    return Preview(
        tuple(found[lane] for lane in LANES if lane in found),
        before,
        older_seconds,
        max(before - silent, timedelta(0)) if silent else timedelta(0),
        exact=all(one.tasks < most for one in found.values()),
    )


def go_on(answer: Answer, operator: Operator, facts: Facts) -> Row:
    """Out of quarantine or a rehearsal, and with this server as the installation's; or on with what is held. What is
    overdue stays held until the answer has been carried out; everything else goes on at once."""
    with atomic():
        row = locked()
        asleep = row.state != Installation.ACTIVE
        if not asleep and row.held_before is None:
            raise NothingToDo(
                "the installation is neither in quarantine nor rehearsing, and nothing is held; nothing was changed."
            )
        if not asleep and row.answer is not None:
            raise InvalidTask(
                f"{row.answer['choice']} was ordered by {row.answer['by']} and is being carried out; wait until that "
                "is done."
            )
        held = LANES if asleep else tuple(row.held_lanes)
        if closed := set(answer.lanes) - set(held):
            raise InvalidTask(f"nothing is held in {', '.join(sorted(closed))}; there is in {', '.join(held)}.")
        if asleep:
            Installation.objects.update(
                state=Installation.ACTIVE, reason=operator.reason, changed_by=operator.name, since=_clock()
            )
            note_adopted(facts)
            _hold(_clock(), held, row.silent_since or row.seen_at)
            _return_claimed()
        kept = {
            "choice": answer.choice,
            "lanes": list(answer.lanes or held),
            "older_seconds": answer.older_seconds,
            "spread_seconds": answer.spread_seconds,
            "by": operator.name,
            "reason": operator.reason,
            "operation": str(operator.operation),
            "ordered_at": _clock().isoformat(),
            "tasks": 0,
        }
        Installation.objects.update(answer=kept)
        detail = {name: kept[name] for name in ("choice", "lanes", "older_seconds", "spread_seconds")} | {
            "was": row.state
        }
        told = {name: detail[name] for name in ("was", "choice", "lanes")}
        tell("installation.resumed", told | {"reason": operator.reason, "by": operator.name})
        audit(operator, "resume", [Entry(SUBJECT, "resumed" if asleep else "answered", detail=detail)])
        if answer.choice is Choice.RUN and not RehearsedTask.objects.exists():
            _end(locked(), kept)
        return locked()


def _return_claimed() -> None:
    """What was claimed and not started is overdue like the rest: its message may still be there, or come again."""
    unstarted = TaskBatch.objects.filter(finished_at=None, started_at=None)
    dispatchers = list(unstarted.values_list("dispatcher", flat=True).distinct())
    return_unstarted(dispatchers)


def step(size: int = PAGE) -> Step:
    """One page of what an operator has ordered. Whoever else does it waits; what a crash takes back is done again."""
    with atomic():
        row = locked()
        if row.answer is None or row.held_before is None or row.state != Installation.ACTIVE:
            return Step(0, done=True)  # done, or stopped again: whoever lets it go on gives another answer
        touch()  # whoever carries it out is there, also if no beat is yet
        if back := put_back(size):
            return Step(back, done=False)
        ordered = row.answer
        tasks, left = _carry_out(row, row.held_before, ordered, size)
        if not left:
            _end(row, ordered, ordered["tasks"] + tasks)
            return Step(tasks, done=True)
        Installation.objects.update(answer=ordered | {"tasks": ordered["tasks"] + tasks})
    return Step(tasks, done=False)


def _carry_out(row: Row, held_before: datetime, ordered: Mapping[str, Any], size: int) -> tuple[int, bool]:
    """How many tasks were changed, and whether some are left."""
    choice, lanes = Choice(ordered["choice"]), ordered["lanes"]
    if choice is Choice.RUN:
        return 0, False
    before = held_before
    if choice is Choice.EXPIRE:
        before = min(
            before, datetime.fromisoformat(ordered["ordered_at"]) - timedelta(seconds=ordered["older_seconds"])
        )
    latest = choice is Choice.LATEST
    places = _places(lanes, before, COUNTED if latest else size)
    ids = [id_ for (id_,) in run("outdated_page" if latest else "overdue_page", places | {"size": size})]
    if not ids:
        # Nothing, or only what somebody else is changing right now: that is looked at again.
        rows = run("count_overdue", _places(lanes, before, COUNTED if latest else 1) | {"older": before})
        return 0, any(outdated if latest else tasks for _, tasks, _, _, outdated in rows)
    if choice is Choice.SHIFT:
        return _shift(row, held_before, ordered, ids), True
    operator = Operator(ordered["by"], ordered["reason"], UUID(ordered["operation"]))
    done = operate(Verb.CANCEL, ids, operator, part_of=SUBJECT)
    return sum(answer.acted for answer in done.answers.values()), True


def _shift(row: Row, held_before: datetime, ordered: Mapping[str, Any], ids: Sequence[int]) -> int:
    since = min(row.silent_since or held_before, held_before)
    gap = (held_before - since).total_seconds()
    spread = ordered["spread_seconds"]
    factor = 1.0 if spread is None or not gap else spread / gap
    moved = run(
        "shift",
        {"ids": array(ids), "at": held_before, "since": since, "factor": factor, "kept": conf().kept_kinds},
    )
    return len(moved)


def _hold(now: datetime, lanes: Sequence[str], silent_since: datetime | None) -> None:
    """From the commit on, what was due before now waits."""
    Installation.objects.update(held_before=now, held_lanes=list(lanes), silent_since=silent_since)
    run("free_canaries", {"now": now, "lanes": list(LANES), "canary": CANARY, "tenant": INTERNAL_TENANT})


def _end(row: Row, ordered: Mapping[str, Any], tasks: int = 0) -> None:
    """What was ordered is done: its lanes are held no more."""
    left = [lane for lane in row.held_lanes if lane not in ordered["lanes"]]
    changed = {"answer": None, "held_lanes": left}
    if not left:
        changed |= {"held_before": None, "silent_since": None}
    Installation.objects.update(**changed)
    done = {"choice": ordered["choice"], "lanes": ordered["lanes"], "tasks": tasks}
    about = {"tasks": tasks, "lanes": ordered["lanes"], "by": ordered["by"]}
    if ordered["choice"] == Choice.SHIFT:
        tell("installation.shifted", about)
    elif ordered["choice"] in (Choice.EXPIRE, Choice.LATEST):
        tell("installation.expired", about | {"choice": ordered["choice"]})
    audit(Operator(ordered["by"], ordered["reason"]), "resume", [Entry(SUBJECT, "carried out", detail=done)])
    log.info("installation.answered choice=%s tasks=%d left=%s", ordered["choice"], tasks, ",".join(left) or "-")


def _long_silent(row: Row) -> bool:
    silent = row.silent_seconds
    return (
        bool(conf().BACKLOG_ASK)
        and row.state == Installation.ACTIVE
        and row.held_before is None
        and silent is not None
        and silent > conf().BACKLOG_SECONDS
    )


def _places(lanes: Sequence[str], before: datetime, most: int) -> dict[str, object]:
    where = {"lanes": list(lanes), "shards": array(all_shards()), "types": limited_types()}
    return where | {"before": before, "most": most, "canary": CANARY}


def _clock() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now
