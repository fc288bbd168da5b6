"""Encryption: nothing of an encrypted task is in the database in the clear, its handler sees all of it, and without its
key nobody does."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import ensure, find, reschedule, schedule, schedule_many
from tasks_app.core.away import Run
from tasks_app.core.confidential import Encrypted, Unreadable
from tasks_app.core.errors import InvalidTask, NothingToDo, NotThere, QuotaExceeded
from tasks_app.core.keyring import CannotUnseal, local_key, new_key
from tasks_app.engine.beat import tenants as chore
from tasks_app.engine.nodes import new_node_id, report_worker
from tasks_app.engine.operations import secrets
from tasks_app.engine.operations.reveal import Hidden, Part, reveal
from tasks_app.engine.watch.keys import keys_of, read_keys, walk_view
from tasks_app.engine.watch.verdict.keys import keys_not_rotated, keys_out_of_reach
from tasks_app.lifecycle import asking, key_walk, tenant_keys, tenants
from tasks_app.lifecycle.away import Completed, Failed
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.rerun import rerun
from tasks_app.lifecycle.logs import lines_of
from tasks_app.lifecycle.named_secrets import opened
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.reports import report, report_progress
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.lifecycle.view import current_tasks
from tasks_app.models import (
    DlqEntry,
    EarlyReport,
    JobDefinition,
    KeyWalk,
    Node,
    OutboxEvent,
    PastTask,
    ScheduleTask,
    Secret,
    TaskAttempt,
    TaskBatch,
    TaskLog,
    Tenant,
    TenantKey,
)
from tests.support.audit import deeds
from tests.support.engine import make_due, row, run_due
from tests.support.graphs import begun, child, tasks
from tests.support.jobs import by, make
from tests.support.moves import AWAY, TYPE, ids_of, settled, started, state
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

WORD = "zebra-4711"  # what nobody may find
HIDDEN = "T_HIDDEN"
TABLES = """
SELECT c.relname FROM pg_class c
WHERE c.relname LIKE 'punctual%%' AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
"""


@pytest.fixture(autouse=True)
def _not_stopped():
    """As the beats of other tests may have left it."""
    chore._stopped.clear()


@pytest.fixture
def acme(db) -> str:
    tenants.create("acme", operator(), encrypted=True)
    return "acme"


def where(word: str = WORD) -> list[str]:
    """The tables that have the word anywhere in the clear."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(TABLES, [])
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s", [f"%{word}%"])
            if cursor.fetchone()[0]:
                found.append(table)
    return sorted(found)


def one(task_type: str = TYPE, key: str = "a", tenant: str = "acme", *, returns: object = None, **says: object) -> int:
    payload = {"word": WORD, "return": returns} | says
    return schedule(task_type, key, payload=payload, tenant=tenant).task_id


def walk() -> KeyWalk:
    """To its end, without a pause between two rounds."""
    for _ in range(100):
        KeyWalk.objects.update(updated_at=timezone.now() - timedelta(hours=1))
        if not key_walk.step_walk() and KeyWalk.objects.get().state != KeyWalk.RUNNING:
            break
    return KeyWalk.objects.get()


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("keys", *arguments, stdout=out, stderr=out)
    return out.getvalue()


# What is stored, and who sees what.


def test_nothing_of_an_encrypted_tenant_is_in_the_clear_anywhere_in_the_database(acme):
    set_secret("crm", operator(), tenant=acme, value=f"token-{WORD}")
    job = make("report", tenant=acme, payload={"word": WORD}, every=3600)
    verbs.edit(job.id, {"payload": {"word": WORD, "do": "ok"}}, by(), tenant=acme)
    verbs.trigger(job.id, "now", by(), tenant=acme, payload={"word": WORD})
    one(key="good", returns={"said": WORD}, log=[WORD], progress=[0.5, WORD])
    one(key="bad", do="retry", message=f"no {WORD}")
    dead = one(key="dead", do="die", message=f"never {WORD}")
    one(key="crash", do="crash", message=WORD)
    one(key="skipped", do="skip", reason=f"no {WORD}")
    reschedule(TYPE, "later", at=timezone.now() + timedelta(days=1), payload={"word": WORD}, tenant=acme)
    reschedule(TYPE, "later", at=timezone.now() + timedelta(days=2), payload={"word": WORD}, tenant=acme)

    run_due()

    assert where() == []
    states = dict(ScheduleTask.objects.filter(tenant=acme, task_type=TYPE, job=None).values_list("biz_key", "status"))
    assert states == {
        "good": "SUCCESS",
        "bad": "FAIL",
        "dead": "DEAD",
        "crash": "FAIL",
        "skipped": "CANCELLED",
        "later": "INIT",
    }
    assert DlqEntry.objects.get(task_id=dead).error_msg == "encrypted"
    told = [one for event in OutboxEvent.objects.filter(event="task.dead") for one in event.payloads]
    assert [one["message"] for one in told] == ["encrypted"]
    assert [lines.text for log in TaskLog.objects.all() for lines in lines_of(log)] == ["encrypted"]


