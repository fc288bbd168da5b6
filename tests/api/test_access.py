"""Who may see and do what: tokens, tenants and sessions. The endpoints are taken from the schema: none is forgotten."""

import io
import json
import os
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_punctual import ToWebhook, schedule, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.core.task import Failure
from tasks_app.engine.operations.api_tokens import issue, known, revoke
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.operations.lanes import pause
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import (
    AlarmChannel,
    AlarmIncident,
    AlarmRule,
    ApiToken,
    Calendar,
    GraphRun,
    HostHealth,
    JobDefinition,
    Membership,
    ScheduleTask,
    Subscription,
)
from tests.support.alarms import alarm_ids
from tests.support.api import JOB, Api
from tests.support.audit import deeds
from tests.support.clients import client_of
from tests.support.jobs import by, make
from tests.support.moves import dead, settled, started
from tests.support.ready import RIGHTS, administrator, letter_of, with_rights
from tests.support.scale import some
from tests.support.schema import NO_TOKEN, OPERATIONS

pytestmark = pytest.mark.django_db

PROTECTED = [(one.method, one.path) for one in OPERATIONS if not one.path.endswith("/live")]
WITH_ID = [(method, path) for method, path in PROTECTED if "_id}" in path]
BODIES = {
    "/move": {"to": "2090-01-01T00:00:00Z"},
    "/pause": {"reason": "x"},
    "/resume": {"reason": "x"},
    "/decrypt": {"reason": "x"},
    "/reschedule": {"at": "2090-01-01T00:00:00Z"},
    "/replay": {"reason": "x", "since": "2026-11-01T00:00:00Z"},
    "/withdraw": {"reason": "x"},
    "/backfill": {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T01:00:00Z"},
}
# What has no id: the same for all tenants, or told apart by its name.
NAMES = {"lane": "low", "name": "T_QUIET", "product_code": "secret-1", "token": NO_TOKEN, "host": "api.example.com"}
NAMES |= {"safeguard": "delay", "username": "ada", "worker": "worker:1"}


def address(path: str, **ids: object) -> str:
    """The path, with these ids in it."""
    found = re.sub(r"\{(\w+)\}", lambda found: str((NAMES | ids)[found[1]]), path)
    return f"{found}?task=1&run={NO_TOKEN}" if "{token}" in path else found


def everything() -> list:
    models = (Calendar, JobDefinition, ScheduleTask, Subscription, AlarmRule, AlarmChannel)
    return [list(model.objects.order_by("id").values()) for model in models]


def body_of(path: str) -> dict:
    return next((body for end, body in BODIES.items() if path.endswith(end)), {})


def words_of(answer) -> tuple:
    """All but the numbers, which the caller has named."""
    return answer.status, re.sub(r"\d+", "", str({name: answer.body[name] for name in ("code", "detail")}))


def their_run() -> int:
    root = make("their root", tenant="acme")
    verbs.create(JobRequest(name="their child", task_type="T_QUIET", parents=["their root"]), by(), "acme")
    verbs.trigger(root.id, "now", by(), tenant="acme")
    return GraphRun.objects.get(label="m:now").id


def test_the_schema_has_the_endpoints_there_are():
    assert len(PROTECTED) >= 27 and len(WITH_ID) >= 15


@pytest.mark.parametrize(("token", "of"), [("", 1), ("Bearer", 10), ("x" * 5000, 10)], ids=["none", "word", "long"])
def test_nobody_gets_in_without_a_valid_token(token, of, redis):
    """That none gets in with a token that nobody has, test_declared_problems.py shows."""
    api = Api(token="none")
    api.token = token

    for method, path in some(PROTECTED, 0, of=of):
        redis.flushall()  # so many calls in a minute are too many
        answer = api.call(
            method,
            address(path, **dict.fromkeys(re.findall(r"\w+_id|fire_time", path), 1)),
            {},
            If_Match="1",
            Idempotency_Key="k",
        )

        assert (answer.status, answer.code) == (401, "SCH_401_UNAUTHENTICATED"), path


def test_what_belongs_to_another_tenant_does_not_exist(api, redis):
    job, task = make("theirs", tenant="acme"), schedule("T_QUIET", "theirs", tenant="acme", delay=3600)
    campaign = start_matching(Verb.CANCEL, Filter(tenant="acme"), by())
    told = subscribe("theirs", events=["*"], to=ToWebhook("https://hooks.example.com"), tenant="acme")
    letter = letter_of(*dead("their dead", tenant="acme"))
    ids = {"job_id": job.id, "task_id": task.task_id, "letter_id": letter, "subscription_id": told.id}
    calendar = create_calendar(CalendarRequest("theirs"), by(), tenant="acme")
    ids |= {"campaign_id": campaign.id, "calendar_id": calendar.id, "fire_time": "next"} | alarm_ids()
    ids |= {"run_id": their_run(), "token_id": issue("theirs", "acme", by())[0].id}
    for model in (AlarmRule, AlarmChannel, AlarmIncident):
        model.objects.update(tenant="acme")
    before, admin = everything(), administrator()

    for number, (method, path) in enumerate(WITH_ID):
        redis.flushall()  # so many calls in a minute are too many
        url = address(path, **ids)
        asked = admin if path.startswith(RIGHTS) else api
        nobodys = re.sub(r"\d+(?=/|$)", "987654321", url)
        asked.call(
            method, nobodys, body_of(path), If_Match="1", Idempotency_Key=f"first{number}"
        )  # what is kept, is kept
        with CaptureQueriesContext(connection) as for_theirs:
            theirs = asked.call(method, url, body_of(path), If_Match="1", Idempotency_Key=f"k{number}")
        with CaptureQueriesContext(connection) as for_nothing:
            nothing = asked.call(method, nobodys, body_of(path), If_Match="1", Idempotency_Key=f"n{number}")

        assert (theirs.status, theirs.code) == (404, "SCH_404_NOT_FOUND"), (method, path)
        assert everything() == before, (method, path)
        # Neither the answer nor the time it takes tells one from the other: it is the same work.
        assert words_of(theirs) == words_of(nothing), (method, path)
        assert len(for_theirs) == len(for_nothing), (method, path)


def test_a_list_has_nothing_of_another_tenant(api, redis):
    make("secret-name", tenant="acme")
    create_calendar(CalendarRequest("secret-name"), by(), tenant="acme")
    schedule("T_QUIET", "secret-key", tenant="acme", delay=3600)
    start_matching(Verb.CANCEL, Filter(tenant="acme"), by(), selection="secret-selection")
    for tenant in ("acme", None):
        subscribe("secret-name", events=["*"], to=ToWebhook("https://hooks.example.com"), tenant=tenant)
    settled(started("dead", tenant="acme"), Failure("secret-code", "secret message", final=True))

    set_secret("secret-name", by(), tenant="acme")
    HostHealth.objects.create(tenant="acme", host="secret.example.com", tasks=[1], unwell_since=Now(), try_at=Now())
    calls, admin = Api(token=issue("caller", "default", by(), types=["HTTP_CALLBACK"])[1]), administrator()
    issue("secret-name", "acme", by())
    with_rights()
    Membership.objects.update(tenant="acme", username="secret-name")

    for path in [path for method, path in PROTECTED if method == "GET" and "{" not in path]:
        redis.flushall()  # so many calls in a minute are too many
        answer = (calls if path == "/secrets" else admin if path.startswith(RIGHTS) else api).get(path)

        assert answer.status in (200, 404), path
        assert "secret" not in str(answer.body), path


def test_a_token_is_shown_once_kept_as_a_hash_and_ends():
    token, text = issue("ci", "acme", by(), days=1)

    assert text.startswith("pnc_") and len(text) > 40
    assert text not in str(ApiToken.objects.values().get())
    assert known(text).tenant == "acme" and not known(text).can_write
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert known(text) is None
    ApiToken.objects.update(expires_at=None)
    assert revoke(token.id, by()) and not revoke(token.id, by())
    assert known(text) is None


def test_the_last_use_of_a_token_is_known_to_the_minute_and_not_written_at_every_call(api, django_assert_num_queries):
    assert ApiToken.objects.get().last_used_at is None
    api.get("/live")
    assert ApiToken.objects.get().last_used_at is None  # nobody asked who it was
    api.get("/jobs")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with django_assert_num_queries(1):
        known(api.token)
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    api.get("/jobs")
    assert ApiToken.objects.get().last_used_at >= first


def test_tokens_by_command():
    out = io.StringIO()
    options = ("--tenant", "acme", "--write", "--types", "T_QUIET,T_PLAIN", "--lanes", "low, default", "--by", "olga")
    call_command("api_token", "issue", "ci", *options, stdout=out, stderr=io.StringIO())
    text = out.getvalue().strip()
    assert known(text).can_write
    assert (known(text).types, known(text).lanes) == ({"T_QUIET", "T_PLAIN"}, ("default", "low"))

    out = io.StringIO()
    call_command("api_token", "list", stdout=out)
    assert "acme" in out.getvalue() and text not in out.getvalue()
    assert "T_PLAIN, T_QUIET in default, low" in out.getvalue()
    call_command("api_token", "revoke", str(ApiToken.objects.get().id), stdout=io.StringIO())
    assert known(text) is None
    issued, revoked = deeds().order_by("id")
    assert (issued.actor, issued.verb, issued.detail["may"]) == ("olga", "issue", "operate")
    assert (revoked.subject, revoked.verb) == (issued.subject, "revoke")
    with pytest.raises(CommandError, match="no token"):
        call_command("api_token", "revoke", "99999")
    with pytest.raises(CommandError, match="days"):
        call_command("api_token", "issue", "ci", "--tenant", "acme", "--days", "-1")
    for option, words in (("--types", "Did you mean 'T_QUIET'"), ("--lanes", "doesn't exist")):
        with pytest.raises(CommandError, match=words):
            call_command("api_token", "issue", "ci", "--tenant", "acme", option, "T_QUIT")
    with pytest.raises(CommandError, match="--tenant"):
        call_command("api_token", "issue", "ci")


def test_a_token_is_issued_in_a_container_whose_account_has_no_name(monkeypatch):
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 10001")

    monkeypatch.setattr("getpass.getuser", nameless)
    call_command("api_token", "issue", "ci", "--tenant", "acme", stdout=io.StringIO(), stderr=io.StringIO())

    assert deeds().get().actor == f"uid {os.getuid()}"


VIEW, OPERATE = ["view_jobdefinition", "view_scheduletask"], ["operate_jobdefinition", "operate_scheduletask"]


def allow(user: User, *codenames: str) -> User:
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return User.objects.get(id=user.id)


@pytest.fixture
def operator():
    return allow(User.objects.create_user("olga", password="x", is_staff=True), *VIEW)


def test_an_operators_session_reads_and_with_the_permission_writes(operator):
    client = client_of(operator, enforce_csrf_checks=True)
    make("acme's", tenant="acme")

    assert client.get("/api/v1/jobs").json()["items"] == []
    assert len(client.get("/api/v1/jobs", headers={"X-Tenant": "acme"}).json()["items"]) == 1
    forged = client.post("/api/v1/jobs", JOB, content_type="application/json")
    assert forged.status_code == 403

    for allowed, status in ((VIEW, 403), ([*VIEW, OPERATE[0]], 403), ([*VIEW, OPERATE[1]], 403), (VIEW + OPERATE, 201)):
        trusting = client_of(allow(operator, *allowed))
        assert trusting.post("/api/v1/jobs", JOB, content_type="application/json").status_code == status


def test_an_operators_session_uses_what_is_closed_to_tokens_and_hears_who_paused_a_lane(operator):
    client = client_of(allow(operator, *VIEW, *OPERATE))
    pause("low", reason="the warehouse", by="olga")

    for body, status in (
        (JOB | {"task_type": "T_CLOSED", "lane": "critical"}, 201),
        (JOB | {"task_type": "T_CLOSE"}, 422),
    ):
        assert client.post("/api/v1/jobs", body, content_type="application/json").status_code == status
    lanes = client.get("/api/v1/scheduler/health").json()["lanes"]
    assert {lane["lane"]: lane["paused"] for lane in lanes}["low"] == "by olga: the warehouse"


def test_a_tenant_that_can_not_be_is_refused(operator):
    client = client_of(allow(operator, *VIEW, *OPERATE))

    answer = client.delete("/api/v1/jobs/1", headers={"X-Tenant": "x" * 64, "Idempotency-Key": "k"})

    assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_INVALID")
    assert "X-Tenant" in answer.json()["detail"]


@pytest.mark.parametrize("missing", VIEW)
def test_a_session_needs_the_right_to_look_at_jobs_and_at_tasks(operator, missing):
    client = client_of(allow(operator, *(set(VIEW + OPERATE) - {missing})))

    assert client.get("/api/v1/jobs").status_code == 401
    assert client.get("/api/v1/tasks").status_code == 401


def test_a_user_who_is_no_operator_gets_nothing():
    client = client_of(User.objects.create_user("sam"))

    assert client.get("/api/v1/jobs").status_code == 401


def test_the_page_of_the_api_is_for_operators_and_loads_nothing_from_elsewhere(operator):
    nobody, client = Client(), client_of(operator)

    assert nobody.get("/api/v1/docs").status_code == nobody.get("/api/v1/docs?part=jobs").status_code == 302
    assert nobody.get("/api/v1/openapi.json").status_code == 401
    for where in ("/api/v1/docs", "/api/v1/docs?part=jobs"):
        loaded = re.findall(r'(?:src|href)="([^"]*)"', client.get(where).content.decode())
        assert loaded and not [one for one in loaded if "//" in one]
    assert client.get("/api/v1/openapi.json").json()["info"]["title"] == "Punctual"


def test_every_operation_is_in_the_list_and_in_its_part_with_all_that_it_names(operator):
    client = client_of(operator)
    listed, schema = client.get("/api/v1/docs").content.decode(), client.get("/api/v1/openapi.json").json()
    found = []
    for tag in schema["tags"]:
        page = client.get("/api/v1/docs", {"part": tag["name"]}).content.decode()
        spec = json.loads(re.search('id="swagger-settings">(.*?)</script>', page)[1])["spec"]
        named = set(re.findall(r'"\$ref": "#/components/(\w+)/([^"]+)"', json.dumps(spec)))
        assert named <= {(kind, name) for kind, ones in spec["components"].items() for name in ones}
        ids = [one["operationId"] for methods in spec["paths"].values() for one in methods.values()]
        address = quote(tag["name"])
        assert all(f'href="?part={address}#/{address}/{id_}"' in listed for id_ in ids)
        found += ids

    assert sorted(found) == sorted(one["operationId"] for path in schema["paths"].values() for one in path.values())
    answer = client.get("/api/v1/docs?part=jbos")
    assert (answer.status_code, "'jbos'" in answer.json()["detail"]) == (404, True)


def test_staff_without_rights_to_jobs_and_tasks_sees_neither_the_page_nor_the_schema():
    client = client_of(User.objects.create_user("nora", is_staff=True))
    for where in ("/api/v1/docs", "/api/v1/openapi.json"):
        answer = client.get(where)
        assert (answer.status_code, answer.json()["code"]) == (403, "SCH_403_FORBIDDEN")
