"""Which site may work: chosen by an operator or, where that is allowed, by a beat that hears nothing of the active one.

In two steps, so that at no moment two sites can start tasks. From the commit of the choice on no site can claim or
start anything: the statements ask for it. The chosen one is opened when all claims and starts have ended that may not
have seen that yet; by whoever chose it or, if they die, by the first of its beats that looks. What the site before has
started is its own until the lease runs out, as with any worker.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tasks_app.conf import MAIN_SITE, conf
from tasks_app.core.errors import InvalidTask, NothingToDo, PunctualError
from tasks_app.core.phrases import counted, span
from tasks_app.core.recovery import IN_TURN, Grade, Step
from tasks_app.database import atomic
from tasks_app.models import Installation, Recovery, SignOfLife
from tasks_app.sql import run

from . import recovery as recoveries
from .audit import Entry, Operator, audit
from .claim import return_unstarted
from .installation import ITSELF, SUBJECT, Row, Sites, locked, noted, stranger
from .outbox import tell

log = logging.getLogger(__name__)

VERB = "site"
LOOK_SECONDS = 0.005  # between two looks at claims and starts in flight, which last milliseconds
PATIENCE_SECONDS = 5.0  # with one that doesn't end: then its session is ended
LANE_PATIENCE_SECONDS = 10.0  # for a lane to catch up, and for beats to take the shards, before the next one goes on
# What a recovery does beyond this is for an operator to decide: `manage.py recover INCIDENT --from reap`.
LEFT_OUT = (Step.REAP, Step.DOCTOR, Step.REPLAY, Step.LETTERS, Step.COMPENSATE)


class ClaimsDontEnd(PunctualError):
    """A transaction of the site before may still start tasks, so the chosen site stays closed."""


def activate(site: str, operator: Operator, *, epoch: int | None = None) -> Row:
    """Choose a site. Of its lanes `critical` goes on at once, the others one after the other; it is not open yet. One
    that is chosen and could not be opened stays so, and can be now. `epoch`: only if nobody has chosen since then."""
    with atomic():
        row = locked()
        _refuse_stale(row.sites, epoch)
        if row.sites.chosen == site:
            return row
        if row.sites.active == site:
            raise NothingToDo(f"site {site!r} is the active one already. Nothing was changed.")
        return _choose(row, site, operator)


def stand_by(operator: Operator, *, epoch: int | None = None) -> Row:
    """From the commit on no site claims or starts anything; what runs goes on to its end."""
    with atomic():
        row = locked()
        _refuse_stale(row.sites, epoch)
        if row.sites.wanted is None:
            raise NothingToDo("all sites stand by already. Nothing was changed.")
        return _choose(row, None, operator)


def open_chosen(row: Row, wait: Callable[[float], object] = time.sleep) -> list[str] | None:
    """Let the chosen site work, once nobody else can; returns the node ids of its beats. None: somebody was faster, or
    has chosen another one since."""
    _await_claims(wait)
    with atomic():
        if locked().sites[:3] != row.sites[:3]:
            return None
        beats = [node_id for (node_id,) in run("clear_fleet", {"site": row.sites.chosen})]
        # Published or not: its messages may be in a broker that this site doesn't read.
        tasks = return_unstarted(dispatcher for (dispatcher,) in run("unstarted_of", {}))
        run("open_site", {"site": row.sites.chosen, "epoch": row.sites.epoch})
    log.warning("site.active site=%s epoch=%d tasks_returned=%d", row.sites.chosen, row.sites.epoch, tasks)
    return beats


def see_to(row: Row) -> Row:
    """What a beat does about sites by itself, when it looks: open its own that was chosen; take over from one that is
    silent, if it may; or be the first. Returns the row after that."""
    own, sites = conf().site, row.sites
    if sites.active == own or row.quarantined or stranger(row):
        return row
    if sites.chosen != own:
        if not (_is_first(sites) or _silence(sites)):
            return row
        _take_over()
    row = noted()
    if row.sites.chosen == own:
        open_chosen(row)
        row = noted()
    return row


def resume_step(*, patience: float = LANE_PATIENCE_SECONDS) -> bool:
    """Let the next lane of an activated site go on, if the one before has caught up. True: there is none left."""
    with atomic():
        row = locked()
        if row.sites.recovery is None:
            return True
        found = Recovery.objects.filter(id=row.sites.recovery, finished_at=None).first()
        if found is None:  # somebody has ended it with `manage.py recover`
            Installation.objects.update(site_recovery=None)
            return True
        if row.sites.active is None:
            return False
        return _resume(found, patience)


def _refuse_stale(sites: Sites, epoch: int | None) -> None:
    if epoch is None or epoch == sites.epoch:
        return
    now = f"site {sites.wanted!r}" if sites.wanted else "that all stand by"
    raise InvalidTask(
        f"epoch is {epoch}, and it is {sites.epoch} by now: somebody has chosen {now} since you looked. Nothing was "
        "changed; look again, and decide again."
    )


def _choose(row: Row, site: str | None, operator: Operator, *, hold: bool = True) -> Row:
    before, epoch = row.sites.active, row.sites.epoch + 1
    if row.sites.recovery is not None:
        _end_early(row.sites.recovery, operator)
    held = _held(site, epoch, operator) if site is not None and hold else None
    run("choose_site", {"site": site, "epoch": row.sites.epoch, "recovery": held and held.id})
    detail = {"site": site, "before": before, "epoch": epoch}
    audit(operator, VERB, [Entry(SUBJECT, "stood by" if site is None else "activated", detail=detail)])
    told = {"before": before, "epoch": epoch, "by": operator.name}
    tell("site.stood_by", told) if site is None else tell("site.activated", told | {"site": site})
    log.warning("site.chosen site=%s before=%s epoch=%d by=%s", site, before, epoch, operator.name)
    return noted()


def _await_claims(wait: Callable[[float], object]) -> None:
    """Until all claims and starts have ended that may have begun before the choice was committed. The caller has read
    the choice, so whatever begins now sees it."""
    left: dict[int, Any] = dict(run("claims_in_flight", {}))
    for _ in range(2):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while left and time.monotonic() < deadline:
            wait(LOOK_SECONDS)
            left = dict(left.items() & run("claims_in_flight", {}))
        for pid in left.values():
            log.warning("site.session_ended pid=%d seconds=%g", pid, PATIENCE_SECONDS)
            run("end_session", {"pid": pid})
    if left := dict(left.items() & run("claims_in_flight", {})):
        raise ClaimsDontEnd(
            f"Transactions of the database processes {', '.join(map(str, left.values()))} may still start tasks, and "
            "could not be ended; so the chosen site stays closed. End them with pg_terminate_backend: its beats try "
            "again every few seconds."
        )


def _take_over() -> None:
    """Choose the site of this beat, if it still may: asked again under the lock, since the others may have come back,
    or another beat of this site was faster."""
    with atomic():
        locked()  # before the sign, as whoever adopts a server does
        list(SignOfLife.objects.select_for_update().filter(kind=SignOfLife.BEAT))  # one that is just being given counts
        row = noted()
        silence = _silence(row.sites)
        if not row.quarantined and (silence or _is_first(row.sites)):
            reason = silence or f"Nobody has chosen a site yet, and {conf().site!r} is the first."
            _choose(row, conf().site, Operator(ITSELF, reason), hold=silence is not None)


def _is_first(sites: Sites) -> bool:
    """Nobody has ever chosen one, and no beat without a name is at work: the first that has a name begins."""
    return (sites.active, sites.epoch) == (MAIN_SITE, 0) and not conf().STANDBY and not recoveries.held_shards()[0]


def _silence(sites: Sites) -> str | None:
    """Why a beat of this site may choose its own; None: it may not, or an operator wants all to stand by."""
    allowed, silent = conf().SITE_TAKEOVER_SECONDS, sites.silent_seconds
    if not allowed or sites.wanted in (None, conf().site) or silent is None:
        return None
    if silent <= max(allowed, 2 * conf().SHARD_LEASE_SECONDS):  # a beat that is well may be silent for a while
        return None
    return f"No beat of site {sites.wanted!r} has been there for {span(timedelta(seconds=silent))}."


# ---- lanes, one after the other ----


def _held(site: str, epoch: int, operator: Operator) -> Recovery:
    """A recovery whose first step is done: what can wait is held back, in the transaction of the choice."""
    by = Operator(operator.name, operator.reason)
    row = recoveries.begin(f"site {site} {epoch}", by, grade=Grade.P1).row
    row.steps = {str(step): {"skipped": True} for step in LEFT_OUT}
    row.save(update_fields=["steps"])
    lanes, now = recoveries.hold(row), _now()
    told = recoveries.timed(row, Step.FREEZE, row.started_at, now, f"Lanes {', '.join(lanes)} and backfills are held.")
    recoveries.note_done(row, Step.FREEZE, told | {"lanes": lanes}, by)
    return row


def _resume(recovery: Recovery, patience: float) -> bool:
    by, now = Operator(recovery.actor, recovery.reason), _now()
    if "done_at" not in recovery.steps.get(Step.TAKEOVER, {}) and not _shards_taken(recovery, by, now, patience):
        return False
    begun = recovery.steps.get(Step.RESUME) or {"begun_at": now.isoformat()}
    lanes: dict[str, dict[str, Any]] = dict(begun.get("lanes") or {})
    for lane in IN_TURN:
        told = lanes.setdefault(lane, {"since": now.isoformat()})
        if "overdue" in told:
            continue
        if told["since"] == now.isoformat():
            recoveries.let_go(recovery, [lane])
        overdue, seconds = recoveries.overdue_in(lane), _seconds(told["since"], now)
        if overdue and seconds < patience:
            recoveries.note(recovery, Step.RESUME, begun | {"lanes": lanes})
            return False
        lanes[lane] = told | {"seconds": round(seconds, 3), "overdue": overdue}
    behind = [lane for lane in IN_TURN if lanes[lane]["overdue"]]  # JSON has kept no order
    words = f"Lanes {', '.join(IN_TURN)} go on, in this order."
    words += f" {', '.join(behind)} had not caught up after {patience:g} s." if behind else ""
    held, _ = recoveries.held_shards()
    told = recoveries.timed(recovery, Step.RESUME, datetime.fromisoformat(begun["begun_at"]), now, words)
    recoveries.note_done(recovery, Step.RESUME, told | {"lanes": lanes}, by, resumed=held)
    _unfreeze(recovery, now, "All other lanes, and backfills, go on.")
    return True


def _shards_taken(recovery: Recovery, by: Operator, now: datetime, patience: float) -> bool:
    held, shards = recoveries.held_shards()
    if (held < shards or not shards) and _seconds(recovery.started_at.isoformat(), now) < patience:
        return False
    words = f"{held} of {counted(shards, 'shard')} are dispatched by beats of the chosen site."
    told = recoveries.timed(recovery, Step.TAKEOVER, recovery.started_at, now, words) | {"held": held}
    recoveries.note_done(recovery, Step.TAKEOVER, told, by, resumed=held)
    return True


def _end_early(recovery_id: int, operator: Operator) -> None:
    """Another choice was made before all lanes were open."""
    recovery = Recovery.objects.filter(id=recovery_id, finished_at=None).first()
    if recovery is not None:
        _unfreeze(recovery, _now(), f"{operator.name} has chosen anew.")


def _unfreeze(recovery: Recovery, now: datetime, words: str) -> None:
    by = Operator(recovery.actor, recovery.reason)
    lanes = recoveries.let_all_go(recovery)
    told = recoveries.timed(recovery, Step.UNFREEZE, now, now, words) | {"lanes": lanes}
    recoveries.note_done(recovery, Step.UNFREEZE, told, by)
    recoveries.finish(recovery, by)
    Installation.objects.update(site_recovery=None)


def _seconds(since: str, now: datetime) -> float:
    return (now - datetime.fromisoformat(since)).total_seconds()


def _now() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now
