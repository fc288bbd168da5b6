"""Publishes batches: one Celery message each, holding the batch number and nothing else."""

from collections.abc import Sequence

from celery import current_app

from tasks_app.lifecycle.claim import ClaimedBatch

RUN_BATCH = "punctual.run_batch"


def publish(batches: Sequence[ClaimedBatch]) -> None:
    with current_app.producer_or_acquire() as producer:
        for batch in batches:
            current_app.send_task(
                RUN_BATCH,
                args=(batch.batch_no,),
                queue=batch.lane,
                producer=producer,
                ignore_result=True,
                retry=False,
            )