def test_pages_and_programs_read_the_word_for_it_and_tests_what_they_gave(acme):
    task = one(returns={"said": 1})
    run_due()

    found = find(TYPE, "a", tenant=acme)
    assert (found.payload, found.result, row(task).payload) == ("encrypted",) * 3
    [opened_task] = current_tasks(TYPE, tenant=acme)
    assert opened_task.payload["word"] == WORD


def test_what_others_schedule_stays_as_it_is_and_costs_no_statement_more(acme, django_assert_num_queries):
    schedule(TYPE, "first", payload={"word": WORD})
    with django_assert_num_queries(1):
        schedule_many(TYPE, [{"key": n, "payload": {"word": WORD}} for n in range(3)])

    run_due()

    assert where() == ["punctual_task"]
    assert TenantKey.objects.filter(tenant="default").count() == 0


def test_a_process_that_does_not_know_that_a_tenant_asks_for_it_finds_out(acme):
    for key in ("a", "b"):
        asking.ASKING.clear()
        one(key=key)
    asking.ASKING.clear()
    reschedule(TYPE, "a", at=timezone.now(), payload={"word": WORD}, tenant=acme)
    batch = started("c", tenant=acme)
    asking.ASKING.clear()
    reschedule(TYPE, "c", at=timezone.now(), payload={"word": WORD}, tenant=acme)  # it runs: another row takes over

    assert where() == []
    assert settled(batch) == 2
    run_due()
    assert set(ScheduleTask.objects.filter(current=True).values_list("status", flat=True)) == {"SUCCESS"}


def test_a_tenant_that_asks_no_more_is_stored_in_the_clear_again(acme):
    one(key="a")
    tenants.edit(acme, {"encrypted": False}, operator())

    one(key="b")
    run_due()

    assert isinstance(find(TYPE, "a", tenant=acme).payload, Encrypted)
    assert find(TYPE, "b", tenant=acme).payload["word"] == WORD

    past()
    assert PastTask.objects.count() == 2  # where it is read in the same way
    assert isinstance(find(TYPE, "a", tenant=acme).payload, Encrypted)
    assert find(TYPE, "b", tenant=acme).payload["word"] == WORD


def test_a_type_can_ask_for_it_in_every_tenant():
    for tenant in ("default", "acme"):
        one(HIDDEN, tenant=tenant, returns={"said": WORD})

    run_due()

    assert where() == []
    assert sorted(TenantKey.objects.values_list("tenant", flat=True)) == ["acme", "default"]
    assert {one.status for one in ScheduleTask.objects.all()} == {"SUCCESS"}


@pytest.mark.parametrize(
    ("does", "status"),
    [("ok", "SUCCESS"), ("retry", "FAIL"), ("die", "DEAD"), ("skip", "CANCELLED"), ("crash", "FAIL"), ("away", "AWAY")],
)
def test_an_encrypted_task_comes_to_the_same_as_any_other(does, status):
    task, plain = one(HIDDEN, do=does), schedule(TYPE, "a", payload={"do": does}).task_id

    run_due()

    assert (state(task).status, state(plain).status) == (status, status)


def test_the_causes_of_dead_letters_are_told_apart_by_code_and_place(acme):
    for key in ("a", "b"):
        one(key=key, do="die", message=f"{key} {WORD}")
    run_due()

    assert len(set(DlqEntry.objects.values_list("fingerprint", flat=True))) == 1


