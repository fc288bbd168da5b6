"""The database alone keeps tenants apart: every endpoint and page is tried in the scope of another tenant, while our
code takes the caller for the owner of all it asks for."""

import re
from itertools import islice

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from django_punctual import ToWebhook, schedule, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app import scope
from tasks_app.core.isolation import WEB, WEB_ALL, Scope
from tasks_app.core.task import Failure
from tasks_app.database_checks import check_server
from tasks_app.engine.beat.partitions import keep_partitions
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import (
    AlarmChannel,
    AlarmIncident,
    AlarmRule,
    AuditEntry,
    GraphRun,
    IdempotencyRecord,
    JobDefinition,
    OutboxEvent,
    ScheduleTask,
    Secret,
    Tenant,
)
from tasks_app.storage.isolation import CHILDREN, SHARED, missing_steps, tables
from tests.support.alarms import alarm_ids
from tests.support.api import Api
from tests.support.clients import client_of
from tests.support.jobs import by, make
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.moves import RETRY, dead, settled, started
from tests.support.ready import letter_of
from tests.support.scale import some
from tests.support.schema import NO_TOKEN, OPERATIONS, Operation

pytestmark = pytest.mark.django_db

OTHER = Scope(WEB, "other")
WRITTEN = (ScheduleTask, JobDefinition, AlarmRule, AlarmChannel, Secret, Tenant, AuditEntry, OutboxEvent, GraphRun)
LATER = "2090-01-01T00:00:00Z"
BODIES = {
    "/tasks": {"task_type": "T_QUIET", "key": "secret-new"},
    "/tasks/bulk": {"tasks": [{"task_type": "T_QUIET", "key": "secret-new"}], "atomic": True},
    "/tasks/bulk/cancel": {"tasks": [{"task_type": "T_QUIET", "key": "secret-key"}], "atomic": True, "reason": "x"},
    "/tasks/reschedule": {"at": LATER, "task_type": "T_QUIET", "key": "secret-key"},
    "/jobs": {"name": "secret-new", "task_type": "T_QUIET", "cron": "0 9 * * *", "timezone": "UTC"},
    "/campaigns": {"kind": "cancel", "matching": {"task_type": "T_QUIET"}},
    "/calendars": {"name": "secret-new"},
}
ENDS = {
    "/move": {"to": LATER},
    "/reschedule": {"at": LATER},
    "/replay": {"reason": "x", "since": "2026-11-01T00:00:00Z"},
    "/backfill": {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T01:00:00Z"},
}


def theirs() -> dict[str, object]:
    """One of everything of the tenant acme, each with the word `secret` in it; and the ids."""
    a_beat_is_alive()
    job = make("secret-job", tenant="acme")
    root = make("secret-root", tenant="acme")
    verbs.create(JobRequest(name="secret-child", task_type="T_QUIET", parents=["secret-root"]), by(), "acme")
    verbs.trigger(root.id, "now", by(), tenant="acme")
    task = schedule("T_QUIET", "secret-key", tenant="acme", delay=3600, payload={"secret": 1}).task_id
    settled(started("secret-dead", tenant="acme"), Failure("secret-code", "secret message", final=True))
    letter = letter_of(*dead("secret-letter", tenant="acme"))
    campaign = start_matching(Verb.CANCEL, Filter(tenant="acme"), by(), selection="secret-selection")
    told = subscribe("secret-name", events=["*"], to=ToWebhook("https://secret.example.com"), tenant="acme")
    calendar = create_calendar(CalendarRequest("secret-days"), by(), tenant="acme")
    kept = set_secret("secret-secret", by(), tenant="acme").row
    Tenant.objects.filter(name="acme").update(title="secret-title")
    ids = alarm_ids()
    for model in (AlarmRule, AlarmChannel, AlarmIncident):
        model.objects.update(tenant="acme")
    AlarmRule.objects.update(name="secret-rule")
    AlarmChannel.objects.update(name="secret-channel")
    return ids | {
        "job_id": job.id,
        "task_id": task,
        "letter_id": letter,
        "campaign_id": campaign.id,
        "subscription_id": told.id,
        "calendar_id": calendar.id,
        "secret_id": kept.id,
        "run_id": GraphRun.objects.latest("id").id,
        "fire_time": "next",
        "lane": "low",
        "name": "acme",
        "tenant": "acme",
        "host": "secret.example.com",
        "safeguard": "delay",
        "product_code": "secret-1",
        "token": NO_TOKEN,
    }


def rows() -> list:
    return [
        list(model.objects.filter(tenant="acme").order_by("pk").values()) for model in WRITTEN if model is not Tenant
    ]


def body_of(path: str) -> dict:
    return BODIES.get(path) or next((body for end, body in ENDS.items() if path.endswith(end)), {"reason": "x"})


def test_the_database_alone_refuses_every_endpoint(redis, monkeypatch):
    """`make test` asks a third of them: that their own code refuses all, tests/api/test_access.py shows."""
    ids = theirs()
    api = Api("acme")
    monkeypatch.setattr("tests.support.api.refuse_undeclared", lambda *_: None)  # what the database says is no answer

    def leaks(number: int, one: Operation) -> bool:
        redis.flushall()  # so many calls in a minute are too many
        with transaction.atomic():  # a refused statement must not end the test's own transaction
            url = re.sub(r"\{(\w+)\}", lambda found: str(ids.get(found[1], 1)), one.path)
            url += f"?task={ids['task_id']}&run={NO_TOKEN}" if "{token}" in one.path else ""
            body = body_of(one.path) if one.writes else None
            # The record of a key would be refused before anything else: it is sent only where it has to be.
            key = {"Idempotency_Key": f"k{number}"} if one.path.endswith("/trigger") else {}
            answer = api.call(one.method, url, body, If_Match="1", **key)
            transaction.set_rollback(answer.status >= 500)
        told = str(answer.body)
        for echo in ["/secrets", *re.findall(r"secret[\w.-]*", f"{url} {body}")]:  # what the caller has said itself
            told = told.replace(echo, "")
        return "secret" in told

    shown = (one for one in OPERATIONS if not one.writes and leaks(0, one))
    assert len([*islice(shown, 21)]) == 21, "there is something to hide"
    before = rows()
    monkeypatch.setattr(scope, "tenant_scope", lambda _: OTHER)

    assert [one.id for number, one in enumerate(some(OPERATIONS, 0, of=3)) if leaks(number, one)] == []
    assert rows() == before
    assert not IdempotencyRecord.objects.filter(tenant="acme").exists()


def pages(resolver=None, prefix: str = "/"):
    for one in (resolver or get_resolver()).url_patterns:
        where = prefix + str(one.pattern)
        if not isinstance(one, URLPattern):
            yield from pages(one, where)
        elif where.startswith("/admin/") and one.name not in ("logout", "login", None):
            yield where.replace("^", "").replace("$", ""), one.name


IDS = {
    "jobdefinition": "job_id", "job": "job_id", "scheduletask": "task_id", "task": "task_id", "dlqentry": "letter_id",
    "letter": "letter_id", "campaign": "campaign_id", "calendar": "calendar_id", "subscription": "subscription_id",
    "graphrun": "run_id", "alarmrule": "rule_id", "alarmchannel": "channel_id", "alarmincident": "incident_id",
    "tenant": "name", "secret": "secret_id",
}  # fmt: skip


@pytest.fixture
def _session_in_cookies(settings):
    """The requests of a tenant can't read the table of sessions, and so would show nothing here anyway."""
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"


@pytest.mark.usefixtures("_session_in_cookies")
def test_the_database_alone_hides_every_page(monkeypatch):
    """`make test` opens a third of them and orders at another: their own code hides all, as test_roles.py shows."""
    ids = theirs()
    boss = client_of(get_user_model().objects.create_superuser("boss"), raise_request_exception=False)
    before, every = rows(), [where for where, _ in pages()]
    about_rows = [where for where in every if "<" in where and where.split("/")[3] in IDS]
    shown = (where for where in about_rows if leaks(boss, where, ids))
    assert len([*islice(shown, 11)]) == 11, "there is something to hide"
    monkeypatch.setattr(scope, "ALL_TENANTS", OTHER)

    assert [where for where in some(every, 0, of=3) if leaks(boss, where, ids)] == []
    for where in some(about_rows, 1, of=3):
        with transaction.atomic():
            boss.post(filled(where, ids), {"reason": "x", "_confirm": "1", "name": "x"})
            transaction.set_rollback(connection.needs_rollback)
    assert rows() == before


def filled(where: str, ids: dict) -> str:
    about = where.split("/")[3] if where.count("/") > 3 else ""
    value = str(ids.get(IDS.get(about, ""), 1))
    found = re.sub(r"<(int|uuid|slug|str|path)?:?\w+>", value, where)
    return re.sub(r"\(\?P<\w+>(\w+)[^)]*\)", r"\1", found)


def leaks(client: Client, where: str, ids: dict) -> bool:
    with transaction.atomic():
        answer = client.get(filled(where, ids))
        content = answer.getvalue().decode(errors="replace")
        transaction.set_rollback(connection.needs_rollback)
    return re.search(r"secret-\w|secret\.example|secret message", content) is not None


def test_every_table_of_a_tenant_is_protected_and_so_are_partitions_that_are_made_later():
    keep_partitions()
    connection.cursor().execute("SELECT punctual_make_class('yearly')")

    found = tables()

    assert missing_steps() == []
    assert [one.name for one in found if one.rule is not None and not one.forced] == []
    assert {one.root for one in found if one.rule is None} == set(SHARED), (
        "a new table: in SHARED with a reason, or a rule"
    )
    assert set(CHILDREN) <= {one.root for one in found}
    assert {"punctual_past_yearly", "punctual_attempt_default"} < {one.name for one in found}
    assert sum(one.name.startswith("punctual_past_default_") for one in found) > 2


@pytest.mark.parametrize("scope_of", ["", "SET LOCAL punctual.tenant = ''", "SET LOCAL punctual.tenant = 'other'"])
def test_the_role_sees_nothing_without_a_tenant_nor_with_another(scope_of):
    theirs()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {WEB}; {scope_of}")
        for table in tables():
            if table.rule is not None and table.name == table.root:  # partitions can't be read on their own
                cursor.execute(f"SELECT count(*) FROM {table.name}")
                assert cursor.fetchone() == (0,), table.name
        cursor.execute("SELECT count(*) FROM punctual_any_task")
        assert cursor.fetchone() == (0,)
        transaction.set_rollback(True)


@pytest.mark.parametrize(("tenant", "sees"), [("acme", True), ("other", False), ("", False)])
def test_the_views_of_the_data_model_show_a_tenant_its_own_rows_only(tenant, sees):
    theirs()
    job, dead = JobDefinition.objects.get(name="secret-job").id, ScheduleTask.objects.get(biz_key="secret-dead").id
    failed = started("secret-failed", tenant="acme")
    settled(failed, RETRY)
    retried = failed.tasks[0].id
    seen = {
        f"SELECT job_id FROM punctual_job_definition WHERE job_id = {job}": job,
        f"SELECT instance_id FROM punctual_job_instance WHERE instance_id = {dead}": dead,
        f"SELECT instance_id FROM punctual_retry_entry WHERE instance_id = {retried}": retried,
        f"SELECT instance_id FROM punctual_dlq_entry WHERE instance_id = {dead}": dead,
    }

    def read(role: str) -> dict[str, list[tuple]]:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL ROLE {role}; SET LOCAL punctual.tenant = '{tenant}'")
            found = {statement: cursor.execute(statement).fetchall() for statement in seen}
            transaction.set_rollback(True)
        return found

    assert read(WEB_ALL) == {statement: [(one,)] for statement, one in seen.items()}
    assert read(WEB) == {statement: [(one,)] if sees else [] for statement, one in seen.items()}


def test_a_row_can_not_be_written_for_another_tenant_nor_given_away():
    task = schedule("T_QUIET", "own", tenant="other", delay=3600).task_id
    with scope.request():
        scope.settle("other")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Secret.objects.create(tenant="acme", name="x", values=[], created_by="x")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            ScheduleTask.objects.filter(id=task).update(tenant="acme")
        assert ScheduleTask.objects.get().tenant == "other"


@pytest.mark.parametrize("tenant", ["other", None])
def test_no_request_can_make_a_sieve_forget(tenant):
    with scope.request():
        scope.settle(tenant)
        for statement in ("UPDATE punctual_sieve SET ready = TRUE", "DELETE FROM punctual_sieve_late"):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                connection.cursor().execute(statement)


def test_a_statement_without_a_scope_is_an_error():
    with scope.request(), pytest.raises(scope.ScopeMissing, match=r"without a scope: .*punctual_task"):
        ScheduleTask.objects.count()
    assert ScheduleTask.objects.count() == 0, "outside of a request there is none"


def test_the_role_ends_with_the_request_even_in_a_transaction_that_goes_on():
    schedule("T_QUIET", "theirs", tenant="acme", delay=3600)
    with scope.request():
        scope.settle("other")
        assert ScheduleTask.objects.count() == 0
        with pytest.raises(ZeroDivisionError), transaction.atomic(), scope.all_tenants():
            assert ScheduleTask.objects.count() == 1
            raise ZeroDivisionError
        assert ScheduleTask.objects.count() == 0, "the settings went back with the savepoint"
        with scope.all_tenants():
            before = transaction.savepoint()
        assert ScheduleTask.objects.count() == 0
        transaction.savepoint_rollback(before)
        assert ScheduleTask.objects.count() == 0, "and back to those of another scope"
    assert ScheduleTask.objects.count() == 1
    assert role() == "none"


def role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('role')")
        return cursor.fetchone()[0]


@commits
def test_nothing_is_left_in_a_session_that_somebody_else_gets_next():
    schedule("T_QUIET", "theirs", tenant="acme", delay=3600)
    with scope.request():
        scope.settle("acme")
        assert ScheduleTask.objects.count() == 1
        assert connection.connection.info.transaction_status.name == "IDLE", "each statement has its own transaction"
        with pytest.raises(ProgrammingError), connection.cursor() as cursor:
            cursor.execute("SELECT nothing")
        with connection.cursor() as cursor:
            assert connection.connection.execute("SELECT current_user").fetchone()[0] != WEB
            cursor.execute("SELECT current_user, current_setting('punctual.tenant')")
            assert cursor.fetchone() == (WEB, "acme")
        scope.settle("other")
        assert list(ScheduleTask.objects.all()) == []
    assert role() == "none"


@pytest.mark.usefixtures("_session_in_cookies")
def test_a_page_that_is_streamed_keeps_its_scope(monkeypatch):
    schedule("T_QUIET", "secret-key", tenant="acme", delay=3600)
    boss = client_of(get_user_model().objects.create_superuser("boss"))
    where = next(where for where, _ in pages() if where.endswith("/export/") and "task" in where)
    assert "secret-key" in boss.get(where).getvalue().decode()

    monkeypatch.setattr(scope, "ALL_TENANTS", OTHER)
    assert "secret-key" not in boss.get(where).getvalue().decode()


def test_a_check_says_what_is_missing_once_there_are_several_tenants():
    def found() -> list[str]:
        return [one.msg for one in check_server(databases=["default"])]

    assert found() == []
    Tenant.objects.create(name="acme")
    assert "is a superuser" in found()[0]
    connection.cursor().execute("ALTER TABLE punctual_secret NO FORCE ROW LEVEL SECURITY")
    assert "it lacks roles or policies" in found()[0]


def test_the_command_shows_and_mends_what_is_missing(capsys):
    connection.cursor().execute("DROP POLICY punctual_tenant ON punctual_secret")

    call_command("database", "roles", "--dry-run")
    assert (
        'CREATE POLICY punctual_tenant ON "punctual_secret" AS RESTRICTIVE TO punctual_web' in capsys.readouterr().out
    )
    call_command("database", "roles")
    assert "1 statement run." in capsys.readouterr().out
    call_command("database", "roles")
    assert "Nothing was missing." in capsys.readouterr().out
    with pytest.raises(CommandError, match="--login nobody: the server has no such role"):
        call_command("database", "roles", "--login", "nobody")
