"""The scheduler's own tasks and the apps' are out of reach of every token that was not issued for them by name."""

import pytest

from inventory_app.lifecycle import add
from tasks_app.engine.canary import send_canaries
from tasks_app.models import ScheduleTask
from tests.support.articles import approved
from tests.support.live import a_beat_is_alive, a_worker_is_alive

VERBS = [("cancel", None), ("retry", None), ("reschedule", {"at": "2090-01-01T00:00:00Z"})]


@pytest.fixture
def ours(settings) -> list[ScheduleTask]:
    """Canaries, the publish task of an article, and the rolling task of a product."""
    a_beat_is_alive()
    a_worker_is_alive()
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    send_canaries()
    approved()
    add("P1", "a product")
    return list(ScheduleTask.objects.filter(due_at__isnull=False))


@pytest.mark.parametrize("tenant", ["default", "acme"])
def test_a_token_neither_sees_nor_touches_them(caller, ours, tenant):
    one, before = caller(tenant), list(ScheduleTask.objects.order_by("id").values())
    assert {task.task_type for task in ours} >= {"PUNCTUAL_CANARY", "ARTICLE_PUBLISH", "STOCK_SYNC"}

    assert one.get("/tasks").body["items"] == []
    for task in ours:
        assert one.get(f"/tasks/{task.id}").status == 404
        for verb, body in VERBS:
            assert one.post(f"/tasks/{task.id}/{verb}", body).status == 404
        again = {"task_type": task.task_type, "key": task.biz_key, "at": "2090-01-01T00:00:00Z"}
        assert one.post("/tasks/reschedule", again).status == one.post("/tasks", again).status == 403

    assert list(ScheduleTask.objects.order_by("id").values()) == before


def test_even_one_of_the_internal_tenant_only_reads_what_is_closed(caller, ours):
    one = caller("internal", internal=True)

    assert len(one.get("/tasks").body["items"]) == ScheduleTask.objects.count()
    assert one.post(f"/tasks/{ours[0].id}/cancel").code == "SCH_403_TYPE_CLOSED"