def test_a_payload_that_looks_encrypted_is_refused_and_an_error_that_does_is_not_taken_for_it():
    hidden = Encrypted("1:1:AAAA")
    with pytest.raises(InvalidTask, match="reserved"):
        schedule(TYPE, "a", payload=hidden.as_json)

    failing = schedule(TYPE, "b", payload={"do": "retry", "message": hidden.as_text}).task_id
    run_due()
    assert row(failing).error_msg == f" {hidden.as_text}"


def test_a_quota_for_payloads_is_about_what_was_given(acme):
    tenants.edit(acme, {"max_payload_bytes": 100}, operator())

    schedule(TYPE, "a", payload={"x": "y" * 90}, tenant=acme)
    with pytest.raises(QuotaExceeded, match="may have 100"):
        schedule(TYPE, "b", payload={"x": "y" * 100}, tenant=acme)


def test_a_child_sees_what_its_parents_returned():
    make("root", task_type=HIDDEN, every=3600, payload={"return": {"said": WORD}})
    after = child("after", "root", task_type="T_PARENTS")
    verbs.trigger(JobDefinition.objects.get(name="root").id, "now", by())
    while run_due():
        pass

    told = ScheduleTask.objects.get(job=after.id)
    assert told.result["root"][1:] == ["SUCCESS", {"said": WORD}]


def test_what_is_reported_about_a_task_that_is_away_is_encrypted_and_answered_once(acme):
    task = ids_of(settled_away())[0]
    found = row(task)
    about = Run(acme, found.token, found.id, found.ran_in)

    report_progress(about, fraction=0.5, note=WORD)
    answer = report(about, Completed({"said": WORD}))

    assert report(about, Completed({"said": WORD})) == answer
    assert isinstance(row(task).result, Encrypted)
    assert where() == []
    assert reveal(row(task), operator())[1] == Part(Hidden.RESULT, {"said": WORD})


def settled_away():
    batch = started("a", tenant="acme")
    settled(batch, AWAY)
    return batch


def test_a_report_that_comes_early_is_encrypted_while_it_waits(acme):
    batch = started("a", "b", tenant=acme)
    first, second = ids_of(batch)
    for task, outcome in ((first, Completed({"said": WORD})), (second, Failed("NO", WORD))):
        report(Run(acme, row(task).token, task, batch.batch_no), outcome)
    assert EarlyReport.objects.count() == 2 and where() == []

    settled(batch, AWAY)

    assert (state(first).status, state(second).status) == ("SUCCESS", "FAIL")
    assert where() == []


# In bytes.


def test_the_bytes_go_wherever_the_payload_goes(acme):
    in_an_hour = timezone.now() + timedelta(hours=1)
    one(key="moved")
    reschedule(TYPE, "moved", at=in_an_hour, tenant=acme)
    batch = started("running", tenant=acme, payload={"word": WORD})
    reschedule(TYPE, "running", at=in_an_hour, tenant=acme)  # another row takes over
    settled(batch)
    over = one(key="over")
    run_due()
    past()
    assert _word(PastTask.objects.get(id=over)) == WORD
    ensure(TYPE, "over", at=in_an_hour, tenant=acme)  # from the past, and another row takes over
    reschedule(TYPE, "new", at=in_an_hour, payload={"word": "first"}, tenant=acme)
    reschedule(TYPE, "new", at=in_an_hour, payload={"word": WORD}, tenant=acme)

    found = ScheduleTask.objects.filter(current=True, due_at__isnull=False)
    assert {task.biz_key: _word(task) for task in found} == dict.fromkeys(("moved", "running", "over", "new"), WORD)
    assert all(task.payload.envelope == f"1:{task.payload.key}:" and task.payload_bytes for task in found)

    tenants.edit(acme, {"encrypted": False}, operator())
    reschedule(TYPE, "moved", at=in_an_hour, payload={"word": "clear"}, tenant=acme)
    assert [(task.payload, task.payload_bytes) for task in found.filter(biz_key="moved")] == [({"word": "clear"}, None)]


