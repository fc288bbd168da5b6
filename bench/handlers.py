"""The handlers that are measured."""

import os

from bench.models import BenchEffect
from tasks_app.client import execute, handler


@handler("BENCH_NOOP")
def noop(task):
    pass


@handler("BENCH_EFFECT", transactional=True)
def effect(task):
    execute("INSERT INTO bench_effect (task_id) VALUES (%s)", [task.id])


@handler("BENCH_EFFECT_ORM", transactional=True)
def effect_by_orm(task):
    BenchEffect.objects.create(task_id=task.id)


@handler("BENCH_EFFECT_BATCH", transactional=True, batch=True)
def effect_batch(tasks):
    BenchEffect.objects.bulk_create([BenchEffect(task_id=task.id) for task in tasks])


@handler("BENCH_IO", concurrency=32, timeout=30)
def io(task):
    from bench.http import call

    call(os.environ["BENCH_IO_ADDRESS"])
