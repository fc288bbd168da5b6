"""What the beats do for campaigns: the next step, and what became of the tasks that earlier ones released.

A step and its count are one transaction, under the campaign's row lock. So it is done or it isn't, whoever is killed,
and no other beat can do it a second time. Locks: the campaign, then its chunk, then tasks by id.
"""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.core.backfill import KIND, Which
from tasks_app.core.campaigns import CHUNK, SLACK_SECONDS, UNDO, CampaignState, step_size
from tasks_app.core.moves import Move
from tasks_app.core.phrases import first_line
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.backfill import fitting, make
from tasks_app.lifecycle.campaigns.begin import ALONE, UNDOES
from tasks_app.lifecycle.campaigns.finished import tell_finished
from tasks_app.lifecycle.operate import Answer, Verb, operate
from tasks_app.lifecycle.turns import queue_behind
from tasks_app.lifecycle.undo import undo
from tasks_app.sql import array, run, text_array

LEASE_SECONDS = 10.0  # others leave a campaign alone for so long after its last step
MEASURE_SECONDS = 2.0  # between two looks at what became of released tasks
SOON_SECONDS = 0.2  # the same, while it waits for some of them to be over
MEASURED_CHUNKS = 20  # at each look
GONE = "gone"  # beside the answers: its row is there no more, or it is in the campaign twice
_RELEASED = (Answer.REPLAYED, Answer.DUE_NOW)
_ERROR_LENGTH = 300


class StepFailed(Exception):
    """It was rolled back; `campaign` is the one that it was for."""

    def __init__(self, campaign: int) -> None:
        super().__init__(f"a step of campaign {campaign} failed")
        self.campaign = campaign


class Step(NamedTuple):
    campaign: int
    tasks: int
    due: float | None  # the earliest moment at which something is due because of it, epoch seconds
    finished: bool


class _Taken(NamedTuple):
    """A row of take_campaign."""

    id: int
    kind: str
    tenant: str | None
    actor: str
    from_tenant: str | None
    reason: str
    operation: UUID
    options: dict[str, Any]
    rate: float | None
    total: int
    done: int
    counts: dict[str, Any]
    most_running: int | None
    waiting: int

    @property
    def operator(self) -> Operator:
        return Operator(self.actor, self.reason, self.operation, self.from_tenant)

    @property
    def verb(self) -> Verb:
        """What is done to tasks that are there."""
        return Verb.REPLAY if self.kind == KIND else Verb(self.kind)

    @property
    def makes_instances(self) -> bool:
        return self.kind == KIND and self.options["which"] != Which.FAILED

    @property
    def brings_others(self) -> bool:
        """Whether instances of what comes after its jobs are made, too."""
        return self.makes_instances and not self.options.get(ALONE)

    @property
    def room(self) -> int:
        """So many tasks may be released now."""
        return CHUNK if self.most_running is None else self.most_running - self.waiting


class _Deed(NamedTuple):
    """What a step did."""

    counts: Counter[Any]  # by answer
    released: Sequence[int]  # tasks that run because of it
    due: float | None


def step(holder: str) -> Step | None:
    """The next step of the campaign that has waited longest for it; None: there is none, or others are at it."""
    with atomic():
        rows = run("take_campaign", {"holder": holder})
        if not rows:
            return None
        taken = _Taken(*rows[0])
        try:
            return _carry_on(taken, holder)
        except Exception as error:
            raise StepFailed(taken.id) from error


def hold_up(campaign: int, error: BaseException) -> int:
    """Its step failed; returns how many have in a row."""
    words = first_line(str(error)) or type(error).__name__
    told = "".join(one for one in words[:_ERROR_LENGTH] if one.isprintable())
    rows = run("hold_up_campaign", {"campaign": campaign, "error": told})
    return rows[0][0] if rows else 0


