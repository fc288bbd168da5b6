"""Rules about who is there: beats, workers and the lanes they serve, the broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tasks_app.conf import MAIN_SITE, conf
from tasks_app.core.said import said, said_of
from tasks_app.engine.celery_app import command
from tasks_app.engine.queues import key_of
from tasks_app.models import Node

from .problem import Problem, are_due, notice, trouble

if TYPE_CHECKING:
    from ..status import NodeView, SchedulerStatus


def nobody_dispatches(nodes: Sequence[NodeView], site: str | None = MAIN_SITE) -> str | None:
    """Who is missing, in a sentence; None if a beat dispatches. `site` is the active one; None: there is none."""
    live = [node for node in nodes if node.live]
    if any(node.dispatching for node in live):
        return None
    if site is None:
        return said("Nothing is dispatched: all sites stand by. `manage.py site activate NAME` says which one works.")
    beats = [node for node in live if node.kind == Node.BEAT]
    if not beats:
        return said("Nothing is dispatched: no beat is alive. Start `{command}`.", command=command("beat"))
    if not any(node.site == site for node in beats):
        others = ", ".join(sorted({node.site for node in beats}))
        return said(
            "Nothing is dispatched: no beat of the active site {site!r} is alive. Start one, or let another site take "
            "over with `manage.py site activate NAME`; there are beats at: {others}.",
            site=site,
            others=others,
        )
    return said(
        "Nothing is dispatched: beats are alive, but none renews its shards. They can't reach the broker, or "
        "their dispatchers hang: see their logs. Restart those that log nothing."
    )


def a_beat_is_alive(status: SchedulerStatus) -> bool:
    """At the site that works, or that should."""
    site = status.installation.wanted_site
    return any(one.live and one.kind == Node.BEAT and site in (None, one.site) for one in status.nodes)


def no_dispatcher(status: SchedulerStatus) -> Iterator[Problem]:
    if missing := nobody_dispatches(status.nodes, status.installation.wanted_site):
        yield trouble(missing)


def no_worker(status: SchedulerStatus) -> Iterator[Problem]:
    site = status.installation.wanted_site
    live = [node for node in status.nodes if node.live and node.kind == Node.WORKER and site in (None, node.site)]
    if not live:
        start = said("Start `{command}`.", command=command("worker"))
        yield trouble(said("No task can run: no worker is alive."), start)
    elif all(node.drained for node in live):
        yield trouble(said("No task can run: every worker is drained."), _drained_way_out(live))


def silent_broker(status: SchedulerStatus) -> Iterator[Problem]:
    if any(lane.queued is None and not lane.queue_broken for lane in status.lanes):
        yield trouble(said("The broker does not answer: nothing is handed out until it does, and nothing is lost."))


def broken_queue(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.queue_broken:
            yield trouble(
                said(
                    "Lane {lane!r}: its queue is not a list. Somebody wrote something else under {key} in Redis. "
                    "Nothing in the lane runs, and nothing is lost.",
                    lane=lane.lane,
                    key=key_of(lane.lane),
                ),
                said("Delete that key, and the lane recovers within seconds."),
            )


def shards_without_dispatcher(status: SchedulerStatus) -> Iterator[Problem]:
    orphans = [view.shard for view in status.shards if view.holder is None]
    if orphans and nobody_dispatches(status.nodes) is None:
        which = ", ".join(map(str, orphans))
        yield trouble(
            said_of(
                "No beat dispatches shard {which}.", "No beat dispatches shards {which}.", len(orphans), which=which
            ),
            said_of("It is taken over within seconds.", "They are taken over within seconds.", len(orphans)),
        )


def unknown_shards(status: SchedulerStatus) -> Iterator[Problem]:
    unknown = conf().SHARDS - len(status.shards)
    if status.shards and unknown > 0:
        yield trouble(
            said(
                'PUNCTUAL["SHARDS"] is {wanted} here, but the beats know {known}: nobody claims what is scheduled in '
                "the other {unknown}.",
                wanted=conf().SHARDS,
                known=len(status.shards),
                unknown=unknown,
            ),
            said("Restart a beat with this setting."),
        )


def unknown_limits(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.limits:
        if not one.declared:
            yield trouble(
                said("No beat knows the limit of type {type!r}, so nobody claims its tasks.", type=one.task_type),
                said("Restart the beats with the code that has its handler."),
            )


def lane_without_worker(status: SchedulerStatus) -> Iterator[Problem]:
    if not any(lane.slots for lane in status.lanes):
        return  # nobody runs anything, which is told
    for lane in status.lanes:
        if lane.slots or lane.paused:
            continue
        start = said("Start a worker that does: `{command}`.", command=command(f"worker -Q {lane.lane}"))
        drained = [node for node in status.nodes if node.live and node.drained and lane.lane in node.lanes]
        if drained and lane.due:
            words = said(
                "Every worker that consumes lane {lane!r} is drained, and {due} in it.",
                lane=lane.lane,
                due=are_due(lane),
            )
            yield trouble(words, _drained_way_out(drained))
        elif drained:
            words = said("Every worker that consumes lane {lane!r} is drained.", lane=lane.lane)
            yield notice(words, _drained_way_out(drained))
        elif lane.due:
            words = said("No worker consumes lane {lane!r}, and {due} in it.", lane=lane.lane, due=are_due(lane))
            yield trouble(words, start)
        elif lane.canary_seconds is not None or any(lane.lane in node.lanes for node in status.nodes):
            gone = said("No worker consumes lane {lane!r} any more: its last worker has gone.", lane=lane.lane)
            yield notice(gone, start)


def _drained_way_out(drained: list[NodeView]) -> str:
    first = drained[0]
    return said(
        "Start another worker, or let {name} take batches again: `manage.py worker resume {name}`. {by} drained it: "
        "{reason}",
        name=first.name,
        by=first.drain.by,
        reason=first.drain.reason,
    )
