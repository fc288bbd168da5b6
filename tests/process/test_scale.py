"""`manage.py scale` really starts a worker and a beat, which do the work, and ends them with itself."""

from tasks_app.client import schedule
from tasks_app.models import Node
from tests.support.processes import wait_for
from tests.support.wait import wait_until


def test_a_worker_and_a_beat_are_started_do_the_work_and_end(stack):
    options = ["--workers", "1-2", "--beats", "1-1", "--slots", "1", "--every", "0.2"]
    scaler = stack.run("scale", ["django", "scale", *options])
    try:
        wait_for(stack, schedule("T_QUIET", "a").task_id)
        assert Node.objects.filter(kind=Node.WORKER).count() == 1
    finally:
        ended = scaler.terminate(timeout=40)

    assert ended == 0
    wait_until(lambda: not Node.objects.exists(), 20, describe=lambda: list(Node.objects.values_list("kind", "name")))
