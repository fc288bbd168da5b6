"""Behind a transaction pooler: what a request was allowed ends with its transaction, whoever gets the session next."""

import threading
from collections.abc import Iterator

import psycopg
import pytest
from django.db import DataError, connection, transaction

from django_punctual import InvalidTask, find, schedule, schedule_many
from tasks_app import scope
from tasks_app.core.isolation import WEB
from tasks_app.lifecycle import tenants
from tasks_app.models import ScheduleTask
from tests.support.api import Api
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.pooler import another_client, pooled

pytestmark = [commits, pytest.mark.scale]
ROUNDS = 25
MINE = "SELECT pg_backend_pid(), current_user, coalesce(current_setting('punctual.tenant', true), '')"


@pytest.fixture
def one_session(transactional_db) -> Iterator[None]:
    """For all clients."""
    with pooled(sessions=1):
        yield


def _mine(client: psycopg.Connection) -> tuple[int, str, str]:
    return client.execute(MINE).fetchone()


def test_whoever_gets_the_session_next_has_neither_the_role_nor_the_tenant(one_session):
    schedule("T_QUIET", "theirs", tenant="acme", delay=3600)
    api = Api("acme")
    with another_client() as client:
        before = _mine(client)
        assert api.get("/tasks").body["items"][0]["key"] == "theirs"
        assert _mine(client) == before  # the same session of the server, too

        assert api.get("/tasks/999999").status == 404
        with scope.request():
            scope.settle("acme")
            with connection.cursor() as cursor:
                cursor.execute(MINE)
                assert cursor.fetchone() == (before[0], WEB, "acme")
            with pytest.raises(DataError), connection.cursor() as cursor:
                cursor.execute("SELECT 1 / (SELECT count(*) FROM punctual_job)")
            assert _mine(client) == before
            with pytest.raises(DataError), transaction.atomic():
                ScheduleTask.objects.count()
                connection.cursor().execute("SELECT 1 / (SELECT count(*) FROM punctual_job)")
        assert _mine(client) == before
        client.execute("SELECT count(*) FROM punctual_task")


def test_a_client_that_is_gone_in_the_middle_of_a_request_leaves_nothing_to_the_next(one_session):
    schedule("T_QUIET", "theirs", tenant="acme", delay=3600)
    with another_client() as client:
        before = _mine(client)
        with scope.request():
            scope.settle("acme")
            connection.set_autocommit(False)
            assert ScheduleTask.objects.update(biz_key="changed") == 1
            connection.connection.close()  # as if it had been killed
            connection.close()
        assert _mine(client)[1:] == before[1:]
        assert client.execute("SELECT biz_key FROM punctual_task").fetchall() == [("theirs",)]


def test_tenants_that_share_one_session_never_see_each_other(one_session):
    seen: dict[str, set[str]] = {"acme": set(), "other": set()}
    strange: list[object] = []

    def ask(api: Api, tenant: str, theirs: int) -> None:
        try:
            for number in range(ROUNDS):
                made = api.post("/tasks", {"task_type": "T_QUIET", "key": f"{tenant}-{number}", "delay": 3600})
                found = api.get("/tasks?limit=100")
                seen[tenant] |= {one["key"] for one in found.body["items"]}
                statuses = (made.status, found.status, api.get(f"/tasks/{theirs}").status)
                if statuses != (201, 200, 404):
                    strange.append((tenant, statuses))
        except Exception as error:
            strange.append(error)
        finally:
            connection.close()

    ids = {tenant: schedule("T_QUIET", f"{tenant}-first", tenant=tenant, delay=3600).task_id for tenant in seen}
    asking = [
        threading.Thread(target=ask, args=(Api(tenant), tenant, ids["other" if tenant == "acme" else "acme"]))
        for tenant in seen
    ]
    for one in asking:
        one.start()
    while any(one.is_alive() for one in asking):
        assert {"acme", "other"} <= set(ScheduleTask.objects.values_list("tenant", flat=True))  # as the engine sees it
    for one in asking:
        one.join()

    assert strange == []
    for tenant, keys in seen.items():
        assert keys == {f"{tenant}-first", *(f"{tenant}-{number}" for number in range(ROUNDS))}


def test_tasks_run_and_encrypted_ones_too(one_session):
    tenants.create("acme", operator(), encrypted=True)
    for tenant in ("acme", "default"):
        schedule("T_PLAIN", "a", payload={"return": 7}, tenant=tenant)

    run_due()

    assert [find("T_PLAIN", "a", tenant=tenant).status for tenant in ("acme", "default")] == ["SUCCESS"] * 2
    assert find("T_PLAIN", "a").result == 7


def test_many_tasks_are_scheduled_part_by_part_in_one_transaction(one_session):
    alike = [{"key": f"{n:04}", "payload": {"n": n}} for n in range(2_500)]

    assert {answer.outcome for answer in schedule_many("T_QUIET", alike, delay=3600)} == {"CREATED"}
    with pytest.raises(InvalidTask), transaction.atomic():
        schedule_many("T_QUIET", [*alike, {"key": "9", "payload": {"n": float("nan")}}], tenant="acme")
    with another_client() as client:
        assert client.execute("SELECT tenant, count(*) FROM punctual_task GROUP BY 1").fetchall() == [
            ("default", 2_500)
        ]
