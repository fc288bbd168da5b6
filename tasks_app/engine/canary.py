"""The canaries: in each lane a task that does nothing, every CANARY_SECONDS, through the same path as all others.

A worker can look alive and take nothing from its queues. A canary that has not come back for long is how that is seen.
"""

from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.tenants import CANARY, INTERNAL_TENANT
from tasks_app.lifecycle import schedule
from tasks_app.lifecycle.cancel import cancel
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.request import build
from tasks_app.lifecycle.rolling import change_interval
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from .wakeup import SENDER

CHORE_EVERY = 3  # canaries roll by themselves; the chore that sends missing ones comes every so many rounds
# Missed so often: something is wrong in its lane.
_MISSED = 3


@dataclass(frozen=True, slots=True)
class Canary:
    lane: str
    age_seconds: float  # since it last came back, or since it was sent for the first time
    every_seconds: float  # as it was sent; another CANARY_SECONDS reaches it with the next chore

    @property
    def missing(self) -> bool:
        return conf().CANARY_SECONDS > 0 and self.age_seconds > _MISSED * self.every_seconds


def send_canaries() -> object:
    """One in every lane that is not paused and has a live worker. They roll, so this only replaces what is missing, and
    lets those that fly already do so as often as they should by now. Where no worker is left, they come down."""
    lanes = run("canary_lanes", {"lanes": list(LANES), "node_ttl": conf().NODE_TTL_SECONDS})
    requests = [
        build(CANARY, lane, lane=lane, repeat_after=conf().CANARY_SECONDS, tenant=INTERNAL_TENANT)
        for lane, served, _ in lanes
        if served
    ]
    sent = [answer for answer in schedule.schedule(requests) if answer.outcome is Outcome.CREATED]
    if sent:
        SENDER.wake_all()
    changed = change_interval(CANARY, LANES, conf().CANARY_SECONDS, tenant=INTERNAL_TENANT)
    left = {lane for lane, _, known in lanes if not known}
    for lane in left & canaries().keys() if left else ():
        cancel((INTERNAL_TENANT, CANARY, lane), reason="no worker serves this lane any more", by="canary")
    return f"{len(sent)} sent, {changed} changed"


@all_tenants()
def canaries() -> dict[str, Canary]:
    """The canary of each lane that has one."""
    params = {"type": CANARY, "lanes": list(LANES), "tenant": INTERNAL_TENANT}
    return {lane: Canary(lane, *figures) for lane, *figures in run("status_canaries", params)}