def measure() -> int | None:
    """Look at what the campaign released whose turn it is; returns how many of them still wait. None: it's no one's."""
    with atomic():
        rows = run("take_measured", {})
        if not rows:
            return None
        asked = {"campaign": rows[0][0], "chunks": MEASURED_CHUNKS, "every": MEASURE_SECONDS, "soon": SOON_SECONDS}
        running: int | None = run("measure", asked)[0][0]
        return running


def wait_seconds(holder: str) -> float | None:
    """Until there is something to do that no other beat does; None: there is nothing."""
    seconds: float | None = run("campaign_wait", {"holder": holder})[0][0]
    return seconds


def release(holder: str) -> None:
    run("release_campaigns", {"holder": holder})


def _carry_on(taken: _Taken, holder: str) -> Step:
    number, first = divmod(taken.done, CHUNK)
    size = min(step_size(taken.rate), CHUNK - first, taken.total - taken.done, taken.room)
    sliced = {"campaign": taken.id, "number": number, "first": first + 1, "last": first + size}
    ids, jobs, fires = run("campaign_slice", sliced)[0]
    if taken.brings_others:
        size = fitting(jobs)
        ids, jobs, fires = ids[:size], jobs[:size], fires[:size]
    deed = _do(taken, ids, jobs, fires)
    _note(taken, number, deed.released)
    counts = Counter(taken.counts) + deed.counts + Counter({GONE: size - deed.counts.total()})
    asked = {
        "campaign": taken.id,
        "done": taken.done,
        "taken": size,
        "released": len(deed.released),
        "counts": json.dumps(counts),
        "slack": SLACK_SECONDS,
        "every": MEASURE_SECONDS,
        "soon": SOON_SECONDS,
        "lease": LEASE_SECONDS,
        "holder": holder,
    }
    [(state,)] = run("advance_campaign", asked)
    finished = state == CampaignState.DONE
    if finished:
        tell_finished(taken.id, taken.kind, taken.tenant, state, counts)
    return Step(taken.id, size, deed.due, finished)


def _do(taken: _Taken, ids: Sequence[int], jobs: Sequence[int] | None, fires: Sequence[datetime] | None) -> _Deed:
    """To these tasks, what the campaign is for; or for these firings, make the instances."""
    if taken.makes_instances:
        about = (Which(taken.options["which"]), jobs or (), fires or (), taken.options.get("lane"), taken.operator)
        made = make(taken.id, *about, alone=not taken.brings_others, tenant=taken.tenant or "")
        return _Deed(made.counts, made.ids, made.due)
    part_of = f"campaign {taken.id}"
    if taken.kind == UNDO:
        undone = undo(UUID(taken.options[UNDOES]), ids, taken.operator, part_of)
        return _Deed(undone.counts, [], undone.due)
    move = Move.stored(taken.options) if taken.verb is Verb.MOVE else None
    operated = operate(taken.verb, ids, taken.operator, move, place=taken.done, of=taken.total, part_of=part_of)
    released = [id_ for id_, answer in operated.answers.items() if answer in _RELEASED]
    if taken.kind == KIND:
        queue_behind(released)
    return _Deed(operated.counts, released, operated.due)


def _note(taken: _Taken, number: int, released: Sequence[int]) -> None:
    """What runs because of it waits in the campaign's lane, and is looked after until it is over."""
    if not released:
        return
    lane = taken.options.get("lane")
    # An instance that was made is in that lane, and came from no other.
    lanes = [lane or ""] * len(released) if taken.makes_instances else _put_in_lane(released, lane)
    asked = {"campaign": taken.id, "number": number, "ids": array(released), "lanes": text_array(lanes)}
    run("note_released", asked)


def _put_in_lane(ids: Sequence[int], lane: str | None) -> list[str]:
    """The lanes that they came from; an empty one: it was not changed."""
    if lane is None:
        return [""] * len(ids)
    before: dict[int, str] = dict(run("put_in_lane", {"ids": array(ids), "lane": lane}))
    return [before.get(id_, "") for id_ in ids]
