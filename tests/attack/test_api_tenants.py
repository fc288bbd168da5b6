"""API tokens can't change internal tasks, which belong to the scheduler and the bundled apps.

Only a token that was issued for the internal tenant can read them.
"""

import pytest

from inventory_app.lifecycle import add
from tasks_app.engine.canary import send_canaries
from tasks_app.models import ScheduleTask
from tests.support.articles import approved
from tests.support.live import a_beat_is_alive, a_worker_is_alive

LATER = "2090-01-01T00:00:00Z"
OPERATIONS = [("cancel", None), ("retry", None), ("reschedule", {"at": LATER})]


@pytest.fixture
def internal_tasks(settings) -> list[ScheduleTask]:
    """Canaries, the publish task of an article, and the rolling task of a product."""
    a_beat_is_alive()
    a_worker_is_alive()
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    send_canaries()
    approved()
    add("P1", "a product")
    return list(ScheduleTask.objects.filter(due_at__isnull=False))


@pytest.mark.parametrize("tenant", ["default", "acme"])
def test_a_token_of_another_tenant_cannot_read_or_change_internal_tasks(caller, internal_tasks, tenant):
    api = caller(tenant)
    before = list(ScheduleTask.objects.order_by("id").values())
    assert {task.task_type for task in internal_tasks} >= {"PUNCTUAL_CANARY", "ARTICLE_PUBLISH", "STOCK_SYNC"}

    assert api.get("/tasks").body["items"] == []
    for task in internal_tasks:
        assert api.get(f"/tasks/{task.id}").status == 404
        for operation, body in OPERATIONS:
            assert api.post(f"/tasks/{task.id}/{operation}", body).status == 404
        same_unit = {"task_type": task.task_type, "key": task.biz_key, "at": LATER}
        assert api.post("/tasks/reschedule", same_unit).status == 403
        assert api.post("/tasks", same_unit).status == 403

    assert list(ScheduleTask.objects.order_by("id").values()) == before


def test_a_token_of_the_internal_tenant_reads_internal_tasks_but_cannot_cancel_them(caller, internal_tasks):
    api = caller("internal", internal=True)

    assert len(api.get("/tasks").body["items"]) == ScheduleTask.objects.count()
    assert api.post(f"/tasks/{internal_tasks[0].id}/cancel").code == "SCH_403_TYPE_CLOSED"
