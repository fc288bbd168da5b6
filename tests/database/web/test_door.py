"""The door of a web process, against a real PostgreSQL that is slow, stalled, or out of connections."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import ProgrammingError, connection, connections
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from chaos.proxy import Proxy
from django_punctual import schedule
from tasks_app.api import api
from tasks_app.api.door import BY_LANE, LEVERS, REPORTS, WATCHING
from tasks_app.console import guard
from tasks_app.core.lanes import LANES
from tasks_app.core.shedding import Kind, Knock, Level
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.web import door as doors
from tasks_app.engine.web import riding, standby
from tasks_app.engine.web.knock import Knocking
from tasks_app.models import ScheduleTask
from tests.support.api import Api
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.stack import database_proxy

pytestmark = pytest.mark.django_db

SLOW, GONE = Knock(600.0), Knock(10.0, reached=False)


@pytest.fixture
def door(settings):
    """This process's, as if it had just started; it measures nothing by itself."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHED_MS": 500.0}
    before, doors.DOOR.__dict__ = doors.DOOR.__dict__, doors.Door().__dict__
    yield doors.DOOR
    doors.DOOR.__dict__ = before


def strained(door, strain: Knock) -> Level:
    return [door.feed(strain) for _ in range(2)][-1]


@contextmanager
def database_at(**changed):
    """Threads that begin now find the database there; this one keeps its connection."""
    settings = connections.settings["default"]
    before = dict(settings)
    settings.update(changed)
    try:
        yield
    finally:
        settings.clear()
        settings.update(before)


@pytest.fixture
def proxy():
    found = database_proxy()
    yield found
    found.close()


def through(proxy: Proxy):
    return database_at(HOST="127.0.0.1", PORT=str(proxy.port))


# ---- what is measured ----


def test_a_knock_says_how_many_connections_are_in_use():
    found = Knocking().begin().wait(20)
    assert found.reached and 0 < found.used < 1


@commits
def test_a_limit_of_the_role_counts_too():
    cursor_execute("CREATE ROLE door_limited LOGIN PASSWORD 'x' CONNECTION LIMIT 4")
    try:
        with database_at(USER="door_limited", PASSWORD="x"):
            assert Knocking().begin().wait(20).used == 0.25
    finally:
        cursor_execute("DROP ROLE door_limited")


@commits
def test_a_limit_of_the_database_counts_too():
    name = connection.settings_dict["NAME"]
    cursor_execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 2')
    try:
        assert Knocking().begin().wait(20).used >= 1.0
    finally:
        cursor_execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1')


@commits
def test_without_a_connection_to_be_had_the_knock_fails_and_writes_are_refused(door):
    """As with max_connections taken up: the one that the role may have is in use."""
    cursor_execute("CREATE ROLE door_single LOGIN PASSWORD 'x' CONNECTION LIMIT 1")
    try:
        info = connection.connection.info
        taken = psycopg.connect(host=info.host, port=info.port, dbname=info.dbname, user="door_single", password="x")
        try:
            with database_at(USER="door_single", PASSWORD="x"):
                found = Knocking().begin().wait(20)
        finally:
            taken.close()
    finally:
        cursor_execute("DROP ROLE door_single")
    assert not found.reached and strained(door, found) is Level.WRITES


