"""Recoveries that hold something back, and since when nothing was noted of them. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models.functions import Now

from tasks_app.core.lanes import LANES
from tasks_app.core.recovery import CURB
from tasks_app.core.safeguards import Kind
from tasks_app.models import Curb, Recovery

MOMENTS = ("begun_at", "done_at", "noted_at")  # of a step


@dataclass(frozen=True, slots=True)
class HoldingView:
    incident: str
    lanes: list[str]  # that it holds; backfills wait too
    idle_seconds: float  # since it last began or did a step


def holding() -> list[HoldingView]:
    """Nothing ends what these hold but they themselves, so one that was killed holds it without end."""
    held: dict[str, list[Curb]] = {}
    for curb in Curb.objects.filter(name=CURB).annotate(now=Now()).order_by("id"):
        held.setdefault(curb.subject, []).append(curb)
    if not held:
        return []
    rows = {row.incident: row for row in Recovery.objects.filter(incident__in=held)}
    return [_view(incident, curbs, rows.get(incident)) for incident, curbs in held.items()]


def _view(incident: str, curbs: list[Curb], row: Recovery | None) -> HoldingView:
    lanes = {curb.target for curb in curbs if curb.kind == Kind.LANE}
    moments = [curb.since for curb in curbs]
    for told in row.steps.values() if row else ():
        moments += [datetime.fromisoformat(told[name]) for name in MOMENTS if told.get(name)]
    idle = (curbs[0].now - max(moments)).total_seconds()
    return HoldingView(incident, [lane for lane in LANES if lane in lanes], max(idle, 0.0))
