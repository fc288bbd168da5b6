"""Graphs of jobs under fire: 500 roots, each with 19 jobs below it, which fire once while the run lasts."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from .workload import Wish, innocent

GRAPHS, NODES = 500, 20
WIDEST = 5  # jobs in one layer
MOST_PARENTS = 3
BEFORE_SECONDS = 20.0  # from when the first is made until it fires
LAST_SHARE = 0.75  # of the run, in which all have fired


def make_graphs(dice: random.Random, start: float, seconds: float, graphs: int = GRAPHS) -> list[Wish]:
    """Jobs and who waits for whom, written by SQL as saving them would: that is not what is under fire here. Returns a
    wish for each instance that they must come to."""
    from tasks_app.lifecycle.audit import Operator
    from tasks_app.lifecycle.jobs import verbs
    from tasks_app.lifecycle.jobs.request import JobRequest
    from tasks_app.models import JobDefinition, JobParent

    wishes: list[Wish] = []
    for number in range(graphs):
        fire = datetime.fromtimestamp(int(start + LAST_SHARE * seconds * number / graphs), UTC)
        root, *below = [_node(dice, f"graph-{number}-{place}") for place in range(NODES)]
        what = {"name": root.key, "task_type": root.task_type, "payload": root.payload, "lane": root.lane}
        request = JobRequest(**what, every=86_400, start_at=fire + timedelta(days=30))
        job = verbs.create(request, Operator("chaos", "a graph")).job
        same = {"tenant": job.tenant, "max_retry": job.max_retry, "plan_from": job.plan_from, "has_parents": True}
        same |= {"catch_up_window": job.catch_up_window, "catch_up_most": job.catch_up_most}
        children = JobDefinition.objects.bulk_create(
            JobDefinition(
                name=wish.key,
                task_type=wish.task_type,
                payload=wish.payload,
                lane=wish.lane,
                shard=(job.shard + place) % 16,
                **same,
            )
            for place, wish in enumerate(below)
        )
        edges = list(_edges(dice, [job.id, *(child.id for child in children)]))
        JobParent.objects.bulk_create(JobParent(job=child, parent=parent) for child, parent in edges)
        JobDefinition.objects.filter(id__in={parent for _, parent in edges}).update(has_children=True)
        verbs.edit(job.id, {"start_at": fire}, Operator("chaos", "all of it is there"))
        label = fire.isoformat().replace("+00:00", "Z")
        ids = [job.id, *(child.id for child in children)]
        wishes += [
            Wish(f"{one}:{label}", wish.task_type, wish.lane, 0.0, wish.payload)
            for one, wish in zip(ids, [root, *below], strict=True)
        ]
    return wishes


def _node(dice: random.Random, name: str) -> Wish:
    return innocent(dice, name)


def _edges(dice: random.Random, jobs: Sequence[int]) -> list[tuple[int, int]]:
    """The first is the root; each layer of the others waits for some of the layer before it."""
    edges, before, rest = [], [jobs[0]], list(jobs[1:])
    while rest:
        layer, rest = rest[: (width := dice.randint(1, WIDEST))], rest[width:]
        for job in layer:
            parents = dice.sample(before, min(len(before), dice.randint(1, MOST_PARENTS)))
            edges += [(job, parent) for parent in parents]
        before = layer
    return edges


_OUT_OF_ORDER = """
WITH node AS MATERIALIZED (
    SELECT t.id, t.job, t.biz_key, substr(t.biz_key, length(t.job::text) + 2) AS label, t.updated_at, b.started_at
    FROM punctual_any_task t LEFT JOIN punctual_any_batch b ON b.batch_no = t.ran_in
    WHERE t.job IS NOT NULL AND t.current
)
SELECT c.biz_key, p.biz_key
FROM punctual_job_parent e
JOIN node c ON c.job = e.job
JOIN node p ON p.job = e.parent AND p.label = c.label
WHERE c.started_at < p.updated_at
"""


def out_of_order() -> list[str]:
    """Tasks whose batch started before one that they wait for was settled: both by the database's own clock."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_OUT_OF_ORDER)
        return [f"{child} started before {parent} had ended" for child, parent in cursor.fetchall()]