def test_an_instance_with_a_payload_of_its_own_keeps_it_for_another_run_and_loses_it_to_an_edit_of_its_job():
    make("root", task_type=HIDDEN, every=3600, payload={"word": "the job's"})
    after = child("after", "root", task_type=HIDDEN, payload={"word": "the job's"})
    run = begun()
    for instance in tasks().values():
        reschedule(HIDDEN, instance.biz_key, at=timezone.now(), payload={"word": WORD})
    assert {name: (_word(task), task.payload_bytes is None) for name, task in tasks().items()} == {
        "root": (WORD, False),
        "after": (WORD, False),
    }

    verbs.edit(after.id, {"payload": {"word": "edited"}}, by())
    assert (_word(tasks()["after"]), tasks()["after"].payload_bytes) == ("edited", None)
    while run_due():
        pass
    rerun(run.id, by(), tenant="default", from_job="root")

    assert {name: (_word(task), task.status) for name, task in tasks().items()} == {
        "root": (WORD, "INIT"),
        "after": ("edited", "BLOCKED"),
    }


def _word(task: ScheduleTask | PastTask) -> str:
    return reveal(task, operator())[0].value["word"]


def past() -> None:
    """All that is over goes to the past."""
    long_ago = timezone.now() - timedelta(days=2)
    TaskBatch.objects.update(finished_at=long_ago)
    ScheduleTask.objects.filter(due_at=None).update(updated_at=long_ago)
    move_batches()


@pytest.mark.parametrize(("figures", "in_bytes"), [(None, False), ({"pid": 7}, False), ({"in_bytes": True}, True)])
def test_while_a_process_of_before_is_there_new_keys_store_payloads_as_it_reads_them(acme, figures, in_bytes):
    Node.objects.create(node_id=new_node_id(), kind=Node.WORKER, name="old:1", figures=figures)

    assert tenant_keys.rotate(acme, operator()).in_bytes is in_bytes
    Node.objects.update(seen_at=Now() - timedelta(minutes=1))
    assert tenant_keys.rotate(acme, operator()).in_bytes is True


def test_a_beat_and_a_worker_say_that_they_read_payloads_in_bytes():
    report_worker(new_node_id(), "new:1", 2, ["default"])

    assert Node.objects.get().figures["in_bytes"] is True


def test_a_key_of_before_stores_payloads_as_processes_of_then_read_them_until_another_one_does(acme):
    TenantKey.objects.update(in_bytes=False)
    over = one(key="over")
    run_due()
    past()
    waiting = one(key="waiting")
    reschedule(TYPE, "waiting", at=timezone.now(), payload={"word": WORD}, tenant=acme)
    stored = [PastTask.objects.get(id=over), row(waiting)]
    assert [(len(task.payload.envelope) > 50, task.payload_bytes) for task in stored] == [(True, None)] * 2

    tenant_keys.rotate(acme, operator())
    assert walk().unreadable == 0

    stored = [PastTask.objects.get(id=over), row(waiting)]
    assert [task.payload.envelope for task in stored] == [f"1:{TenantKey.objects.latest('id').id}:"] * 2
    assert [_word(task) for task in stored] == [WORD] * 2 and where() == []
    run_due()
    assert row(waiting).status == "SUCCESS"


# Bound to its row.


def test_a_payload_that_was_swapped_is_refused_before_the_handler_is_called(acme):
    good, swapped, other, gone = (one(key=key) for key in ("a", "b", "c", "d"))
    ScheduleTask.objects.filter(id=swapped).update(payload_bytes=row(other).payload_bytes)
    ScheduleTask.objects.filter(id=gone).update(payload_bytes=None)

    run_due()

    assert [row(task).status for task in (good, swapped, other, gone)] == ["SUCCESS", "DEAD", "SUCCESS", "DEAD"]
    assert row(swapped).error_code == "UNREADABLE"
    assert "belongs to another row" in row(swapped).error_msg
    assert row(swapped).start_time == row(swapped).finish_time


