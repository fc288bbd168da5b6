"""The chore `levels`: judges each minute that is over, once, and adds it up. Minutes in which no beat was there to do
that are judged by the next one: what came back in them is still known."""

from datetime import datetime, timedelta

from django.db import IntegrityError

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.service_levels import MINUTE, Judged, LaneFacts, Totals, judge
from tasks_app.core.tenants import CANARY, INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.models import ServiceMinute
from tasks_app.sql import run

from .roll_up import SETTLED_SECONDS, roll_up

MOST_MINUTES = 60  # in one step
STEPS = 30  # in one look; what is left comes with the next
FURTHEST = timedelta(days=31)  # back, after a long time without beats
KEEP_FINE_SECONDS = 2 * 86_400.0
KEEP_SECONDS = 400 * 86_400.0


def keep_levels() -> str:
    """Returns what it did, for the log."""
    roll_up()
    written = 0
    for _ in range(STEPS):
        done = step()
        written += done
        if done < MOST_MINUTES:
            break
    gone = run("thin_service_minutes", {"fine": KEEP_FINE_SECONDS, "keep": KEEP_SECONDS})
    return f"{written} minutes, {len(gone)} thinned out"


def step() -> int:
    """Judge the next minutes and write them down, all or none; returns how many. 0 if another beat was faster."""
    lanes, until = _lanes()
    newest = ServiceMinute.objects.order_by("-minute").first()
    # The first minute that anybody judges begins what is measured: before it nothing was promised.
    since = until - MINUTE if newest is None else max(newest.minute + MINUTE, until - FURTHEST)
    minutes = [since + n * MINUTE for n in range(min(MOST_MINUTES, max(0, (until - since) // MINUTE)))]
    if not minutes:
        return 0
    judged = judge(
        _before(newest, since),
        minutes,
        lanes,
        _returns(lanes, since, minutes[-1] + MINUTE),
        timedelta(milliseconds=conf().DELAY_GOAL_MS),
        latest=until - MINUTE,
    )
    try:
        with atomic():
            # Not on conflict do nothing: whoever has written one of them has summed up what this beat has not seen.
            ServiceMinute.objects.bulk_create(_summed(newest, judged))
    except IntegrityError:
        return 0
    return len(judged)


def _lanes() -> tuple[list[LaneFacts], datetime]:
    usual = timedelta(seconds=conf().CANARY_SECONDS)
    params = {"lanes": list(LANES), "node_ttl": conf().NODE_TTL_SECONDS, "settled": SETTLED_SECONDS}
    rows = run("service_lanes", params | {"type": CANARY, "tenant": INTERNAL_TENANT})
    facts = [
        LaneFacts(lane, live, known, paused_at, resumed_at, since, max(usual, every or usual))
        for lane, live, known, paused_at, resumed_at, since, every, _ in rows
    ]
    return facts if conf().CANARY_SECONDS else [], rows[0][-1]


def _returns(lanes: list[LaneFacts], since: datetime, until: datetime) -> dict[str, list[datetime]]:
    furthest = max((one.every for one in lanes), default=timedelta(0)) + timedelta(milliseconds=conf().DELAY_GOAL_MS)
    found: dict[str, list[datetime]] = {}
    for lane, at in run("canary_returns", {"since": since - furthest, "until": until, "type": CANARY}):
        found.setdefault(lane, []).append(at)
    return found


def _before(newest: ServiceMinute | None, since: datetime) -> Judged:
    if newest is None:
        return Judged(since - MINUTE)
    lanes = (frozenset(found) for found in (newest.served, newest.down, newest.lost, newest.paused))
    return Judged(newest.minute, *lanes)


def _summed(newest: ServiceMinute | None, judged: list[Judged]) -> list[ServiceMinute]:
    totals = Totals() if newest is None else _totals(newest)
    params = {"since": judged[0].minute, "until": judged[-1].minute + MINUTE, "type": CANARY}
    figures = {minute: found for minute, *found in run("service_figures", params)}
    rows = []
    for one in judged:
        totals = totals.plus(one.state, *figures.get(one.minute, ()))
        rows.append(
            ServiceMinute(
                minute=one.minute,
                state=one.state.value,
                **{name: sorted(getattr(one, name)) for name in ("served", "down", "lost", "paused")},
                up_minutes=totals.up,
                down_minutes=totals.down,
                ok=totals.ok,
                failed=totals.failed,
                lateness=list(totals.lateness),
            )
        )
    return rows


def _totals(row: ServiceMinute) -> Totals:
    return Totals(row.up_minutes, row.down_minutes, row.ok, row.failed, tuple(row.lateness))
