"""Each problem that the schema declares for an operation is one that this operation can answer with.

That no operation answers with another one, tests/support/api.py looks after in every test. What many operations declare
comes from one place for all of them: `make test` asks an eighth of them for it, for each problem another eighth, of
what is answered before the operation begins a sixteenth, and `make prove` all of them.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from django_punctual import ToWebhook, cancel, find, schedule, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from django_punctual.jobs import move_firing, skip_firing
from tasks_app.api.problems import CODES
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.engine.operations import bulk
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle import retry_limit, tenants
from tasks_app.lifecycle import schedule as scheduling
from tasks_app.lifecycle.hosts import limit
from tasks_app.lifecycle.jobs import lock, rerun
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import Curb, HostHealth, IdempotencyRecord
from tests.support.alarms import alarm_ids, channel, rule
from tests.support.api import Answer, Api
from tests.support.engine import claim_due, make_due
from tests.support.graphs import begun, child, job_named
from tests.support.jobs import instances, make
from tests.support.live import nobody_is_alive
from tests.support.moves import RETRY, away, dead, ids_of, settled, started
from tests.support.operators import operator as by
from tests.support.ready import CALLBACKS, RIGHTS, administrator, boss, letter_of, ready, rolled_back, with_rights
from tests.support.scale import some
from tests.support.schema import OPERATIONS, Operation, examples_of, of_type

pytestmark = pytest.mark.django_db

# Whatever asks the database or runs code may find it down or broken; and 405 is the answer of no operation. What the
# door refuses is tested with the door, tests/database/web/.
NOT_PROVOKED = {
    "SCH_500_INTERNAL",
    "SCH_503_DATABASE_DOWN",
    "SCH_503_OVERLOADED",
    "SCH_405_METHOD_NOT_ALLOWED",
}
NOBODY = 987_654_321
FEW = 16  # operations, which are all asked for what they declare
# Answered in one place for all operations, before or around their own code.
AROUND = {
    "SCH_400_MALFORMED",
    "SCH_401_UNAUTHENTICATED",
    "SCH_403_TENANT_SUSPENDED",
    "SCH_409_IN_PROGRESS",
    "SCH_413_TOO_LARGE",
    "SCH_422_INVALID",
    "SCH_422_KEY_REUSED",
    "SCH_429_QUOTA",
}
BACKFILLS = ("backfill_job", "backfill_jobs")
IDS = ("calendar_id", "job_id", "task_id", "letter_id", "rule_id", "channel_id", "incident_id", "subscription_id")
IDS += ("campaign_id", "run_id", "token_id")
NO_NAMES = {"name": "nobody", "username": "nobody", "host": "nobody.example.com", "safeguard": "nobody"}
UNIT = {"task_type": "T_QUIET", "key": "there"}


class World(NamedTuple):
    """An operation, what it can be about, and what would make it succeed."""

    api: Api
    operation: Operation
    job: int
    task: int
    body: dict | None
    headers: dict
    others: dict = {}

    def call(self, *, api: Api | None = None, query: str = "", **changed: object) -> Answer:
        ids = (
            {"job_id": self.job, "task_id": self.task, "lane": "low", "fire_time": "next", "safeguard": "delay"}
            | self.others
            | changed.pop("ids", {})
        )
        headers = self.headers | changed.pop("headers", {})
        sent = {"body": self.body} | changed
        told = {name: value for name, value in headers.items() if value is not None}
        url = self.operation.url(**ids)
        query = query.replace("?", "&") if "?" in url else query
        return (api or self.api).call(self.operation.method, url + query, **sent, **told)


class There(NamedTuple):
    """What all operations can be about: made once for all that have one problem."""

    task_type: str = "T_QUIET"
    lane: str = "default"

    def make(self) -> None:
        make("there", task_type=self.task_type, lane=self.lane)
        schedule(self.task_type, "there", delay=3600, lane=self.lane)


THERE = {"SCH_403_TYPE_CLOSED": There(task_type="T_CLOSED"), "SCH_403_LANE_CLOSED": There(lane="critical")}


def world(api: Api, operation: Operation, *, task_type: str = "T_QUIET", lane: str = "default") -> World:
    job, task = job_named("there").id, find(task_type, "there").id
    [body, *_] = examples_of(operation.component(operation.details.get("requestBody", {}))) or [None]
    if body and "tasks" in body:
        body = body | {"atomic": True}  # else each task has a problem of its own
    headers = {"If_Match": "1", "Idempotency_Key": "k"}
    taken = {name: value for name, value in headers.items() if operation.takes(name.replace("_", "-"))}
    others = alarm_ids() if operation.path.startswith("/alarms") else {}
    if operation.path.startswith("/dead-letters"):
        others = {"letter_id": letter_of(*dead("dead", task_type=task_type, lane=lane))}
    if operation.path.startswith("/subscriptions"):
        told = subscribe("there", events=["*"], to=ToWebhook("https://hooks.example.com"), tenant="default")
        others = {"subscription_id": told.id}
    if operation.path.startswith("/calendars"):
        others = {"calendar_id": create_calendar(CalendarRequest("there"), by()).id}
    if operation.id == "restore_firing":
        others = {"fire_time": skip_firing(job, by()).fire_time.isoformat()}
    if operation.path.startswith(CALLBACKS):
        set_secret("there", by(), tenant="default")
        limit("there.example.com", by(), max_running=5)
        HostHealth.objects.create(tenant="default", host="there.example.com", tasks=[1])
        others = {"name": "there", "host": "there.example.com"}
        if task_type != "T_CLOSED":
            api = Api(token=issue("scoped", "default", by(), can_write=True, types=[HTTP_CALLBACK])[1])
    if operation.path.startswith(RIGHTS):
        others, api = with_rights(), administrator()
    if "{token}" in operation.path:
        gone = away("gone", task_type=task_type, lane=lane)
        task = gone.tasks[0].id
        others = {"token": gone.tasks[0].token, "run": gone.batch_no}
    if operation.path.startswith("/campaigns"):
        others = {"campaign_id": start_matching(Verb.CANCEL, Filter(tenant="default"), by()).id}
    if operation.path.startswith("/runs"):
        child("below", "there", task_type=task_type, lane=lane)
        others = {"run_id": begun("there").id}
    if operation.id in BACKFILLS:
        body = body | {"dry_run": False} | ({"jobs": [job]} if "jobs" in body else {})
    return World(api, operation, job, task, of_type(body, task_type), taken, others)


def nothing(api: Api, operation: Operation) -> World:
    """For what is refused before anything is looked for."""
    api = administrator() if operation.path.startswith(RIGHTS) else api
    return World(api, operation, NOBODY, NOBODY, {}, {"If_Match": "1", "Idempotency_Key": "k"})


def forbidden(api: Api, operation: Operation) -> Answer:
    """To write with a token that only reads, or to read what all tenants share."""
    if operation.writes or operation.path.startswith(RIGHTS):
        return world(api, operation).call(api=Api(can_write=False))
    return world(api, operation).call(query="?scope=all")


def closed_type(api: Api, operation: Operation) -> Answer:
    there = world(api, operation, task_type="T_CLOSED")
    if operation.path.startswith("/alarms"):
        narrow = Api(token=issue("narrow", "default", by(), can_write=True, types=["T_PLAIN"])[1])
        return there.call(api=narrow, body=there.body | {"task_types": ["T_*"]})
    if operation.path.startswith(RIGHTS):
        return there.call(body=there.body | {"types": ["T_CLOSED"]})
    if operation.id == "cancel_tasks":
        return there.call(body=there.body | {"tasks": [UNIT | {"task_type": "T_CLOSED"}]})
    return there.call()


def closed_lane(api: Api, operation: Operation) -> Answer:
    there = world(api, operation, lane="critical")
    body = there.body or {}
    if operation.id in ("pause_lane", "resume_lane"):
        return there.call(api=boss(), ids={"lane": "critical"})
    if operation.id in ("create_tasks", "cancel_tasks"):
        options = {"lane": "critical"} if operation.id == "create_tasks" else {}
        return there.call(body=body | {"tasks": [UNIT | options]})
    if operation.id in ("create_job", "create_task", "start_campaign"):
        return there.call(body=body | {"lane": "critical"})
    if operation.id == "replay_dead_letters":
        return there.call(body=body | {"lane": "critical"})
    return there.call(body=body | {"key": "there"}) if "key" in body else there.call()


def duplicate(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    make("taken")
    create_calendar(CalendarRequest("taken"), by())
    if operation.path.startswith("/alarms"):
        rule("taken"), channel("taken")
    if operation.id == "create_tasks":
        return there.call(body=there.body | {"tasks": [UNIT]})
    if operation.id == "create_subscription":
        return there.call(body=there.body | {"name": "there"})
    if operation.id == "create_tenant":
        tenants.create("taken", by())
        there = there._replace(api=boss())
    taken = {"key": "there"} if operation.id == "create_task" else {"name": "taken"}
    return there.call(body=there.body | taken)


def claimed(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    job = make("fires", every=10)
    fire = move_firing(job.id, timezone.now() + timedelta(hours=1), by()).fire_time
    make_due(*(task.id for task in instances(job) if task.fire_time == fire))
    claim_due()
    return there.call(ids={"job_id": job.id, "fire_time": fire.isoformat()})


def in_progress(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    with psycopg.connect(**{**connection.get_connection_params(), "cursor_factory": None, "context": None}) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('default' || chr(10) || 'k', 7))")
        return there.call()


def has_children(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    child("after it", "there", task_type="T_QUIET")
    return there.call(headers={"If_Match": None})


def conflict(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    if operation.id == "retry_task":
        failed = started("failed")
        settled(failed, RETRY)
        there = there._replace(task=ids_of(failed)[0])
    with pytest.MonkeyPatch.context() as others_keep_changing_it:
        for module in (scheduling, lock, bulk, rerun):
            others_keep_changing_it.setattr(module, "ROUNDS", 0)
        others_keep_changing_it.setattr(scheduling, "_edit", scheduling._apply)
        others_keep_changing_it.setattr(scheduling, "_fits_single_row", lambda _: False)
        if operation.id in ("create_tasks", "cancel_tasks"):
            return there.call(body=there.body | {"tasks": [UNIT]})
        key = {"key": "there"} if operation.id == "create_task" else {}
        return there.call(body=there.body | key) if key else there.call()


def not_away(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    cancel("T_QUIET", "gone")
    return there.call()


def too_often(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    if operation.id in BACKFILLS:  # else the second finds nothing missing
        there = there._replace(body=there.body | {"which": "all"})
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(retry_limit, "RETRIES_A_MINUTE", 2)
        limits.setattr(retry_limit, "ORDERS_A_MINUTE", 2)
        return [there.call(headers={"Idempotency_Key": f"k{number}"}) for number in range(3)][-1]


def reused_key(api: Api, operation: Operation) -> Answer:
    IdempotencyRecord.objects.create(tenant="default", key="k", fingerprint="another's", status=204)
    return world(api, operation).call()


def without_dispatcher(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    nobody_is_alive()
    return there.call()


def suspended(api: Api, operation: Operation) -> Answer:
    tenants.suspend("default", by())
    return nothing(api, operation).call()


def out_of_calls(api: Api, operation: Operation) -> Answer:
    tenants.edit("default", {"calls_per_minute": 0}, by())
    return nothing(api, operation).call()


def degraded(api: Api, operation: Operation) -> Answer:
    if operation.id == "decrypt_task":
        asked = ready(api, operation)
        with override_settings(SECRET_KEY="without the key of before"):
            return asked.api.post(operation.url(**asked.ids), {"reason": "x"})
    there = world(api, operation)
    Curb.objects.create(name="dead_letters", subject="", kind="triggers", target="*")
    return there.call()


def without_archive(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"ARCHIVE_URL": "/nobody/has/this/folder"}):
        if operation.id in BACKFILLS:
            return there.call(body=there.body | {"which": "missing"})
        return there.call(query="?cold=true&key=a&after=cold%7C")


def not_there(api: Api, operation: Operation) -> Answer:
    there = world(api, operation)
    asked = boss() if operation.id == "lift_host" or operation.path.startswith(("/tenants", "/workers")) else there.api
    body = {"body": there.body | {"jobs": [NOBODY]}} if operation.id == "backfill_jobs" else {}
    return there.call(api=asked, ids=dict.fromkeys(IDS, NOBODY) | NO_NAMES, **body)


PROVOKED: dict[str, Callable[[Api, Operation], Answer]] = {
    "SCH_400_MALFORMED": lambda api, one: nothing(api, one).call(text="{"),
    "SCH_400_IDEMPOTENCY_KEY_MISSING": lambda api, one: world(api, one).call(headers={"Idempotency_Key": None}),
    "SCH_401_UNAUTHENTICATED": lambda api, one: nothing(api, one).call(api=Api(token="pnc_wrong")),
    "SCH_403_FORBIDDEN": forbidden,
    "SCH_403_TYPE_CLOSED": closed_type,
    "SCH_403_LANE_CLOSED": closed_lane,
    "SCH_403_TENANT_SUSPENDED": suspended,
    "SCH_404_NOT_FOUND": not_there,
    "SCH_409_DUPLICATE": duplicate,
    "SCH_409_CLAIMED": claimed,
    "SCH_409_IN_PROGRESS": in_progress,
    "SCH_409_CONFLICT": conflict,
    "SCH_409_HAS_CHILDREN": has_children,
    "SCH_409_NOT_AWAY": not_away,
    "SCH_412_STALE": lambda api, one: world(api, one).call(headers={"If_Match": "999"}),
    "SCH_413_TOO_LARGE": lambda api, one: nothing(api, one).call(text=" " * 3_000_000),
    "SCH_422_INVALID": lambda api, one: nothing(api, one).call(query="?jbo=1"),
    "SCH_422_KEY_REUSED": reused_key,
    "SCH_428_IF_MATCH_MISSING": lambda api, one: world(api, one).call(headers={"If_Match": None}),
    "SCH_429_RETRY_LIMITED": too_often,
    "SCH_429_QUOTA": out_of_calls,
    "SCH_503_DEGRADED": degraded,
    "SCH_503_DISPATCHER_DOWN": without_dispatcher,
    "SCH_503_ARCHIVE_DOWN": without_archive,
}


@pytest.mark.parametrize("code", PROVOKED)
def test_every_operation_that_declares_a_problem_can_have_it(api, code, redis):
    declaring = [one for one in OPERATIONS if code in one.codes]
    assert declaring
    if len(declaring) > FEW:
        declaring = some(declaring, list(PROVOKED).index(code), of=16 if code in AROUND else 8)
    THERE.get(code, There()).make()

    for operation in declaring:
        redis.flushall()  # so many calls without a token in a minute are too many
        with rolled_back():
            answer = PROVOKED[code](api, operation)

        assert answer.status == int(code.split("_")[1]), (operation.id, answer.body)
        assert answer.code == code, (operation.id, answer.body)


def test_whoever_calls_too_often_is_refused_whatever_the_operation(api, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 2}
    declaring = [one for one in OPERATIONS if "SCH_429_TOO_MANY" in one.codes]
    assert [one.id for one in OPERATIONS if one not in declaring] == ["read_liveness"]

    for operation in some(declaring, 0, of=16):
        there = nothing(api, operation)
        # Three are too many, unless a new minute begins among them.
        refused = next(answer for answer in (there.call() for _ in range(5)) if answer.status == 429)
        assert refused.code == "SCH_429_TOO_MANY", operation.id
        assert 0 < int(refused.headers["Retry-After"]) <= 60


def test_no_problem_is_forgotten_here():
    assert set(PROVOKED) | NOT_PROVOKED | {"SCH_429_TOO_MANY"} == set(CODES)
