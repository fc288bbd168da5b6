"""The role that docs/deploy.md gives to beats, workers and web is enough for them, and not for more."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError, ProgrammingError, connection
from django.utils import timezone

from django_punctual import ToFunction, cancel, schedule, subscribe
from tasks_app.engine.beat.mover import move
from tasks_app.engine.beat.partitions import keep_partitions
from tasks_app.engine.beat.relay.windows import merge_windows
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.beat.tend import tend
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.storage import read_storage
from tasks_app.models import AuditEntry, ScheduleTask
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, subscribed
from tests.support.stack import ROOT

pytestmark = commits


@pytest.fixture
def as_app() -> Iterator[None]:
    """This connection has that role's rights and no others."""
    roles, grants = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL)
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the role that the tests were given can't make others")
        for statement in re.findall(r"CREATE ROLE [\w ]+;", roles):
            cursor.execute(statement)
        cursor.execute(grants)
        cursor.execute("SET ROLE punctual_app")
        yield
        cursor.execute("RESET ROLE; DROP OWNED BY punctual_app, punctual_owner; DROP ROLE punctual_app, punctual_owner")


def test_it_can_do_what_a_fleet_does(as_app):
    done = schedule("T_QUIET", "a").task_id
    schedule("T_QUIET", "b", delay=3600)

    run_due()
    cancel("T_QUIET", "b")
    lanes.pause("low", reason="tea", by="me")
    prune()
    keep_partitions()
    tend()
    move()
    with subscribed() as received:
        subscription = subscribe("test", events=["*"], to=ToFunction("test"), since=timezone.now() - timedelta(hours=1))
        cut()
        courier_of(subscription).run_once()
        merge_windows()

    assert received.events
    assert ScheduleTask.objects.get(id=done).status == "SUCCESS"
    assert read_status().lanes
    assert read_storage().families
    assert AuditEntry.objects.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE punctual_audit_entry DISABLE TRIGGER ALL",
        "TRUNCATE punctual_task",
        "DROP TABLE punctual_task",
        "CREATE TABLE public.mine (id int)",
        "DROP TABLE punctual_past_default",
        "DROP TABLE punctual_outbox_before",
        "ALTER TABLE punctual_audit_entry DETACH PARTITION punctual_audit_entry_before",
    ],
)
def test_it_can_not_change_the_tables_themselves(as_app, statement):
    with pytest.raises(ProgrammingError, match=r"must be owner|permission denied"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_it_can_not_drop_what_is_young_of_the_audit_trail(as_app):
    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute("SELECT punctual_drop_partition('punctual_audit_entry', 'punctual_audit_entry_before')")
