"""Graphs of jobs under fire: 500 roots, each with 19 jobs below it, which fire once while the run lasts."""

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from .workload import Wish, innocent

GRAPHS, NODES = 500, 20
DAY = 86_400  # seconds between two firings: each fires once
WIDEST = 5  # jobs in one layer
MOST_PARENTS = 3
BEFORE_SECONDS = 15.0  # until the first fires, once all are there but for their schedules
LAST_SHARE = 0.75  # of the run, in which all have fired


def make_graphs(dice: random.Random, seconds: float, graphs: int = GRAPHS) -> tuple[float, list[Wish]]:
    """Jobs, their schedules and who waits for whom, written in a few statements as saving them would: that is not what
    is under fire here. Returns when the first of them fires, and a wish for each instance that they must come to."""
    from tasks_app.models import JobCursor, JobDefinition, JobParent

    nodes = [[_node(dice, f"graph-{number}-{place}") for place in range(NODES)] for number in range(graphs)]
    jobs = [
        [_job(wish, place, (7 * number + place) % 16) for place, wish in enumerate(one)]
        for number, one in enumerate(nodes)
    ]
    JobDefinition.objects.bulk_create(job for one in jobs for job in one)
    edges = [edge for one in jobs for edge in _edges(dice, [job.id for job in one])]
    JobParent.objects.bulk_create(JobParent(job=child, parent=parent) for child, parent in edges)
    JobDefinition.objects.filter(id__in={parent for _, parent in edges}).update(has_children=True)
    start = time.time() + BEFORE_SECONDS
    wishes: list[Wish] = []
    for number, (root, *_) in enumerate(jobs):
        fire = datetime.fromtimestamp(int(start + LAST_SHARE * seconds * number / graphs), UTC)
        root.every, root.phase = DAY, int(fire.timestamp()) % DAY
        cursor = JobCursor.objects.create(**JobCursor.key_of(root.schedule), shard=root.shard, next_fire=fire)
        JobDefinition.objects.filter(id=root.id).update(every=DAY, phase=root.phase, cursor=cursor.id)
        label = fire.isoformat().replace("+00:00", "Z")
        wishes += [
            Wish(f"{job.id}:{label}", wish.task_type, wish.lane, 0.0, wish.payload)
            for job, wish in zip(jobs[number], nodes[number], strict=True)
        ]
    return start, wishes


def _job(wish: Wish, place: int, shard: int):
    from tasks_app.models import JobDefinition

    return JobDefinition(
        tenant="default",
        name=wish.key,
        task_type=wish.task_type,
        payload=wish.payload,
        lane=wish.lane,
        max_retry=5,
        catch_up_window=DAY,
        catch_up_most=100,
        plan_from=datetime.now(UTC),
        has_parents=place > 0,
        shard=shard,
    )


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
