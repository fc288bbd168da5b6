"""`manage.py scale` really starts a worker and a beat, which do the work, and stops them within its bounds."""

from django.db.models.functions import Now

from django_punctual import schedule
from tasks_app.engine import nodes
from tasks_app.models import Node
from tests.support.processes import wait_for
from tests.support.wait import wait_until


def test_a_worker_and_a_beat_are_started_do_the_work_and_are_stopped(stack):
    options = ["--workers", "1-2", "--beats", "0-1", "--slots", "1", "--every", "0.2", "--calm", "0", "--settle", "60"]
    options += ["--skip-checks"]  # which load all pages
    scaler = stack.run("scale", ["django", "scale", *options], CELERY_SKIP_CHECKS="1")
    try:
        wait_for(stack, schedule("T_QUIET", "a").task_id, timeout=90)
        assert Node.objects.filter(kind=Node.WORKER).count() == 1

        # Another machine has enough of both: the beat goes, and so would the worker, but for the bounds.
        beat, worker = nodes.new_node_id(), nodes.new_node_id()
        Node.objects.create(node_id=beat, kind=Node.BEAT, name="elsewhere", renewed_at=Now())
        mine = Node.objects.exclude(name="elsewhere")

        def only_the_other() -> bool:
            nodes.report_worker(worker, "elsewhere", 4, ["default"])
            Node.objects.filter(node_id=beat).update(renewed_at=Now(), seen_at=Now())
            return not mine.filter(kind=Node.BEAT).exists()

        wait_until(only_the_other, 40, describe=stack.logs)
        assert mine.filter(kind=Node.WORKER).count() == 1
    finally:
        ended = scaler.terminate(timeout=40)

    assert ended == 0
    wait_until(lambda: not mine.exists(), 20, describe=lambda: list(Node.objects.values_list("kind", "name")))