def test_a_job_that_is_renamed_and_its_instances_keep_what_they_were_given(acme):
    job = make("report", tenant=acme, payload={"return": 7}, every=3600)
    verbs.edit(job.id, {"name": "other"}, by(), tenant=acme)
    verbs.edit(job.id, {"payload": "encrypted", "max_runs": 5}, by(), tenant=acme)  # as a form shows it
    verbs.trigger(job.id, "now", by(), tenant=acme)
    instance = ScheduleTask.objects.get(job=job.id)
    ensure(TYPE, instance.biz_key, at=timezone.now(), tenant=acme)

    run_due()

    assert reveal(row(ScheduleTask.objects.get(job=job.id).id), operator())[0].value == {"return": 7}
    assert ScheduleTask.objects.get(job=job.id).status == "SUCCESS"


def test_a_job_whose_payload_is_edited_says_so_without_saying_what(acme):
    job = make("report", tenant=acme, payload={"word": WORD}, every=3600)
    verbs.edit(job.id, {"payload": {"word": "other"}}, by(), tenant=acme)

    told = [one for event in OutboxEvent.objects.filter(event="job.edited") for one in event.payloads]
    assert "payload" in told[0]["changed"]
    assert where() == where("other") == []


# Looking.


def test_each_look_is_audited_with_its_reason(acme):
    task = one(do="retry", message=f"no {WORD}", log=["line"])
    run_due()

    shown = {part.title: part.text for part in reveal(row(task), operator("a complaint"))}

    assert list(shown) == ["Payload", "Last error", "Try 1, which failed", "Log of try 1"]
    assert shown["Last error"] == f"no {WORD}" and WORD in shown["Payload"]
    [entry] = deeds().filter(verb="decrypt")
    assert (entry.subject, entry.reason, entry.tenant, entry.task_id) == (f"task {task}", "a complaint", acme, task)
    with pytest.raises(NothingToDo):
        reveal(row(schedule(TYPE, "plain").task_id), operator())
    assert deeds().filter(verb="decrypt").count() == 1


# Keys.


def test_a_new_key_is_for_what_is_new_and_the_old_one_opens_what_is_old(acme):
    one(key="old")
    old = TenantKey.objects.get()
    made = tenant_keys.rotate(acme, operator())
    one(key="new")

    assert {found.biz_key: found.payload.key for found in ScheduleTask.objects.all()} == {"old": old.id, "new": made.id}
    run_due()
    assert {found.status for found in ScheduleTask.objects.all()} == {"SUCCESS"}
    assert [found.state for found in keys_of(acme)] == ["opens", "encrypts"]


def test_stored_data_is_brought_under_the_newest_key_and_was_all_encrypted_before(acme):
    set_secret("crm", operator(), tenant=acme, value=f"token-{WORD}")
    make("report", tenant=acme, payload={"word": WORD}, every=3600)
    one(key="bad", do="retry", message=f"no {WORD}", log=[WORD])
    one(key="dead", do="die", message=f"no {WORD}")
    one(key="good", returns=WORD)
    run_due()
    made = tenant_keys.rotate(acme, operator())

    done = walk()

    assert (done.state, done.left, done.unreadable) == (KeyWalk.DONE, 0, 0)
    stored = [
        getattr(found, name) for found in ScheduleTask.objects.all() for name in ("payload", "result", "error_msg")
    ]
    stored += [found.error_msg for found in (*TaskAttempt.objects.all(), *DlqEntry.objects.all())]
    stored += [found.payload for found in JobDefinition.objects.all()]
    stored += [line.text for log in TaskLog.objects.all() for line in lines_of(log)]
    assert {value.key for value in stored if isinstance(value, Encrypted)} == {made.id}
    assert f":{made.id}:" in Secret.objects.get().values[0]
    assert opened([(acme, "crm")])[acme, "crm"].values == (f"token-{WORD}",)
    assert where() == []
    tasks = ScheduleTask.objects.filter(job=None)
    assert len([reveal(found, operator()) for found in tasks]) == 3
    assert key_walk.step_walk() is False


