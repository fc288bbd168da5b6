"""Whatever an operation of the API needs to be there before it can answer well, and who may call it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import ToWebhook, schedule, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from django_punctual.jobs import skip_firing
from inventory_app.lifecycle import add
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.beat.relay.deliveries import note_deliveries
from tasks_app.engine.beat.relay.sink import Attempt
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.engine.operations import workers
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.operations.members import grant
from tasks_app.engine.operations.safeguards import force
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.campaigns import verbs
from tasks_app.lifecycle.hosts import limit
from tasks_app.lifecycle.installation import quarantine
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.recovery import begin
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.lifecycle.subscriptions import pause as pause_subscription
from tasks_app.lifecycle.tenants import know
from tasks_app.models import Campaign, DlqEntry, HostHealth, JobDefinition, QuotaUse, Tenant, TenantArchive
from tasks_app.sql import execute
from tests.support.alarms import alarm_ids
from tests.support.api import Api
from tests.support.campaigns import carried_out
from tests.support.engine import run_due
from tests.support.graphs import begun, family
from tests.support.jobs import make, nightly
from tests.support.levels import measured
from tests.support.live import a_worker_is_alive
from tests.support.moves import away, dead
from tests.support.operators import operator
from tests.support.schema import Operation
from tests.support.site import beat_at

CALLBACKS = ("/secrets", "/hosts")
RIGHTS = ("/members", "/tokens")
OPERATORS = (
    "limit_host",
    "lift_host",
    "read_hosts",
    "pause_lane",
    "resume_lane",
    "read_workers",
    "drain_worker",
    "resume_worker",
    "read_limits",
    "list_products",
    "read_product",
    "read_window",
    "read_safeguards",
    "list_safeguard_incidents",
    "force_safeguard",
    "forbid_safeguard",
    "end_safeguard",
    "list_recoveries",
    "read_installation",
    "quarantine_installation",
    "resume_installation",
    "rehearse_installation",
    "read_all_sites",
    "activate_site",
    "stand_by_sites",
)


class Ready(NamedTuple):
    api: Api
    ids: dict[str, object]


def boss() -> Api:
    """A token that may do what concerns all tenants."""
    return Api(token=issue("boss", "internal", operator(), can_write=True, internal=True)[1])


def administrator() -> Api:
    """A token that may say who may do what in its tenant."""
    return Api(token=issue("admin", "default", operator(), rights=["administer"])[1])


def with_rights() -> dict[str, object]:
    """A member and a token, as addresses name them."""
    users = get_user_model().objects
    if not users.filter(username="ada").exists():
        users.create_user("ada", is_staff=True)
    grant("default", "ada", "viewer", operator())
    return {"username": "ada", "token_id": issue("ci", "default", operator(), rights=["operate"])[0].id}


def letter_of(task_id: int) -> int:
    return DlqEntry.objects.get(task_id=task_id).id


def failed_run(number: int = 0) -> int:
    """Of a graph whose first job gives up."""
    if not number:
        family("extract", load=["extract"], options={"extract": {"payload": {"do": "die"}}})
    run = begun("extract", f"run {number}")
    run_due()
    return run.id


@contextmanager
def rolled_back() -> Iterator[None]:
    """For one operation of many that a test asks for: the next one finds all as it was."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def ready(api: Api, one: Operation, number: int = 0) -> Ready:
    if one.id == "backfill_jobs":  # makes jobs with these numbers, which are nobody else's then
        execute("SELECT setval('punctual_job_id_seq', greatest(nextval('punctual_job_id_seq'), 100))")
    job, task = make(f"job {number}"), schedule("T_QUIET", f"task {number}", delay=3600)
    ids = {"job_id": job.id, "task_id": task.task_id, "lane": "low", "name": "T_QUIET", "product_code": "SKU 1"}
    ids["fire_time"] = "next"
    if one.id in ("preview_job", "restore_firing"):
        ids["fire_time"] = skip_firing(job.id, operator()).fire_time.isoformat()
    if one.path.startswith("/calendars"):
        ids["calendar_id"] = create_calendar(CalendarRequest(f"calendar {number}"), operator()).id
    ids["host"] = "api.example.com"
    if one.path.startswith(CALLBACKS):
        set_secret(ids["name"], operator(), tenant="default")
        limit(ids["host"], operator(), max_running=5)
        lost = {"host": ids["host"], "tasks": [1], "unwell_since": Now(), "try_at": Now()}
        HostHealth.objects.update_or_create(tenant="default", host=ids["host"], defaults=lost)
        api = Api(token=issue("caller", "default", operator(), can_write=True, types=[HTTP_CALLBACK])[1])
    if one.path.startswith("/subscriptions"):
        told = subscribe(f"of {number}", events=["*"], to=ToWebhook("https://hooks.example.com"), tenant="default")
        ids["subscription_id"] = told.id
        note_deliveries(told.id, [Attempt([], True, "200", 12.5)])
        if one.id == "resume_subscription":
            pause_subscription(told.id, operator())
    if "{campaign_id}" in one.path or one.id == "list_campaigns":
        kind, _ = (Verb.REPLAY, dead("dead")) if one.id == "change_campaign" else (Verb.CANCEL, None)
        ids["campaign_id"] = start_matching(kind, Filter(tenant="default"), operator()).id
        if one.id == "resume_campaign":
            verbs.pause(ids["campaign_id"], operator())
        elif one.id == "undo_campaign":
            carried_out(Campaign.objects.get(id=ids["campaign_id"]))
    elif one.id == "backfill_jobs":
        for number_, name in ((12, "one"), (13, "two")):  # as its example names them
            JobDefinition.objects.filter(id=make(name).id).update(id=number_)
    elif one.id == "start_campaign":
        dead(f"dead {number}")
    elif "{token}" in one.path:
        gone = away(f"gone {number}")
        ids |= {"task_id": gone.tasks[0].id, "token": gone.tasks[0].token, "run": gone.batch_no}
    elif one.id == "list_attempts":
        ids["task_id"] = schedule("T_QUIET", "fails", payload={"do": "retry", "after": 3600}).task_id
        run_due()
    elif one.id == "decrypt_task":
        ids["task_id"] = schedule("T_HIDDEN", f"hidden {number}", payload={"amount": "19.90"}).task_id
        api = Api(token=issue("support", "default", operator(), can_decrypt=True)[1])
    elif one.id == "list_logs":
        ids["task_id"] = schedule("T_QUIET", "talks", payload={"log": ["hello"]}).task_id
        run_due()
    elif one.id == "read_service_levels":
        measured(timezone.now(), state="DOWN", down=["low"])
    elif one.id == "read_forecast":
        nightly(61)  # its example has a peak
    elif one.id == "read_limits":
        declare_limits([REGISTRY.require("T_RATED")])
    elif one.path.startswith("/runs"):
        ids["run_id"] = failed_run(number)
    elif one.path.startswith("/alarms"):
        ids |= alarm_ids()
    elif one.path.startswith("/safeguards"):
        ids["safeguard"] = "delay"
        force("delay", operator(), stage=1)
        for _ in range(2):  # the first look begins
            guard()
    elif one.path.startswith("/tenants"):
        know([ids["name"]])
        QuotaUse.objects.create(
            tenant=ids["name"], quota="max_tasks", hour=timezone.now(), used=4210, last=4000, most=5000
        )
        state = {"stop_archiving_tenant": "RUNNING", "continue_archiving_tenant": "STOPPED"}.get(one.id)
        if state is not None:
            Tenant.objects.filter(name=ids["name"]).update(state="SUSPENDED", closed=True)
            TenantArchive.objects.create(tenant=ids["name"], folder="tenants/T_QUIET/20261116T090000Z", state=state)
        api = boss()
    elif one.path.startswith(RIGHTS):
        ids |= with_rights()
        api = administrator()
    elif one.id == "list_recoveries":
        begin("INC-2041", operator())
    elif one.id in ("resume_installation", "rehearse_installation"):
        quarantine("a drill")
    elif one.path.startswith("/sites"):
        beat_at("b")
    elif one.path.startswith("/workers"):
        ids["worker"] = "worker:1"
        a_worker_is_alive()
        if one.id != "drain_worker":
            workers.drain("worker:1", reason="a new disk", by="olga")
    elif one.id == "read_installation":
        schedule("T_QUIET", "due")
    elif one.path.startswith("/dead-letters"):
        ids["letter_id"] = letter_of(*dead(f"dead {number}"))
    elif one.path.startswith("/stock/products"):
        add("SKU 1", "A lamp")
    return Ready(boss() if one.id in OPERATORS else api, ids)
