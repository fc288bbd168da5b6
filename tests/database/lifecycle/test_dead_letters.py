"""What a dead letter tells: its cause, its tags, the code that failed; and how letters of one cause are found alike."""

import pytest

from django_punctual import RetryableError, UnrecoverableError, schedule
from tasks_app.core.errors import InvalidTask
from tasks_app.core.task import Failure
from tasks_app.engine.worker.interruption import over_time
from tasks_app.engine.worker.outcomes import outcome_of
from tasks_app.lifecycle.dead_letter import discard
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import DlqEntry, ScheduleTask
from tasks_app.sql import execute
from tests.support.engine import claim_due, expire_lease, run_due
from tests.support.moves import FINAL, TYPE, dead, ids_of, settled, started, state

pytestmark = pytest.mark.django_db(transaction=True)


def cause(message: str, code: str = "X", task_type: str = "T", frame: str = "") -> str:
    [(found,)] = execute("SELECT punctual_fingerprint(%s, %s, %s, %s)", [task_type, code, message, frame])
    return found


@pytest.mark.parametrize(
    "messages",
    [
        ("order 17 is unknown", "order 4711 is unknown"),
        ("no such user 'anna'", "no such user 'bert@example.org'"),
        ('KeyError: "total"', 'KeyError: "sum of it"'),
        ("`gone` is no table", "`lost` is no table"),
        ("order A-17/b is gone", "order A-9/b is gone"),
        ("token 0f8fad5b-d9cb-469f-a165-70867728950e", "token 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("token abcdefab-cdef-4bcd-abcd-abcdefabcdef", "token 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("at 0x7f3a2c", "at 0xdeadbeef"),
        ("commit deadbeef is missing", "commit 1f2e3d4c is missing"),
        ("since 2026-11-16T06:14:53+00:00", "since 2025-01-02 03:04:05.678Z"),
        ("since Mon, 16 Nov 2026 06:14:53 GMT", "since Tue, 3 Mar 2026 16:04:03 GMT"),
        ("took -3.5 s, of 1,000", "took 12 s, of 5"),
        ("ids 1, 2, 3 are gone", "ids 7 are gone"),
        ("mail to a@b.example failed", "mail to long.name@elsewhere.example failed"),
        ("connection to 10.0.0.7:5432 refused", "connection to 192.168.1.20:6432 refused"),
        ("  it broke\n\nFile x.py, line 1", "it broke\n\nFile y.py, line 2"),
        ("a  b", "a b"),
    ],
)
def test_what_differs_from_task_to_task_is_no_part_of_the_cause(messages):
    assert cause(messages[0]) == cause(messages[1])


@pytest.mark.parametrize(
    "other",
    [{"message": "it can't be read"}, {"code": "Y"}, {"task_type": "U"}, {"frame": "shop.handlers:send"}],
)
def test_another_type_code_message_or_code_that_failed_is_another_cause(other):
    assert cause(**{"message": "it can't be found"} | other) != cause("it can't be found")


@pytest.mark.parametrize("message", ["", "\x01", "ß" * 5000, "'" * 999, "%s %(x)s \\ $1", "1" * 5000])
def test_any_message_has_a_cause(message):
    assert len(cause(message)) == 16


def test_a_letter_has_its_cause_whoever_writes_it():
    """The version before, which goes on running while a new one is deployed, writes none."""
    [task] = dead("a")
    columns = "task_id, tenant, task_type, error_code, error_msg"
    DlqEntry.objects.all().delete()

    execute(f"INSERT INTO punctual_dead_letter ({columns}) VALUES (%s, 'default', 'T', 'X', 'no 7')", [task])

    letter = DlqEntry.objects.get()
    assert (letter.fingerprint, letter.tags, letter.frame) == (cause("no 8"), [], "")


def letter_of(task_type: str, payload: dict, **options: object) -> DlqEntry:
    schedule(task_type, "a", payload=payload, **options)
    run_due()
    return DlqEntry.objects.get()


MODES = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_BATCH", "T_TWO_PHASE"]


@pytest.mark.parametrize("task_type", MODES)
def test_a_letter_tells_the_handlers_tags_and_the_apps_code_that_failed(task_type):
    letter = letter_of(task_type, {"do": "die", "tags": ["gateway", "eu"]})

    assert letter.tags == ["gateway", "eu"]
    assert letter.frame.startswith("tests.support.testapp.handlers:act")
    assert "in act" in letter.traceback
    assert "UnrecoverableError(" in letter.traceback
    assert "tasks_app/engine" not in letter.traceback


def test_letters_of_one_cause_are_alike_and_those_of_another_are_not():
    for key, message in enumerate(["order 17 has no address", "order 4 has no address", "no stock"]):
        schedule("T_PLAIN", key, payload={"do": "die", "message": message})
    run_due()

    one, two, other = DlqEntry.objects.order_by("task_id").values_list("fingerprint", flat=True)
    assert one == two != other


def test_the_stack_of_a_bug_is_in_its_message():
    letter = letter_of("T_PLAIN", {"do": "crash"}, max_retry=0)

    assert (letter.error_code, letter.traceback, letter.tags) == ("KeyError", "", [])
    assert "handlers.py" in letter.error_msg
    assert letter.frame.endswith(":act")


def test_a_retry_that_failed_for_the_last_time_is_tagged():
    assert letter_of("T_PLAIN", {"do": "retry"}, max_retry=0).tags == ["transient_error"]


def test_what_asks_for_code_that_nobody_has_is_tagged():
    schedule("CELERY_TASK", "a", payload={"task": "no.such.task"}, max_retry=0)
    run_due()
    assert DlqEntry.objects.get().tags == ["unknown_handler", "transient_error"]


@pytest.mark.parametrize(
    ("error", "tags"),
    [
        (ConnectionRefusedError("no"), ("transient_error",)),
        (TimeoutError("no"), ("transient_error",)),
        (ValueError("no"), ()),
        (over_time(2), ("timeout",)),
        (RetryableError("no", tags=["a", "transient_error"]), ("transient_error", "a")),
        (UnrecoverableError("no", code="BAD_PAYLOAD", tags=["a"]), ("bad_payload", "a")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_brings_its_tags(error, tags):
    assert outcome_of(error).tags == tags


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ("gateway", "must be a list of tags"),
        (["Gateway"], "the tag 'Gateway' won't do"),
        ([""], "the tag '' won't do"),
        ([7], "the tag 7 won't do"),
        (["a" * 51], "won't do"),
        (["ok\n"], "won't do"),
        ([f"t{n}" for n in range(21)], "21 tags are too many"),
    ],
)
@pytest.mark.parametrize("error", [RetryableError, UnrecoverableError])
def test_a_tag_that_won_t_do_is_refused_where_it_is_given(error, tags, words):
    with pytest.raises(InvalidTask, match=words):
        error("x", tags=tags)


def test_a_lost_task_is_tagged_and_all_of_one_type_have_one_cause():
    for key in "ab":
        schedule(TYPE, key, max_retry=0)
    for batch in claim_due(size=1):
        start(batch.batch_no, f"worker {batch.batch_no}")
        expire_lease(batch)

    reap()

    letters = DlqEntry.objects.all()
    assert {tuple(letter.tags) for letter in letters} == {("lease_expired",)}
    assert len({letter.fingerprint for letter in letters}) == 1


def test_a_letter_of_an_instance_names_its_job():
    batch = started("a")
    ScheduleTask.objects.update(job=7)

    settled(batch, FINAL)

    assert DlqEntry.objects.get().job == 7


def test_more_than_a_letter_can_hold_is_cut():
    batch = started("a")
    long = Failure("X" * 99, "m" * 9_999, final=True, frame="f" * 999, trace="t\0" * 9_999, tags=("a",))

    settled(batch, long)

    letter = DlqEntry.objects.get()
    assert (len(letter.frame), len(letter.traceback), "\0" in letter.traceback) == (200, 4_000, False)


def test_discard_moves_only_the_dead():
    [gone] = dead("a")
    live = started("b")

    assert discard([gone, *ids_of(live)], "not needed", "olga") == [gone]
    assert discard([gone], "not needed", "olga") == []
    assert (state(gone).status, state(live.tasks[0].id).status) == ("CANCELLED", "RUNNING")
