"""Every kind of event: what makes it happen, what it says, and that it is told with the change or not at all."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import transaction

from articles_app import lifecycle as articles
from articles_app.states import ArticleStatus
from django_punctual import InvalidTask, emit, emit_many, ensure, reschedule, schedule, schedule_many
from django_punctual import cancel as cancel_unit
from inventory_app import lifecycle as products
from tasks_app.core.events import KINDS, schema_of
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.limit import Limit
from tasks_app.core.overdue import Answer
from tasks_app.core.targets import ToStream
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.engine.beat.quotas import count_again, count_used
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.quarantine import rehearse
from tasks_app.engine.operations.quarantine import resume as resume_installation
from tasks_app.lifecycle import hosts, installation, members, tenant_keys, tenants
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.jobs import overrides, verbs
from tasks_app.lifecycle.jobs.instances import OF_JOB, Fired, Firing, insert
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.operate import Verb, operate
from tasks_app.lifecycle.outbox import STEP, tell
from tasks_app.lifecycle.overdue import step as step_overdue
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.release import release_children
from tasks_app.lifecycle.site import activate, stand_by
from tasks_app.lifecycle.start import start
from tasks_app.lifecycle.subscriptions import resume, subscribe, suspend
from tasks_app.models import JobDefinition, OutboxEvent, ScheduleTask, Subscription
from tasks_app.sql import execute
from tests.architecture.test_events_page import NEVER_WRITTEN
from tests.support.articles import IN_STATE, approved, draft, pending, published
from tests.support.articles import MONDAY as PUBLISH_TIME
from tests.support.campaigns import begun, carried_out
from tests.support.engine import claim_due, expire_lease, row, run_due
from tests.support.events import kinds, told
from tests.support.graphs import begun as graph_begun
from tests.support.graphs import family
from tests.support.jobs import by, make, was_down
from tests.support.json_schema import keeps_to
from tests.support.moves import (
    MONDAY,
    RETRY,
    SKIP,
    SNOOZE,
    TUESDAY,
    TYPE,
    WEDNESDAY,
    away,
    claim_one,
    dead,
    ids_of,
    scheduled,
    settled,
    started,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_event")]
BEAT = UUID(int=1)


def overdue(*keys: str, seconds: float = 120) -> list[int]:
    """Tasks that could have begun so long ago."""
    ids = scheduled(*keys)
    execute(
        "UPDATE punctual_task SET due_at = clock_timestamp() - make_interval(secs => %(ago)s) WHERE id = ANY (%(ids)s)",
        {"ago": seconds, "ids": ids},
    )
    return ids


def change_a_limit() -> None:
    """As beats of two versions do it."""
    handler = REGISTRY.get(TYPE)
    declare_limits([handler])
    declare_limits([replace(handler, limit=Limit(5.0, 5.0, None))])


def subscription(state: str) -> Subscription:
    made = subscribe("billing", events=["task.dead"], to=ToStream("billing"), operator=by())
    Subscription.objects.filter(id=made.id).update(state=state, holder=BEAT, fence=1)
    return made


def job(verb: Callable[..., object], **options) -> JobDefinition:
    made = make(every=3600)
    verb(made.id, operator=by(), **options)
    return made


def release_a_child() -> None:
    family(a=["root"])
    graph_begun()
    batch = start(claim_one(), "worker")
    settled(batch)
    assert release_children([task.id for task in batch.tasks]).tasks == 1


def go_on(choice: str) -> None:
    """Out of quarantine, until what is overdue is dealt with."""
    overdue("late")
    installation.quarantine("a test")
    resume_installation(Answer.checked(choice), by())
    while not step_overdue().done:
        pass


def come_near_a_quota() -> None:
    tenants.create("acme", by(), max_tasks=1)
    schedule(TYPE, "a", at=MONDAY, tenant="acme")
    count_again()
    count_used()


PROVOKED: dict[str, Callable[[], object]] = {
    "task.created": lambda: schedule(TYPE, "a", at=MONDAY, idem_key="first"),
    "task.updated": lambda: scheduled("a", at=MONDAY) and reschedule(TYPE, "a", at=TUESDAY),
    "task.replaced": lambda: started("a") and reschedule(TYPE, "a", at=TUESDAY),
    "task.released": release_a_child,
    "task.late": lambda: overdue("a") and start(claim_one(), "worker"),
    "task.succeeded": lambda: settled(started("a")),
    "task.failed": lambda: settled(started("a"), RETRY),
    "task.dead": lambda: dead("a"),
    "task.snoozed": lambda: settled(started("a"), SNOOZE),
    "task.away": lambda: away("a"),
    "task.replayed": lambda: replay(dead("a"), by="olga"),
    "task.cancelled": lambda: scheduled("a", at=MONDAY) and cancel_unit(TYPE, "a", reason="not wanted", by="olga"),
    "job.created": lambda: make(every=3600),
    "job.edited": lambda: job(verbs.edit, changes={"every": 7200, "name": "another"}),
    "job.firing_changed": lambda: job(overrides.skip, fire_time=None),
    "job.paused": lambda: job(verbs.pause, until=MONDAY),
    "job.resumed": lambda: verbs.resume(job(verbs.pause).id, by()),
    "job.triggered": lambda: job(verbs.trigger, key="now"),
    "job.deleted": lambda: job(verbs.delete),
    "lane.paused": lambda: lanes.pause("low", reason="a fire", by="olga"),
    "lane.resumed": lambda: (
        lanes.pause("low", reason="a fire", by="o") and lanes.resume("low", reason="out", by="olga")
    ),
    "limit.changed": change_a_limit,
    "installation.quarantined": lambda: installation.quarantine("it may be a copy"),
    "installation.rehearsing": lambda: installation.quarantine("a test") and rehearse(by()),
    "installation.resumed": lambda: go_on("run"),
    "installation.shifted": lambda: go_on("shift"),
    "installation.expired": lambda: go_on("latest"),
    "limit.host_changed": lambda: hosts.limit("api.example.com", by(), max_running=4),
    "job.missed": lambda: was_down(make(every=3600), timedelta(hours=5)) or plan_due(range(16), 60.0),
    "subscription.suspended": lambda: suspend(subscription("ACTIVE").id, BEAT, 1, "answered 500"),
    "subscription.resumed": lambda: resume(subscription("PAUSED").id, by()),
    "member.granted": lambda: members.grant("acme", "7", "ada", "viewer", by()),
    "member.revoked": lambda: members.grant("acme", "7", "ada", "viewer", by()) and members.revoke("acme", "ada", by()),
    "tenant.created": lambda: tenants.create("acme", by()),
    "tenant.edited": lambda: tenants.create("acme", by()) and tenants.edit("acme", {"title": "Acme"}, by()),
    "tenant.suspended": lambda: tenants.suspend("acme", by(), until=MONDAY),
    "tenant.resumed": lambda: tenants.suspend("acme", by()) and tenants.resume("acme", by()),
    "tenant.quota_near": come_near_a_quota,
    "tenant.key_rotated": lambda: tenant_keys.rotate("acme", by()),
    "tenant.key_destroyed": lambda: tenant_keys.rotate("acme", by()) and tenant_keys.destroy("acme", by()),
    "campaign.started": lambda: begun(Verb.RETRY, dead("a")),
    "campaign.finished": lambda: carried_out(begun(Verb.RETRY, dead("a"))),
    "site.activated": lambda: look() and activate("b", by()),
    "site.stood_by": lambda: look() and stand_by(by()),
    "article.created": draft,
    "article.edited": lambda: articles.edit_content(draft(), body="new", actor="bob"),
    "article.submitted": pending,
    "article.withdrawn": lambda: articles.withdraw(pending(), actor="bob"),
    "article.approved": approved,
    "article.rejected": IN_STATE[ArticleStatus.AUDIT_FAIL],
    "article.published": published,
    "article.taken_offline": IN_STATE[ArticleStatus.OFFLINE],
    "article.reopened": lambda: articles.back_to_draft(IN_STATE[ArticleStatus.OFFLINE](), actor="bob"),
    "article.publish_time_changed": lambda: articles.change_publish_time(
        approved(PUBLISH_TIME), WEDNESDAY, actor="bob"
    ),
    "article.offline_time_changed": lambda: articles.change_offline_time(published(), None, actor="bob"),
    "product.added": lambda: products.add("kettle", "Kettle"),
    "product.renamed": lambda: products.add("kettle", "Kettle") and products.rename("kettle", "Pot"),
    "product.removed": lambda: products.add("kettle", "Kettle") and products.remove("kettle", actor="ivan"),
    "product.window_changed": lambda: products.change_window(timedelta(days=3), actor="ivan"),
}


# It takes several transactions: tests/database/archive/test_tenants.py.
ELSEWHERE = {"tenant.archiving", "tenant.archived"}


def test_every_kind_is_provoked():
    assert PROVOKED.keys() == KINDS.keys() - NEVER_WRITTEN - ELSEWHERE


@pytest.mark.parametrize("kind", PROVOKED)
def test_what_is_told_is_what_the_schema_says_and_what_is_rolled_back_was_not_told(kind):
    with transaction.atomic():
        PROVOKED[kind]()
        event = told(kind)[-1]
        transaction.set_rollback(True)

    assert told() == []
    assert keeps_to(schema_of(KINDS[kind]), event.as_json()), event.as_json()
    known = KINDS[kind].data.get("properties", {})
    assert event.data is None or set(event.data) <= set(known), "a field that the schema doesn't name"


def test_what_is_not_kept_is_not_written(settings):
    for kind, provoke in PROVOKED.items():
        settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*", f"!{kind}"]}
        with transaction.atomic():
            provoke()
            assert kind not in kinds()
            transaction.set_rollback(True)


def test_nothing_is_written_at_all_if_nothing_is_kept(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": []}

    for kind, provoke in PROVOKED.items():
        if kind.startswith("subscription."):
            continue  # nobody can subscribe to what is not kept
        with transaction.atomic():
            provoke()
            assert not OutboxEvent.objects.exists()
            transaction.set_rollback(True)


def test_unless_told_otherwise_creation_and_success_are_not_kept(settings):
    settings.PUNCTUAL = {name: value for name, value in settings.PUNCTUAL.items() if name != "EVENTS"}
    schedule_many(TYPE, [{"key": "ok"}, {"key": "bad", "payload": {"do": "retry"}}])

    run_due()

    assert kinds() == ["task.failed"]


def test_tasks_of_which_nothing_is_told_are_scheduled_all_the_same(settings):
    settings.PUNCTUAL = {name: value for name, value in settings.PUNCTUAL.items() if name != "EVENTS"}
    there = schedule(TYPE, 7, at=MONDAY)

    answers = schedule_many(TYPE, [{"key": n, "at": MONDAY, "payload": {"n": n}} for n in range(1_500)])

    assert not OutboxEvent.objects.exists()
    assert [n for n, answer in enumerate(answers) if answer != ("CREATED", answer.task_id, MONDAY.timestamp())] == [7]
    assert answers[7] == ("EXISTS", there.task_id, None)
    found = ScheduleTask.objects.in_bulk([answer.task_id for answer in answers])
    assert all(found[answer.task_id].biz_key == str(n) for n, answer in enumerate(answers))
    assert all(row.payload == {"n": int(row.biz_key)} for row in found.values() if row.id != there.task_id)


# What an event says.


def test_an_event_says_all_that_is_known_of_the_task():
    made = schedule(TYPE, "a", idem_key="once", tenant="acme")
    batch = start(claim_one(), "worker-7")
    settled(batch, RETRY)

    created, failed = told()
    assert (created.tenant, created.unit, created.task) == ("acme", ("acme", TYPE, "a"), made.task_id)
    assert (created.idem_key, created.state, created.attempt, created.worker) == ("once", "INIT", None, None)
    assert datetime.fromisoformat(created.data["at"]) == row(made.task_id).execute_time
    assert (failed.idem_key, failed.state, failed.attempt) == ("once", "FAIL", 1)
    assert (failed.worker, failed.batch) == ("worker-7", batch.batch_no)
    assert failed.data["code"] == "BROKEN"
    assert datetime.fromisoformat(failed.data["next"]) == row(made.task_id).due_at
    assert failed.revision > created.revision


def test_the_attempt_of_a_success_is_the_one_that_succeeded():
    first, second = schedule_many(TYPE, [{"key": "a", "payload": {"do": "retry_until", "attempt": 3}}, {"key": "b"}])
    for _ in range(3):
        execute("UPDATE punctual_task SET due_at = clock_timestamp() WHERE status = 'FAIL'")
        run_due()

    attempts = {event.task: event.attempt for event in told("task.succeeded")}
    assert attempts == {first.task_id: 3, second.task_id: 1}


def test_an_instance_of_a_job_says_which_and_for_when():
    made = make(every=3600, tenant="acme")
    at = datetime(2089, 5, 1, 12, tzinfo=UTC)
    insert([Fired(Firing(at, wanted=True), made.id)], OF_JOB, counted=False)

    [event] = told("task.created")
    assert (event.tenant, event.job, event.fire_time) == ("acme", made.id, at)
    assert event.key == event.idem_key == f"{made.id}:2089-05-01T12:00:00Z"


def test_an_instance_that_is_taken_back_is_told():
    made = make(every=3600)
    insert([Fired(Firing(MONDAY, wanted=True), made.id)], OF_JOB, counted=False)

    verbs.pause(made.id, by(name="olga"))

    [gone] = told("task.cancelled")
    assert (gone.job, gone.fire_time, gone.state) == (made.id, MONDAY, "CANCELLED")
    assert (gone.data["code"], gone.data["by"]) == ("TAKEN_BACK", "olga")
    assert not ScheduleTask.objects.exists()


def test_events_of_a_job_say_what_was_changed_and_by_whom():
    made = make(every=3600, tenant="acme")

    verbs.edit(made.id, {"every": 7200}, by(name="olga"), tenant="acme", revision=1)

    [edited] = told("job.edited")
    assert (edited.tenant, edited.job, edited.task_type, edited.unit) == ("acme", made.id, TYPE, None)
    assert edited.data == {"name": "report", "revision": 2, "by": "olga", "changed": ["every"]}


def test_a_move_says_from_when_to_when():
    scheduled("a", at=MONDAY)

    reschedule(TYPE, "a", at=TUESDAY)

    [moved] = told("task.updated")
    assert moved.data == {"old": MONDAY.isoformat(), "new": TUESDAY.isoformat()}
    assert moved.state == "INIT"


def test_a_move_of_what_failed_says_when_it_would_have_been_tried():
    batch = started("a")
    settled(batch, RETRY)
    [task] = ids_of(batch)
    next_try = row(task).due_at

    reschedule(TYPE, "a", at=TUESDAY)

    [moved] = told("task.updated")
    assert (datetime.fromisoformat(moved.data["old"]), moved.state) == (next_try, "FAIL")


def test_what_is_replaced_is_cancelled_and_its_successor_says_so():
    [old] = ids_of(started("a"))

    new = reschedule(TYPE, "a", at=TUESDAY, by="olga").task_id

    cancelled, replaced = told()[1:]
    assert (cancelled.type, cancelled.task, cancelled.data["code"]) == ("task.cancelled", old, "SUPERSEDED")
    assert cancelled.data["by"] == "olga"
    assert (replaced.type, replaced.task, replaced.data["replaces"]) == ("task.replaced", new, old)
    assert replaced.data["new"] == TUESDAY.isoformat()
    assert cancelled.revision < replaced.revision


def test_a_successor_of_what_is_over_is_created():
    [old] = ids_of(started("a"))
    cancel_unit(TYPE, "a", reason="not wanted")

    new = ensure(TYPE, "a", at=TUESDAY).task_id

    assert [(event.type, event.task) for event in told()] == [
        ("task.created", old),
        ("task.cancelled", old),
        ("task.created", new),
    ]
    assert told()[-1].data == {"at": TUESDAY.isoformat(), "replaces": old}


def test_an_operator_s_orders_are_told():
    [waiting] = scheduled("w", at=MONDAY)
    [gone] = dead("d")

    operate(Verb.CANCEL, [waiting], by(name="olga", reason="wrong day"))
    operate(Verb.RETRY, [gone], by(name="olga"))

    [cancelled], [replayed] = told("task.cancelled"), told("task.replayed")
    assert cancelled.data == {"code": "CANCELLED", "reason": "wrong day", "by": "olga"}
    assert (replayed.task, replayed.data, replayed.state) == (gone, {"by": "olga"}, "INIT")


def test_what_the_handler_skips_says_why():
    settled(started("a"), SKIP)

    [skipped] = told("task.cancelled")
    assert skipped.data == {"code": "UNWANTED", "reason": "not wanted any more", "by": "handler"}
    assert (skipped.attempt, skipped.worker) == (1, "worker")


def test_what_is_lost_alone_has_failed_and_what_is_lost_in_company_is_not_told():
    company, alone = started("a", "b"), started("c")
    for batch in (company, alone):
        expire_lease(str(batch.batch_no))

    reap()

    [lost] = told("task.failed")
    assert (lost.key, lost.data["code"], lost.worker, lost.batch) == ("c", "LOST", "worker", alone.batch_no)


def test_what_everybody_shares_is_told_as_the_internal_tenant_s():
    lanes.pause("low", reason="a fire", by="olga")

    [paused] = told()
    assert (paused.tenant, paused.data) == (INTERNAL_TENANT, {"lane": "low", "reason": "a fire", "by": "olga"})
    assert lanes.pause("low", reason="again", by="olga") is False
    assert len(told()) == 1


def test_a_limit_is_told_when_it_is_another_one_and_not_at_every_start_of_a_beat():
    change_a_limit()
    [changed] = told("limit.changed")
    assert (changed.data["old"], changed.data["new"]["rate"], changed.task_type) == (None, 5.0, TYPE)

    declare_limits([REGISTRY.get(TYPE)])
    declare_limits([REGISTRY.get(TYPE)])

    _, gone = told("limit.changed")
    assert (gone.data["old"]["rate"], gone.data["new"]) == (5.0, None)


def test_the_limit_of_a_host_is_told_when_it_changes_and_when_it_is_lifted():
    for _ in range(2):
        hosts.limit("api.example.com", by(name="olga"), max_running=4)
    hosts.lift("api.example.com", by(name="olga"))

    set_, lifted = told("limit.host_changed")
    assert (set_.data["old"], set_.data["new"]["max_running"], set_.data["by"]) == (None, 4, "olga")
    assert (lifted.data["old"], lifted.data["new"]) == (set_.data["new"], None)


def test_articles_that_are_published_together_are_told_together():
    due = [approved(datetime(2020, 1, 1, tzinfo=UTC)) for _ in range(3)]

    articles.publish_due(due)

    live = told("article.published")
    assert {event.key for event in live} == {str(one) for one in due}
    assert len({event.row for event in live}) == 1
    assert live[0].unit[1] == "ARTICLE_PUBLISH"


# Late.


@pytest.mark.parametrize(("seconds", "late"), [(59, []), (120, ["a"])])
def test_a_run_that_begins_late_is_told(settings, seconds, late):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LATE_SECONDS": 60}
    overdue("a", seconds=seconds)

    start(claim_one(), "worker")

    assert [event.key for event in told("task.late")] == late


def test_of_a_batch_only_those_are_told_that_are_late():
    overdue("late", seconds=120)
    overdue("in time", seconds=5)
    overdue("later still", seconds=300)

    start(claim_one(), "worker")

    events = {event.key: event for event in told("task.late")}
    assert events.keys() == {"late", "later still"}
    assert 120 <= events["late"].data["late_seconds"] < 180
    assert (events["late"].state, events["late"].attempt, events["late"].worker) == ("RUNNING", 1, "worker")


def test_one_that_was_allowed_to_start_only_now_is_not_late():
    """It was scheduled for the past, say."""
    scheduled("a", at=datetime(2020, 1, 1, tzinfo=UTC))

    start(claim_one(), "worker")

    assert told("task.late") == []


def test_the_others_are_looked_at_though_the_first_was_cancelled():
    overdue("first", seconds=300)
    overdue("second", seconds=120)
    number = claim_one()
    cancel_unit(TYPE, "first", reason="not wanted")

    start(number, "worker")

    assert [event.key for event in told("task.late")] == ["second"]


# What it costs.


def test_a_batch_is_one_row_for_each_tenant_and_kind():
    for tenant in ("acme", "bolt"):
        schedule_many(TYPE, [{"key": n} for n in range(50)], tenant=tenant)
    [batch] = claim_due(size=100)

    settled(start(batch.batch_no, "worker"))

    rows = OutboxEvent.objects.filter(event="task.succeeded").order_by("tenant").values_list("tenant", "count")
    assert list(rows) == [("acme", 50), ("bolt", 50)]
    assert OutboxEvent.objects.filter(event="task.created").count() == 2
    assert {event.task for event in told("task.succeeded")} == {event.task for event in told("task.created")}


def test_a_row_knows_the_transaction_that_wrote_it():
    scheduled("a", "b")

    [(xid,)] = execute("SELECT pg_current_xact_id()::text")
    assert [one.xid for one in OutboxEvent.objects.all()] == [int(xid)]


# Apps.


def test_an_app_tells_of_a_unit():
    emit("order.paid", {"order": 5}, tenant="acme", task_type="T_ORDER", key=5)

    [event] = told()
    assert (event.unit, event.data, event.task, event.state) == (("acme", "T_ORDER", "5"), {"order": 5}, None, None)


def test_many_events_are_few_rows():
    assert emit_many("order.paid", ({"order": n} for n in range(STEP + 1))) == STEP + 1
    assert emit_many("order.shipped", [{"text": "x" * 60_000} for _ in range(30)]) == 30

    assert list(OutboxEvent.objects.order_by("id").values_list("event", "count")) == [
        ("order.paid", STEP),
        ("order.paid", 1),
        ("order.shipped", 17),
        ("order.shipped", 13),
    ]
    assert [event.data["order"] for event in told("order.paid")] == list(range(STEP + 1))


def test_an_app_s_event_that_is_not_kept_is_not_written(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*", "!order.*"]}

    assert emit_many("order.paid", [{}, {}]) == 0
    assert told() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task_type": "T"}, "give both, or neither"),
        ({"keys": ["a"]}, "give both, or neither"),
        ({"task_type": "T", "keys": ["a", "b"]}, "1 payloads and 2 keys"),
        ({"task_type": "T", "keys": [""]}, "key"),
        ({"tenant": ""}, "tenant"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_nothing_is_told(options, words):
    with pytest.raises(InvalidTask, match=words):
        emit_many("order.paid", [{}], **options)

    assert told() == []


def test_only_what_is_in_the_catalogue_can_be_told_of_ours():
    with pytest.raises(KeyError):
        tell("task.exploded", {})


def test_what_versions_before_have_written_is_read():
    execute("INSERT INTO punctual_outbox (tenant, event, task_id) VALUES ('default', 'task.failed', 5)")
    execute(
        "INSERT INTO punctual_outbox (tenant, event, payload) VALUES ('internal', 'PUBLISH_TIME_CHANGED', %(payload)s)",
        {"payload": '{"a": 1}'},
    )

    failed, changed = told()
    assert (failed.task, failed.state, failed.unit) == (5, "FAIL", None)
    assert changed.data == {"a": 1}