def test_what_was_there_before_a_tenant_asked_is_encrypted_by_the_beats():
    tenants.create("acme", operator())
    set_secret("crm", operator(), tenant="acme", value=f"token-{WORD}")
    make("report", tenant="acme", payload={"word": WORD}, every=3600)
    one(key="dead", do="die", message=f"no {WORD}", log=[WORD])
    one(key="over", returns=WORD)
    schedule(TYPE, "ours", payload={"word": "ours"})
    run_due()
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    ScheduleTask.objects.filter(biz_key="over").update(updated_at=timezone.now() - timedelta(days=2))
    move_batches()
    assert PastTask.objects.filter(biz_key="over").exists()
    OutboxEvent.objects.all().delete()  # what was told in the clear is told
    assert where() == sorted(set(where())) != []

    tenants.edit("acme", {"encrypted": True}, operator())
    chore.walk_keys()

    assert KeyWalk.objects.get().state == KeyWalk.DONE
    assert [table for table in where() if not table.startswith("punctual_audit")] == []
    assert where("ours") != []
    run_due()


def test_a_task_that_runs_is_left_for_another_round(acme):
    batch = started("a", tenant=acme)
    made = tenant_keys.rotate(acme, operator())
    for _ in range(20):
        key_walk.step_walk()
    waiting = KeyWalk.objects.get()
    assert (waiting.state, waiting.rounds, waiting.place, waiting.after) == (KeyWalk.RUNNING, 1, 0, 0)
    assert key_walk.step_walk() is False  # not before a pause

    settled(batch)

    assert walk().state == KeyWalk.DONE
    assert ScheduleTask.objects.get().payload.key == made.id


def test_the_walk_is_stopped_and_goes_on_where_it_was(acme):
    for number in range(6):
        one(key=str(number))
    tenant_keys.rotate(acme, operator())
    for _ in range(3):
        key_walk.step_walk(2)
    key_walk.stop_walk(operator())
    stopped = KeyWalk.objects.get()
    assert key_walk.step_walk() is False and (stopped.place, stopped.changed) == (2, 2)
    with pytest.raises(NothingToDo), transaction.atomic():
        key_walk.stop_walk(operator())
    assert "at live tasks" in walk_view().words and "It was stopped" in walk_view().words

    key_walk.resume_walk(operator())

    assert walk().changed == 6
    assert list(deeds().filter(subject=key_walk.SUBJECT).values_list("outcome", flat=True).order_by("id")) == [
        "stopped",
        "resumed",
    ]


def test_without_its_key_nothing_of_a_tenant_can_be_read_and_its_tasks_fail_for_good(acme):
    set_secret("crm", operator(), tenant=acme, value="token-4711")
    over = one(key="over")
    run_due()
    waiting = one(key="waiting")
    tenant_keys.rotate(acme, operator())

    assert tenant_keys.destroy(acme, operator("they have left")) == 2

    run_due()
    assert (row(waiting).status, row(waiting).error_code) == ("DEAD", "UNREADABLE")
    assert "was destroyed" in row(waiting).error_msg
    with pytest.raises(Unreadable, match="was destroyed"):
        reveal(row(over), operator())
    assert "was destroyed" in opened([(acme, "crm")])[acme, "crm"].problem
    with pytest.raises(InvalidTask, match="keys rotate acme"), transaction.atomic():
        one(key="new")
    with pytest.raises(NothingToDo), transaction.atomic():
        tenant_keys.destroy(acme, operator())
    with pytest.raises(NotThere), transaction.atomic():
        tenant_keys.destroy("nobody", operator())
    assert deeds().get(verb="destroy").reason == "they have left"
    assert not TenantKey.objects.exclude(sealed="").exists()
    assert walk().state == KeyWalk.DONE

    tenant_keys.rotate(acme, operator())
    again = one(key="new")
    run_due()
    assert row(again).status == "SUCCESS"


# The installation's keys.

OLD, NEW = new_key(), new_key()


def use(settings, *keys: object) -> None:
    # No worker falls silent meanwhile, however slow the machine is.
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": keys, "NODE_TTL_SECONDS": 60.0}