def test_a_slow_database_shows_in_the_knock(door, proxy, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHED_MS": 100.0}
    proxy.delay(0.1)
    with through(proxy):
        found = Knocking().begin().wait(60)
    assert found.reached and found.ms >= 400 and strained(door, found) is Level.WRITES


def test_a_knock_that_hangs_counts_before_it_is_over(door, proxy, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHED_MS": 0.01}
    proxy.stall()
    with through(proxy):
        knocking = door.ride()
        assert knocking.wait(0.01).reached is False
        assert door.level is Level.WRITES
        proxy.heal()
        assert knocking.wait(60).reached


def test_knocks_ride_on_real_requests_only(door):
    Client().get("/api/v1/live")
    assert not door.measured and door._knocking is None

    riding.before_request(sender=riding.WSGIHandler)
    assert door.measured and door._knocking.wait(20).reached


def test_a_level_that_nobody_confirms_is_forgotten(door):
    assert strained(door, GONE) is Level.WRITES
    door._fed_at -= doors.FORGET_SECONDS
    assert door.level is Level.OPEN


def test_requests_that_are_stuck_refuse_reads(door, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHED_MS": 50.0, "SHED_IN_FLIGHT": 2}
    with door.inside(), door.inside():
        for request in door._inside:
            door._inside[request] -= 1.0
        assert door.level is Level.READS and door.refusal(Kind.WRITE) is None
        assert "requests are stuck in it" in door.refusal(Kind.READ).words
    assert door._inside == {} and door.level is Level.OPEN


# ---- who is refused ----


def test_reads_are_refused_first(door):
    api = Api()
    assert strained(door, SLOW) is Level.READS

    refused = api.get("/tasks")
    assert (refused.status, refused.code) == (503, "SCH_503_OVERLOADED")
    assert 5 <= int(refused.headers["Retry-After"]) <= 15 and "it answers slowly" in refused.body["detail"]
    assert api.post("/tasks", {"task_type": "T_QUIET", "key": "a"}).status == 201


def test_then_writes_that_can_wait(door):
    api = Api()
    assert strained(door, GONE) is Level.WRITES
    assert api.post("/tasks", {"task_type": "T_QUIET", "key": "a"}).code == "SCH_503_OVERLOADED"
    assert api.post("/jobs", {}).code == "SCH_503_OVERLOADED"
    assert not ScheduleTask.objects.exists()


def test_health_levers_and_the_urgent_lane_are_never_refused(door, admin_client):
    task = schedule("T_QUIET", "there", delay=3_600)
    assert strained(door, GONE) is Level.WRITES

    of_tenant = {"headers": {"X-Tenant": "default"}}
    urgent = {"task_type": "T_QUIET", "key": "now", "lane": "critical"}
    for body, where in ((urgent, "tasks"), ({"tasks": [urgent | {"key": "too"}]}, "tasks/bulk")):
        answer = admin_client.post(f"/api/v1/{where}", json.dumps(body), content_type="application/json", **of_tenant)
        assert answer.status_code in (200, 201), answer.content
    mixed = {"tasks": [urgent, {"task_type": "T_QUIET", "key": "later"}]}
    answer = admin_client.post("/api/v1/tasks/bulk", json.dumps(mixed), content_type="application/json", **of_tenant)
    assert answer.json()["code"] == "SCH_503_OVERLOADED"

    assert Client().get("/api/v1/live").status_code == 200
    assert admin_client.get("/api/v1/scheduler/health").status_code == 200
    assert admin_client.get("/api/v1/scheduler/slo").status_code == 200
    answer = admin_client.post(
        f"/api/v1/tasks/{task.task_id}/cancel", "{}", content_type="application/json", **of_tenant
    )
    assert answer.status_code == 200


def test_a_caller_of_schedule_is_never_refused(door):
    assert strained(door, GONE) is Level.WRITES
    assert schedule("T_QUIET", "inside").task_id


def test_the_console_says_what_is_wrong_and_leaves_the_lever_open(door, admin_client):
    strained(door, SLOW)
    answer = admin_client.get("/admin/?x=1")
    assert answer.status_code == 503 and answer["Retry-After"] and "default-src" in answer["Content-Security-Policy"]
    page = answer.content.decode()
    assert "it answers slowly" in page and 'href="/admin/?x=1"' in page
    assert admin_client.get("/admin/punctual/node/lane/low/").status_code == 200
    assert Client().get("/admin/login/").status_code == 200

    strained(door, GONE)
    assert admin_client.post("/admin/punctual/calendar/add/").status_code == 503


# What can wait, by the names of the views: whoever adds an endpoint decides, here or among the levers.
WRITES = """
    add_subscription_secret backfill_job backfill_jobs create_alarm_channel create_alarm_rule create_calendar create_job
    archive_tenant continue_archiving_tenant stop_archiving_tenant
    create_tenant edit_tenant import_calendar resume_tenant
    change_token grant_membership issue_token revoke_membership revoke_token
    create_subscription create_task create_tasks change_subscription decrypt_task delete_alarm_channel delete_alarm_rule
    delete_calendar delete_job delete_secret delete_subscription discard_dead_letters edit_alarm_channel edit_alarm_rule
    edit_calendar edit_job lift_host move_firing preview_draft replay_dead_letters replay_subscription rerun_graph
    reschedule_task reschedule_unit restore_firing resume_campaign resume_job resume_subscription retry_task set_secret
    skip_firing start_campaign tag_dead_letter test_alarm_channel test_subscription try_host undo_campaign
    withdraw_secret withdraw_subscription_secrets
"""
# And pages of the console that Django doesn't have.
PAGES = """
    alarmchannel_edit alarmchannel_test apitoken_edit apitoken_revoke calendar_edit calendar_remove
    membership_edit membership_revoke event
    export graphrun_rerun health host_lift host_try job_backfill job_bulk job_draft job_draft_of job_edit job_firing
    job_forecast job_panel letter_order letter_run letter_tags operation order run secret_forget secret_set
    secret_withdraw subscription_edit subscription_test task_decrypt task_events tenant_archive
    tenant_continue_archiving tenant_edit tenant_resume tenant_stop_archiving undo worker
    saved_remove
"""


def endpoints() -> dict[str, tuple[str, str]]:
    """Method and address of each of our own, by the name of its view."""
    found = {}
    for router in api._get_bound_routers():
        for where, view in router.path_operations.items():
            for one in view.operations:
                if one.view_func.__module__.startswith("tasks_app."):
                    address = re.sub(r"{[^}]+}", "1", f"{router.prefix}/{where}".replace("//", "/"))
                    found[one.view_func.__name__] = one.methods[0], "/api/v1" + address.rstrip("/")
    return found


def test_every_endpoint_is_a_read_a_write_or_one_that_is_never_refused():
    found = endpoints()
    reads = {name for name, (method, _) in found.items() if method == "GET"}

    assert found.keys() - reads == set(WRITES.split()) | REPORTS | LEVERS | {BY_LANE}
    assert reads >= WATCHING
    assert not set(WRITES.split()) & (REPORTS | LEVERS | {BY_LANE})


def test_each_endpoint_is_refused_as_what_it_is(door):
    """With a token that may only read: whatever is let in changes nothing."""
    found, token = endpoints(), issue("reader", "default", operator())[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def refused(names: Iterable[str]) -> set[str]:
        answers = {name: client.generic(*found[name]) for name in names}
        return {name for name, one in answers.items() if one.status_code == 503}

    reads = {name for name, (method, _) in found.items() if method == "GET"}
    assert strained(door, SLOW) is Level.READS
    assert refused([*reads, "create_task", "edit_job", "pause_lane"]) == reads - WATCHING
    assert strained(door, GONE) is Level.WRITES
    assert refused(found) == (reads - WATCHING) | set(WRITES.split())


def test_a_trigger_can_wait_unless_its_job_is_in_the_urgent_lane(door):
    a_beat_is_alive()
    caller = Api(token=issue("any lane", "default", operator(), can_write=True, lanes=LANES)[1])
    urgent, usual = make("urgent", lane="critical"), make("usual")
    assert strained(door, GONE) is Level.WRITES

    assert caller.post(f"/jobs/{urgent.id}/trigger", Idempotency_Key="a").status == 201
    refused = caller.post(f"/jobs/{usual.id}/trigger", Idempotency_Key="b")
    assert (refused.code, 5 <= int(refused.headers["Retry-After"]) <= 15) == ("SCH_503_OVERLOADED", True)
    assert [door.feed(Knock(1.0)) for _ in range(6)][-1] is Level.OPEN
    assert caller.post(f"/jobs/{usual.id}/trigger", Idempotency_Key="b").status == 201


def addresses(resolver=None, prefix: str = "/") -> Iterator[tuple[str, str]]:
    for one in (resolver or get_resolver()).url_patterns:
        where = prefix + str(one.pattern)
        if not isinstance(one, URLPattern):
            yield from addresses(one, where)
        elif where.startswith("/admin/punctual/") and one.name:
            yield one.name.removeprefix("punctual_"), where


def test_every_page_of_the_console_is_one_that_can_wait_or_a_lever():
    usual = ("changelist", "add", "change", "delete", "history")
    found = {name for name, _ in addresses() if not name.endswith(tuple(f"_{one}" for one in usual))}
    levers = {name.removeprefix("punctual_") for name in guard.LEVERS}

    assert found == set(PAGES.split()) | {
        name for name in levers if not name.endswith(("_changelist", "_add", "_change"))
    }
    assert levers <= {name for name, _ in addresses()}


def test_the_levers_of_the_console_are_never_refused(door):
    """Without a login: whoever is let in is sent there."""
    strained(door, GONE)
    client, where = Client(), dict(addresses())

    def status(name: str, verb: str) -> int:
        return client.post(re.sub("<[^>]+>", "1", re.sub("<[a-z]+:verb>", verb, where[name]))).status_code

    levers = {
        (name.removeprefix("punctual_"), verb) for name, verbs in guard.LEVERS.items() for verb in verbs or ("force",)
    }
    assert {status(*one) for one in levers} == {302}
    assert {status("campaign_order", "resume"), status("job_order", "trigger"), status("order", "")} == {503}


# ---- a database that is away ----


def test_health_answers_while_the_database_is_stalled(door, proxy):
    """It would wait for the proxy, which never lets anything through before the answer is here."""
    door.measured = True
    proxy.stall()
    try:
        with through(proxy):
            answer = Client().get("/api/v1/scheduler/health", headers={"Authorization": "Bearer pnc_x"})
    finally:
        proxy.heal()
    assert (answer.status_code, answer.json()["code"]) == (503, "SCH_503_DATABASE_DOWN")
    assert door._knocking.wait(60).reached


def cursor_execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_one_that_is_shed_asks_no_server_whether_it_takes_writes(door, monkeypatch, client):
    asked = []
    monkeypatch.setattr(standby.STANDBY, "connect", lambda: asked.append(1))
    strained(door, SLOW)

    assert (Api().get("/tasks").status, client.get(reverse("admin:index")).status_code, asked) == (503, 503, [])


@commits
def test_a_primary_that_answers_and_refuses_a_statement_is_no_reason_to_read_elsewhere(monkeypatch):
    reads, ours = standby.StandbyReads(), connection
    monkeypatch.setitem(ours.settings_dict, "HOST", f"{ours.settings_dict['HOST']},elsewhere.invalid")

    def fails() -> None:
        raise ProgrammingError("relation does not exist")

    monkeypatch.setattr(standby, "read_facts", fails)
    try:
        reads.connect()
    finally:
        vars(ours).pop("_punctual_number", None)

    assert not reads.reading
