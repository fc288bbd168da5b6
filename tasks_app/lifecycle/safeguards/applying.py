"""From what was found to what is held back: states, curbs, incidents and audit entries, in the caller's transaction.

The caller holds the lock of the pulse's reader, so one beat at a time decides; whoever dies leaves all as it was.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core import safeguards
from tasks_app.core.lanes import LANES
from tasks_app.core.safeguards import FIRST_STAGE, PLANNED, Kind, Mode, Name, Order, State, curbs_of
from tasks_app.core.scopes import Scope, scope_of
from tasks_app.database import atomic, must_roll_back
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import Curb, CurbPermit, LaneResume, Safeguard, SafeguardIncident
from tasks_app.sql import run

log = logging.getLogger(__name__)

MOST_SUBJECTS = 100  # of one safeguard at the same time; what else there is waits for its turn
FORGET_SECONDS = 3_600.0  # after its end, what was known of one


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found of a safeguard and its subject."""

    name: str
    subject: str = ""
    over: bool | None = True  # the limit is passed; False: all is well; None: neither
    figures: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    ends: bool = False  # now, without waiting until all has been well for a while


@dataclass(frozen=True, slots=True)
class Applied:
    began: int = 0
    changed: int = 0
    ended: int = 0
    failed: Mapping[str, Exception] = field(default_factory=dict)  # by safeguard: what kept it from a step
    freed: Set[Scope] = frozenset()  # scopes of which nothing is held back any more

    @property
    def any(self) -> bool:
        return bool(self.began or self.changed or self.ended)


def apply(findings: Iterable[Finding], now: float) -> Applied:
    """Take each safeguard a step further: those that something was found of, and those that are on or have an order.

    One that fails stays as it was, and the others take their step.
    """
    found = {(one.name, one.subject): one for one in findings}
    locked = Safeguard.objects.select_for_update().order_by("name", "subject")
    rows = {(row.name, row.subject): row for row in locked if row.name in tuple(Name)}
    known: dict[str, int] = {name: sum(key[0] == name for key in rows) for name in Name}
    forbidden = {key for key, row in rows.items() if row.order == Order.FORBID}
    before = _scopes_held()
    counts = {"began": 0, "changed": 0, "ended": 0}
    failed: dict[str, Exception] = {}
    for key in sorted(found.keys() | rows.keys()):
        row, finding = rows.get(key), found.get(key) or Finding(key[0], key[1], over=False)
        if (scope := scope_of(key[1])) is not None and (key[0], scope.target) in forbidden:
            finding = replace(
                finding, over=False, ends=True
            )  # an order about a type is about each tenant's tasks of it
        if row is None:
            if not finding.over or known[key[0]] >= MOST_SUBJECTS:
                continue
            known[key[0]] += 1
            row = new_row(*key)
        try:
            with atomic():
                what = _step(row, finding, now)
        except Exception as error:
            if must_roll_back():  # nothing more can be done in this transaction
                raise
            log.exception("safeguard.failed name=%s subject=%s", *key)
            failed[" ".join(filter(None, key))] = error
            continue
        if what:
            counts[what] += 1
    return Applied(**counts, failed=failed, freed=before - _scopes_held() if any(counts.values()) else frozenset())


def _scopes_held() -> set[Scope]:
    """Tenants and types whose tasks workers send back."""
    curbs = Curb.objects.filter(kind__in=(Kind.TYPE, Kind.RETRIES)).exclude(of_tenant="")
    return {Scope(*one) for one in curbs.values_list("of_tenant", "target")}


def new_row(name: str, subject: str) -> Safeguard:
    """One that is off, not saved yet."""
    nothing = {
        "stage": 0,
        "relapses": 0,
        "figures": {},
        "order": "",
        "order_stage": 0,
        "order_by": "",
        "order_reason": "",
    }
    return Safeguard(name=name, subject=subject, **nothing)


def _step(row: Safeguard, finding: Finding, now: float) -> str:
    """began, changed or ended; empty: nothing that others would notice."""
    before, expired = state_of(row), _expire(row, now)
    order = row.order
    ends = (expired and not finding.over) or (finding.ends and not row.order)
    state = safeguards.ended(before, now) if ends else _next(row, finding, before, now)
    if finding.figures:
        row.figures = dict(finding.figures)
    _put(row, state)
    if before.idle and state.idle and not row.order and _forgotten(state, now):
        if row.pk:
            row.delete()
        return ""
    row.looked_at = Now()
    row.save()
    policy = conf().safeguards[row.name]
    acts = policy.mode == Mode.ACT or order == Order.FORCE
    wanted = curbs_of(row.name, row.subject, state.stage, row.figures, policy) if acts else []
    moved = _hold(row, wanted)
    if state.stage == before.stage:
        if moved and state.stage and row.name not in PLANNED:
            _note(row, wanted, now)
        return "changed" if moved else ""
    _tell(row, before, state, wanted, finding, order, now)
    return "began" if not before.stage else "changed" if state.stage else "ended"


def _next(row: Safeguard, finding: Finding, before: State, now: float) -> State:
    """What an operator wants comes first, then the setting, then what was found."""
    policy = conf().safeguards[row.name]
    if row.order == Order.END:
        row.order, row.order_until = Order.NONE, None
        return safeguards.ended(before, now)
    if policy.mode == Mode.OFF or row.order == Order.FORBID:
        return safeguards.ended(before, now)
    if row.order == Order.FORCE:
        return safeguards.forced(before, row.order_stage or FIRST_STAGE.get(Name(row.name), 1), now)
    return safeguards.advance(before, finding.over, now, policy, row.name)