def test_a_master_is_rotated_without_touching_data_and_taking_it_away_too_early_is_told(settings):
    use(settings, OLD)
    tenants.create("acme", operator(), encrypted=True)
    tasks = [one(key=key) for key in ("a", "b")]

    use(settings, NEW)  # too early
    assert read_keys().missing == (local_key(OLD).id,)
    report_worker(new_node_id(), "worker-1", 2, ["default"])
    [problem] = keys_out_of_reach(_status())
    assert "before its last copy is gone" in problem.outward and local_key(OLD).id in problem.detail
    run_due()
    assert {(state(task).status, state(task).due, row(task).error_code) for task in tasks} == {
        ("INIT", True, "KEY_OUT_OF_REACH")
    }
    assert [found.reachable for found in keys_of()] == [False]

    use(settings, NEW, OLD)  # a worker that has no such copy is told of by those that do
    assert read_keys().missing == () and list(keys_not_rotated(_status())) == []
    [problem] = keys_out_of_reach(_status())
    assert problem.detail == f"worker-1 lacks {local_key(OLD).id}."
    Node.objects.all().delete()
    report_worker(new_node_id(), "worker-1", 2, ["default"])
    assert list(keys_out_of_reach(_status())) == []
    [problem] = keys_not_rotated(_status())
    assert local_key(OLD).id in problem.detail
    assert secrets.rotate().rewrapped == 1
    assert list(keys_not_rotated(_status())) == []
    use(settings, NEW)
    assert read_keys().missing == ()
    make_due(*tasks)
    run_due()
    assert {state(task).status for task in tasks} == {"SUCCESS"}


def _status():
    from tasks_app.engine.watch.status import read_status

    return read_status()


class Service:
    """A key management service that can be away."""

    id = "kms-1"

    def __init__(self) -> None:
        self.away, self._key = False, local_key(OLD)

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        return self._key.wrap(key, bound_to)

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        if self.away:
            raise ConnectionError("the service is away")
        return self._key.unwrap(wrapped, bound_to)


def test_while_a_key_management_service_is_away_tasks_wait_and_no_retry_is_used(settings):
    service = Service()
    use(settings, service)
    tenants.create("acme", operator(), encrypted=True)
    task = one()
    use(settings, service)  # as a new process, which has opened nothing yet
    service.away = True

    run_due()
    assert (state(task).status, row(task).retry_count, row(task).error_code) == ("INIT", 0, "KEY_OUT_OF_REACH")

    service.away = False
    make_due(task)
    run_due()
    assert state(task).status == "SUCCESS"


def test_a_key_that_was_copied_to_another_tenant_does_not_open(acme):
    tenants.create("evil", operator(), encrypted=True)
    theirs, ours = TenantKey.objects.get(tenant="evil"), TenantKey.objects.get(tenant=acme)
    task = one(tenant="evil")
    TenantKey.objects.filter(id=theirs.id).update(sealed=ours.sealed)

    run_due()

    assert (row(task).status, row(task).error_code) == ("DEAD", "UNREADABLE")
    with pytest.raises((Unreadable, CannotUnseal)):
        one(key="new", tenant="evil")


# The command.


def test_the_command_switches_shows_rotates_stops_and_destroys(monkeypatch):
    assert "No tenant has a key" in said("show")
    assert "is encrypted from now on" in said("on", "acme")
    assert "encrypted already" in said("on", "acme")
    task = one()
    assert "encrypts what is written now" in said("show", "acme")
    assert json.loads(said("show", "--json"))["keys"][0]["tenant"] == "acme"
    assert "Key " in said("rotate", "acme")
    said("stop")
    assert "It was stopped" in said("show")
    said("resume")
    assert "newest keys" in said("reencrypt")
    assert WORD in said("decrypt", str(task), "--reason", "a complaint")
    assert "in the clear from now on" in said("off", "acme")
    monkeypatch.setattr("builtins.input", lambda _: "acne")
    with pytest.raises(CommandError, match="not its name"):
        said("destroy", "acme", "--reason", "gone")
    assert TenantKey.objects.filter(destroyed_at=None).count() == 2
    monkeypatch.setattr("builtins.input", lambda _: "acme")
    assert "2 keys of tenant 'acme' destroyed" in said("destroy", "acme", "--reason", "gone")
    with pytest.raises(CommandError, match="was destroyed"):
        said("decrypt", str(task), "--reason", "a complaint")
    with pytest.raises(CommandError, match="nothing to hide"):
        said("on", "internal")
    with pytest.raises(CommandError, match="There is no task 99"):
        said("decrypt", "99", "--reason", "x")


def test_a_tenant_says_true_or_false():
    with pytest.raises(InvalidTask, match="true or false"):
        tenants.create("acme", operator(), encrypted="yes")
    assert Tenant.objects.filter(name="acme").count() == 0
