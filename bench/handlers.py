"""The handlers that are measured."""

import os

from django.db import connection

from bench.models import BenchEffect
from bench.peers.programs import record, work
from django_punctual import handler, write


@handler("BENCH_NOOP", api=True)
def noop(task):
    pass


@handler("BENCH_STAMP")
def stamp(task):
    record.stamp(work.number_of(task.key))


@handler("BENCH_READ")
def read(task):
    _ = task.payload


@handler("BENCH_READ_ENCRYPTED", encrypted=True)
def read_encrypted(task):
    _ = task.payload


@handler("BENCH_DUE")
def due(task):
    """Recorded by the time that it was asked for, in microseconds: enough to know how late it was."""
    record.stamp(round(task.execute_time.timestamp() * 1_000_000))


@handler("BENCH_MARK")
def mark(task):
    """An effect outside any transaction: run twice, it is there twice."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_effect (task_id) VALUES (%s)", [task.id])


@handler("BENCH_EFFECT", transactional=True)
def effect(task):
    write("INSERT INTO bench_effect (task_id) VALUES (%s)", [task.id])


@handler("BENCH_EFFECT_ORM", transactional=True)
def effect_by_orm(task):
    BenchEffect.objects.create(task_id=task.id)


@handler("BENCH_EFFECT_BATCH", transactional=True, batch=True)
def effect_batch(tasks):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_effect (task_id) SELECT unnest(%s)", [[task.id for task in tasks]])


@handler("BENCH_IO", concurrency=32, timeout=30)
def io(task):
    from bench.http import call

    call(os.environ["BENCH_IO_ADDRESS"])


@handler("BENCH_IO_ASYNC", concurrency=32, timeout=30)
async def io_async(task):
    from bench.http import call_async

    await call_async(os.environ["BENCH_IO_ADDRESS"])