def _expire(row: Safeguard, now: float) -> bool:
    """Whether what an operator wanted has just run out."""
    if not row.order or row.order_until is None or row.order_until.timestamp() > now:
        return False
    row.order, row.order_until, row.order_stage = Order.NONE, None, 0
    return True


def _forgotten(state: State, now: float) -> bool:
    return state.ended_at is None or now - state.ended_at > FORGET_SECONDS


def _hold(row: Safeguard, wanted: Sequence[safeguards.Curb]) -> bool:
    """Let the curbs of this one be just these; whether that changed anything."""
    mine = Curb.objects.filter(name=row.name, subject=row.subject)
    there = {safeguards.Curb(one.kind, one.target, one.rate, one.max_running, one.of_tenant): one for one in mine}
    new = [one for one in wanted if one not in there]
    gone = [one for curb, one in there.items() if curb not in set(wanted)]
    if not new and not gone:
        return False
    ended = [one.id for one in gone]
    Curb.objects.filter(id__in=ended).delete()
    CurbPermit.objects.filter(curb__in=ended).delete()
    Curb.objects.bulk_create(
        [Curb(name=row.name, subject=row.subject, **_columns(one)) for one in new],
    )
    types = sorted(one.target for one in new if one.kind in (Kind.TYPE, Kind.RETRIES) and not one.of_tenant)
    if types:
        run("know_types", {"types": types})
    note_resumed({one.target for one in gone if one.kind == Kind.LANE})
    return True


def _columns(curb: safeguards.Curb) -> dict[str, Any]:
    return asdict(curb)


def note_resumed(lanes: set[str]) -> None:
    """What waited in a lane that nobody slows down any more is not late from before this moment."""
    held = set(Curb.objects.filter(kind=Kind.LANE, target__in=lanes).values_list("target", flat=True)) if lanes else ()
    for lane in (one for one in LANES if one in lanes and one not in held):
        LaneResume.objects.update_or_create(lane=lane, defaults={"resumed_at": Now()})


def _tell(
    row: Safeguard,
    before: State,
    state: State,
    wanted: Sequence[safeguards.Curb],
    finding: Finding,
    order: str,
    now: float,
) -> None:
    """The incident, the audit entry and a line in the log, for each change of the stage."""
    why = _why(row, finding, order, state)
    log.warning("safeguard.stage name=%s subject=%s stage=%d why=%r", row.name, row.subject, state.stage, why)
    if row.name in PLANNED:
        return
    if not before.stage:
        SafeguardIncident.objects.create(
            name=row.name,
            subject=row.subject,
            sentence=why,
            figures=row.figures,
            actions=[_entry(now, wanted)],
            stage=state.stage,
            dry=conf().safeguards[row.name].mode != Mode.ACT and order != Order.FORCE,
            forced_by=row.order_by if order == Order.FORCE else "",
        )
    elif state.stage:
        _note(row, wanted, now)
    else:
        open_one = SafeguardIncident.objects.filter(name=row.name, subject=row.subject, closed_at__isnull=True)
        open_one.update(closed_at=Now(), ending=why)
    verb = "begin" if not before.stage else "change" if state.stage else "end"
    outcome = {"begin": "begun", "change": "changed", "end": "ended"}[verb]
    detail = {"stage": state.stage, "actions": [one.words for one in wanted], "figures": _few(row.figures)}
    audit(Operator(f"safeguard {row.name}", why), verb, [Entry(f"safeguard {row}", outcome, None, detail)])


def _why(row: Safeguard, finding: Finding, order: str, state: State) -> str:
    if order in (Order.FORCE, Order.FORBID, Order.END) and row.order_by:
        return f"{row.order_by} wanted it so: {row.order_reason}"
    if state.stage:
        return finding.sentence or safeguards.WORDS[Name(row.name)]
    return "All has been well for long enough."


def _note(row: Safeguard, wanted: Sequence[safeguards.Curb], now: float) -> None:
    """Another entry among what the open incident has done."""
    one = SafeguardIncident.objects.filter(name=row.name, subject=row.subject, closed_at__isnull=True).first()
    if one is not None:
        actions = [*one.actions, _entry(now, wanted)][-50:]
        SafeguardIncident.objects.filter(id=one.id).update(actions=actions, stage=max(one.stage, row.stage))


def _entry(now: float, wanted: Sequence[safeguards.Curb]) -> dict[str, Any]:
    words = [one.words for one in wanted[:20]] + ([f"and {len(wanted) - 20} more"] if len(wanted) > 20 else [])
    return {"at": datetime.fromtimestamp(now, UTC).isoformat(), "actions": words}


def _few(figures: Mapping[str, object]) -> dict[str, Any]:
    """Without the long ones."""
    return {name: value for name, value in figures.items() if not isinstance(value, dict | list)}


def state_of(row: Safeguard) -> State:
    moments = (row.over_since, row.calm_since, row.stage_since, row.ended_at)
    over, calm, stage, ended = (None if one is None else one.timestamp() for one in moments)
    return State(row.stage, over, calm, stage, ended, row.relapses)


def _put(row: Safeguard, state: State) -> None:
    row.stage, row.relapses = state.stage, state.relapses
    for name in ("over_since", "calm_since", "stage_since", "ended_at"):
        moment = getattr(state, name)
        setattr(row, name, None if moment is None else datetime.fromtimestamp(moment, UTC))
