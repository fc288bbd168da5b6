"""Bad input: one clear error that names the value, the rule and the way out; nothing written, nobody woken."""

import math
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction

from django_punctual import (
    InvalidTask,
    RetryableError,
    Snooze,
    cancel,
    ensure,
    find,
    handler,
    reschedule,
    reschedule_many,
    schedule,
    schedule_many,
)
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import OutboxEvent, ScheduleTask
from tests.support.engine import row, run_due
from tests.support.moves import TUESDAY, TYPE, scheduled, state

SIGNAL_KEY = "punctual:signal:"
pytestmark = pytest.mark.django_db

LONGEST_MESSAGE = 800


@pytest.fixture
def refused(redis, django_capture_on_commit_callbacks):
    """A block that must raise InvalidTask with all these words, and leave nothing but a usable transaction."""

    @contextmanager
    def block(*words: str):
        before = ScheduleTask.objects.order_by("id").values_list("id", "status", "updated_at")
        there, told = list(before), OutboxEvent.objects.count()
        with django_capture_on_commit_callbacks(execute=True) as callbacks, transaction.atomic():
            with pytest.raises(InvalidTask) as caught:
                yield
            assert list(before.all()) == there
            assert schedule(TYPE, f"still usable {uuid4()}", at=TUESDAY).task_id
            transaction.set_rollback(True)
        assert (callbacks, len(redis.keys(f"{SIGNAL_KEY}*")), OutboxEvent.objects.count()) == ([], 0, told)
        message = str(caught.value)
        assert [word for word in words if word not in message] == [], message
        assert len(message) < LONGEST_MESSAGE

    return block


class Nowhere(tzinfo):
    """A time zone that does not know its offset, as the standard library allows."""

    def utcoffset(self, when):
        return None

    def tzname(self, when):
        return "nowhere"

    dst = utcoffset


def nested(depth: int) -> list:
    inside: list = []
    for _ in range(depth):
        inside = [inside]
    return inside


def circular() -> dict:
    payload: dict = {}
    payload["itself"] = payload
    return payload


# Times.

BAD_TIMES = {
    "naive": ({"at": datetime(2030, 1, 1, 9)}, ["2030, 1, 1", "naive", "time zone", "ZoneInfo"]),  # noqa: DTZ001
    "no offset": ({"at": datetime(2030, 1, 1, tzinfo=Nowhere())}, ["naive", "time zone"]),
    "a date": ({"at": date(2030, 1, 1)}, ["date", "aware datetime"]),
    "text": ({"at": "2030-01-01T09:00:00Z"}, ["2030-01-01", "str", "aware datetime"]),
    "a timestamp": ({"at": 1893456000}, ["1893456000", "int", "aware datetime"]),
    "year 10000 in UTC": (
        {"at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))},
        ["9999", "hundred years"],
    ),
    "year 0 in UTC": ({"at": datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))}, ["1970"]),
    "in two hundred years": ({"at": datetime(2230, 1, 1, tzinfo=UTC)}, ["2230", "hundred years"]),
    "negative": ({"delay": -1}, ["delay", "-1", "zero or more"]),
    "negative timedelta": ({"delay": timedelta(seconds=-1)}, ["delay", "-1", "zero or more"]),
    "not a number": ({"delay": math.nan}, ["delay", "nan", "zero or more"]),
    "infinite": ({"delay": math.inf}, ["delay", "inf", "hundred years"]),
    "minus infinite": ({"delay": -math.inf}, ["delay", "inf", "zero or more"]),
    "huge": ({"delay": 1e10}, ["delay", "10000000000", "hundred years"]),
    "longest timedelta": ({"delay": timedelta.max}, ["delay", "hundred years"]),
    "a number of 5000 digits": ({"delay": 10**5000}, ["delay", "hundred years"]),
    "text of a delay": ({"delay": "5"}, ["delay", "'5'", "timedelta or a number"]),
    "a decimal": ({"delay": Decimal(5)}, ["delay", "5", "timedelta or a number"]),
    "true": ({"delay": True}, ["delay", "True", "timedelta or a number"]),
    "both": ({"at": TUESDAY, "delay": 5}, ["at=", "delay=5", "both", "the one you mean"]),
    "repeat of zero": ({"repeat_after": 0}, ["repeat_after", "more than zero"]),
    "repeat of nan": ({"repeat_after": math.nan}, ["repeat_after", "nan"]),
    "expiry of zero": ({"expires_after": 0}, ["expires_after", "more than zero"]),
    "negative expiry": ({"expires_after": timedelta(-1)}, ["expires_after", "more than zero"]),
    "expiry of a rolling task": (
        {"repeat_after": 60, "expires_after": 60},
        ["repeat_after", "expires_after", "exclude", "Drop expires_after"],
    ),
}


def test_a_time_that_means_nothing_is_refused(refused):
    for options, words in BAD_TIMES.values():
        with refused(*words):
            schedule(TYPE, "a", **options)


# Keys, tenants and idempotency keys.

BAD_TEXTS = {
    "empty": ("", ["empty", "1 to"]),
    "with NUL": ("a\0b", ["NUL", "PostgreSQL", "Remove it"]),
    "half a surrogate pair": ("a\ud83d", ["surrogate", "Remove it"]),
    "with a control character": ("a\x1b[2J", ["\\x1b", "control character", "Remove it"]),
    "with a break of lines": ("a\nb", ["control character", "Remove it"]),
    "turned around": ("\u202e", ["control character", "Remove it"]),
    "too long": ("x" * 201, ["201", "at most", " it."]),
    "10,000 characters": ("x" * 10_000, ["10,000", "at most", " it."]),
    "bytes": (b"a", ["bytes", "string"]),
    "a float": (1.5, ["1.5", "float", "string"]),
    "a bool": (True, ["True", "bool", "string"]),
    "a list": (["a"], ["list", "string"]),
}


@pytest.mark.parametrize("name", ["key", "idem_key", "tenant"])
def test_a_name_that_cannot_be_stored_is_refused(refused, name):
    for value, words in BAD_TEXTS.values():
        with refused(name, *words):
            schedule(TYPE, **{"key": "a", "at": TUESDAY} | {name: value})


@pytest.mark.parametrize("value", [None, object(), 10**5000, -(10**200)], ids=["none", "object", "huge", "long"])
def test_a_key_that_is_no_text_is_refused(refused, value):
    with refused("key", "string"):
        schedule(TYPE, value, at=TUESDAY)


def test_a_tenant_is_at_most_63_characters(refused):
    assert schedule(TYPE, "a", at=TUESDAY, tenant="t" * 63).outcome == "CREATED"

    with refused("tenant", "64", "at most 63"):
        schedule(TYPE, "a", at=TUESDAY, tenant="t" * 64)


@pytest.mark.parametrize("key", ["🦉", "🦉" * 200, "👩‍👩‍👧‍👦", "ключ", "a b", " ", "\u00a0", "%s", "'; --"])
def test_any_other_text_of_200_characters_is_a_key(key):
    task = schedule(TYPE, key, at=TUESDAY, idem_key=key, payload={key: key})

    assert (find(TYPE, key).id, find(TYPE, key).payload) == (task.task_id, {key: key})
    assert row(task.task_id).idem_key == key


def test_keys_that_look_alike_are_different_units():
    """Letter case, composition and trailing blanks all count: keys are compared byte by byte."""
    keys = ["é", "e\u0301", "E", "e", "e "]

    assert {schedule(TYPE, key, at=TUESDAY).outcome for key in keys} == {"CREATED"}


# Payloads.

BAD_PAYLOADS = {
    "an object": ({"user": object()}, ["JSON", "object", "ids instead of objects"]),
    "a datetime": ({"at": TUESDAY}, ["JSON", "datetime"]),
    "a set": ({1, 2}, ["JSON", "set"]),
    "bytes": (b"a", ["JSON", "bytes"]),
    "a key that is no text": ({("a", "b"): 1}, ["JSON", "tuple"]),
    "not a number": ({"n": math.nan}, ["JSON", "float"]),
    "infinite": ([math.inf], ["JSON", "float"]),
    "circular": (circular(), ["JSON", "Circular"]),
    "deeply nested": (nested(20_000), ["JSON", "recursion"]),
    "more than 201 levels": (nested(201), ["201 levels", "schedule its id"]),
    "more than 201 levels of objects": ({"a": [{"b": nested(199)}]}, ["201 levels"]),
    "a number of 5000 digits": ({"n": 10**5000}, ["JSON", "digits"]),
    "NUL": ({"text": "a\0b"}, ["NUL", "PostgreSQL", "Remove it"]),
    "NUL in a key": ({"a\0b": 1}, ["NUL", "Remove it"]),
    "NUL after a backslash": ({"text": "\\\0"}, ["NUL", "Remove it"]),
    "half a surrogate pair": ({"text": "\ud83d"}, ["surrogate", "Remove it"]),
    "over 64 KiB": ({"text": "x" * 65_536}, ["65,547 bytes", "at most 65,536", "schedule its id"]),
    "over 64 KiB in bytes": ({"text": "🦉" * 16_384}, ["65,547 bytes", "at most 65,536"]),
}


def test_a_payload_that_cannot_be_stored_is_refused(refused):
    for payload, words in BAD_PAYLOADS.values():
        with refused("payload", *words):
            schedule(TYPE, "a", at=TUESDAY, payload=payload)


@pytest.mark.parametrize(
    "payload",
    [{"text": "\\u0000"}, {"text": "\\\\u0000"}, "x" * 65_534, nested(200), {"n": 10**4000}, "🦉", [], 0, False, ""],
    ids=[
        "escaped",
        "escaped twice",
        "64 KiB",
        "nested",
        "4001 digits",
        "emoji",
        "empty list",
        "zero",
        "false",
        "empty",
    ],
)
def test_a_payload_that_can_be_stored_comes_back_as_it_was(payload):
    schedule(TYPE, "a", at=TUESDAY, payload=payload)

    assert find(TYPE, "a").payload == payload


# Settings.

BAD_SETTINGS = {
    "negative": ({"max_retry": -1}, ["max_retry", "-1", "0 to 1000"]),
    "too many": ({"max_retry": 1001}, ["max_retry", "1001", "0 to 1000"]),
    "true": ({"max_retry": True}, ["max_retry", "True", "whole number"]),
    "a fraction": ({"max_retry": 2.5}, ["max_retry", "2.5", "whole number"]),
    "text": ({"max_retry": "3"}, ["max_retry", "'3'", "whole number"]),
    "unknown lane": (
        {"lane": "hihg"},
        ["'hihg'", "Did you mean 'high'?", "critical, high, default, low, deferred, backfill"],
    ),
    "empty lane": ({"lane": ""}, ["lane ''", "critical, high, default, low, deferred, backfill"]),
    "lane of another type": ({"lane": ["high"]}, ["['high']", "critical, high"]),
}


@pytest.mark.parametrize(("options", "words"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_a_setting_out_of_range_is_refused(refused, options, words):
    with refused(*words):
        schedule(TYPE, "a", at=TUESDAY, **options)


@pytest.mark.parametrize("max_retry", [0, 1000])
def test_the_ends_of_a_range_belong_to_it(max_retry):
    assert row(schedule(TYPE, "a", at=TUESDAY, max_retry=max_retry).task_id).max_retry == max_retry


BAD_TYPES = [
    ("T_QUITE", ["'T_QUITE'", "no handler", "Did you mean 'T_QUIET'?", "@handler"]),
    ("nothing like it", ["'nothing like it'", "no handler", "@handler"]),
    ("", ["''", "no handler"]),
    (None, ["None", "no handler"]),
    (["T_QUIET"], ["no handler"]),
    ("T_QUIET\0", ["no handler"]),
]


@pytest.mark.parametrize("verb", [schedule, reschedule, ensure, cancel], ids=lambda verb: verb.__name__)
def test_a_type_without_a_handler_is_refused(refused, verb):
    options = {} if verb is cancel else {"at": TUESDAY}
    for task_type, words in BAD_TYPES:
        with refused(*words):
            verb(task_type, "a", **options)


def test_an_option_that_does_not_exist_is_an_error():
    with pytest.raises(TypeError, match="priority"):
        schedule(TYPE, "a", priority=1)

    assert not ScheduleTask.objects.exists()


# Every verb checks.


BAD_NEW_TIMES = [
    ({"at": datetime(2030, 1, 1)}, ["naive"]),  # noqa: DTZ001
    ({"delay": -1}, ["-1"]),
    ({"at": TUESDAY, "delay": 1}, ["both"]),
    ({}, ["new time", "at=", "delay="]),
    ({"at": TUESDAY, "payload": object()}, ["JSON"]),
    ({"at": TUESDAY, "key": "a\0"}, ["key", "NUL"]),
    ({"at": TUESDAY, "tenant": ""}, ["tenant", "empty"]),
    ({"at": TUESDAY, "by": "x" * 151}, ["by", "151", "150"]),
    ({"at": TUESDAY, "by": "a\0"}, ["by", "NUL"]),
    ({"at": TUESDAY, "by": None}, ["by", "None"]),
]


@pytest.mark.parametrize("verb", [reschedule, ensure], ids=lambda verb: verb.__name__)
def test_a_new_time_is_checked_before_the_old_one_is_touched(refused, verb):
    scheduled("a")

    for options, words in BAD_NEW_TIMES:
        with refused(*words):
            verb(TYPE, **{"key": "a"} | options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": ""}, ["key", "empty"]),
        ({"key": "a\0"}, ["key", "NUL"]),
        ({"tenant": "\ud83d"}, ["tenant", "surrogate"]),
        ({"reason": "a\0b"}, ["reason", "NUL"]),
        ({"reason": None}, ["reason", "None", "string"]),
        ({"reason": "x" * 100_000}, ["reason", "100,000"]),
        ({"by": "x" * 151}, ["by", "151", "150"]),
        ({"by": "a\ud83d"}, ["by", "surrogate"]),
        ({"by": 7}, ["by", "7", "string"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_cancellation_is_checked_before_anything_is_touched(refused, options, words):
    scheduled("a")

    with refused(*words):
        cancel(TYPE, **{"key": "a"} | options)


# Many at once: one bad one, and nothing is written.

ONE_BAD = {
    "naive time": ({"key": "bad", "at": datetime(2030, 1, 1)}, ["naive"]),  # noqa: DTZ001
    "bad payload": ({"key": "bad", "at": TUESDAY, "payload": object()}, ["JSON"]),
    "bad key": ({"key": "", "at": TUESDAY}, ["key", "empty"]),
    "no key": ({"payload": 1}, ["key"]),
    "unknown option": ({"key": "bad", "priority": 1}, ["priority"]),
    "no mapping": ("bad", ["mapping"]),
    "option that is no text": ({"key": "bad", 1: 2}, ["string"]),
}


KEYS_ONLY = {
    "empty": ({"key": ""}, ["key", "empty"]),
    "NUL": ({"key": "a\0b"}, ["NUL"]),
    "long": ({"key": "x" * 10_000}, ["10,000 characters"]),
    "no text": ({"key": 1.5}, ["float"]),
    "no mapping": (7, ["mapping"]),
    "no mapping either": (["key"], ["mapping"]),
    "another option": ({"name": "a"}, ["name"]),
}


@pytest.mark.parametrize("verb", [schedule_many, reschedule_many], ids=lambda verb: verb.__name__)
def test_one_bad_key_among_tasks_that_are_nothing_but_keys_is_named(refused, verb):
    good = [{"key": n} for n in range(7)]

    for bad, words in KEYS_ONLY.values():
        with refused("task number 7", *words):
            verb(TYPE, [*good, bad, *good], at=TUESDAY)


@pytest.mark.parametrize("verb", [schedule_many, reschedule_many], ids=lambda verb: verb.__name__)
def test_one_bad_task_among_many_is_named_and_none_is_written(refused, verb):
    good = [{"key": n, "at": TUESDAY} for n in range(7)]

    for bad, words in ONE_BAD.values():
        with refused("task number 7", *words):
            verb(TYPE, [*good, bad, *good])


@pytest.mark.parametrize("verb", [schedule_many, reschedule_many], ids=lambda verb: verb.__name__)
def test_what_is_refused_of_one_task_is_refused_of_one_among_many_like_it(refused, verb):
    good = {"key": "good", "at": TUESDAY, "payload": {"n": 1}}
    bad = [({"key": value}, words) for value, words in BAD_TEXTS.values()]
    bad += [(options, words) for options, words in BAD_TIMES.values() if options.keys() == {"at"}]
    bad += [({"payload": payload}, words) for payload, words in BAD_PAYLOADS.values()]

    for options, words in bad:
        with refused("task number 1", *words):
            verb(TYPE, [good, good | {"key": "bad"} | options])


@pytest.mark.parametrize(
    "bad", [{"payload": {"n": math.nan}}, {"at": TUESDAY.replace(tzinfo=None)}], ids=["payload", "time"]
)
def test_what_is_wrong_in_the_last_part_of_a_call_takes_the_parts_before_it_back(refused, bad):
    tasks = [{"key": f"{n:04}", "at": TUESDAY, "payload": {"n": n}} for n in range(2_500)]
    tasks[2_498] |= bad
    tasks.reverse()  # the second of the call, and the last but one by key
    tasks[7] |= {"payload": {"$punctual": 1}}  # another in the last part, later in the call

    with refused("task number 1 ", "payload" if "payload" in bad else "naive"):
        schedule_many(TYPE, tasks)


class Odd(dict):
    """A payload that can't be written out, and says so in its own way."""

    def items(self):
        raise KeyError("odd")


@pytest.mark.parametrize("count", [2, 1_500])
def test_whoever_catches_an_error_of_a_payload_goes_on_with_the_transaction(count):
    tasks = [{"key": f"{n:04}", "at": TUESDAY, "payload": {"n": n}} for n in range(count)]
    tasks[-1]["payload"] = Odd(n=1)

    with transaction.atomic():
        with pytest.raises(KeyError, match="odd"):
            schedule_many(TYPE, tasks)
        schedule(TYPE, "another", at=TUESDAY)

    assert ScheduleTask.objects.values_list("biz_key", flat=True).get() == "another"


def test_tasks_that_come_one_by_one_may_be_the_same_object_with_other_content():
    def tasks():
        payload: dict = {}
        for n in range(3):
            payload["n"] = n
            yield {"key": n, "at": TUESDAY, "payload": payload}

    schedule_many(TYPE, tasks())

    assert [find(TYPE, str(n)).payload for n in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_times_of_their_own_are_kept_to_the_microsecond_whatever_their_zone():
    hours = timezone(timedelta(hours=-11, minutes=-30, seconds=-7))
    kathmandu = ZoneInfo("Asia/Kathmandu")
    times = [
        TUESDAY,
        datetime(2031, 12, 31, 23, 59, 59, 999_999, tzinfo=hours),
        datetime(2031, 10, 26, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2031, 5, 5, 5, 5, 5, 5, tzinfo=kathmandu),
        datetime(1970, 1, 1, tzinfo=UTC),
    ]
    tasks = [{"key": number, "at": at} for number, at in enumerate(times)]

    schedule_many(TYPE, [*tasks, {"key": "at once", "at": None}])

    kept = [find(TYPE, str(number)).execute_time for number in range(len(times))]
    assert kept == [at.astimezone(UTC) for at in times]
    assert find(TYPE, "at once").execute_time <= datetime.now(UTC)


@pytest.mark.parametrize("verb", [schedule_many, reschedule_many], ids=lambda verb: verb.__name__)
def test_tasks_that_end_in_an_error_of_the_caller_leave_nothing(verb):
    def tasks():
        yield {"key": "a", "at": TUESDAY}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        verb(TYPE, tasks())

    assert not ScheduleTask.objects.exists()


def test_a_bad_common_option_is_refused(refused):
    with refused("lane 'hihg'", "'high'"):
        schedule_many(TYPE, [{"key": "a"}], at=TUESDAY, lane="hihg")


# What a handler says is input as well: the words of one task must not cost its neighbours their outcomes.


@pytest.fixture
def saying():
    """Run a batch of two tasks, "good" and one that raises what it is told to; the latter's row and the reports."""

    def run(raise_it, **options):
        @handler("T_SAYING", **options)
        def say(tasks):
            for task in tasks if isinstance(tasks, list) else [tasks]:
                if task.key == "bad":
                    raise_it()

        good, bad = scheduled("good", "bad", task_type="T_SAYING")
        reports = run_due()
        return row(bad), state(good), reports

    yield run
    REGISTRY.discard("T_SAYING")


@pytest.mark.parametrize("after", [1e300, 1e12, -1, math.nan, math.inf, timedelta.max], ids=str)
def test_a_next_try_at_no_sensible_time_is_a_failed_try_of_that_task_alone(saying, after):
    def raise_it():
        raise RetryableError("later", after=after)

    bad, good, _ = saying(raise_it)

    assert (bad.status, bad.error_code, good.status) == ("FAIL", "InvalidTask", "SUCCESS")
    assert "after=" in bad.error_msg


@pytest.mark.parametrize(
    "until",
    [
        datetime(2030, 1, 1),  # noqa: DTZ001
        datetime(2030, 1, 1, tzinfo=Nowhere()),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        "tomorrow",
    ],
    ids=["naive", "no offset", "year 10000", "year 0", "text"],
)
def test_a_snooze_until_no_sensible_time_is_a_failed_try_of_that_task_alone(saying, until):
    def raise_it():
        raise Snooze(until)

    bad, good, _ = saying(raise_it)

    assert (bad.status, bad.error_code, good.status) == ("FAIL", "InvalidTask", "SUCCESS")


@pytest.mark.parametrize("options", [{}, {"transactional": True}, {"batch": True}], ids=str)
def test_an_exception_with_a_very_long_name_costs_no_outcome(saying, options):
    very_long = type("VeryLong" * 10, (Exception,), {})

    def raise_it():
        raise very_long("x" * 1_000_000 + "\0\ud83d")

    bad, _, reports = saying(raise_it, **options)

    assert sum(report.settled for report in reports) == 2
    assert (bad.error_code, len(bad.error_msg) < 5_000) == (("VeryLong" * 10)[:50], True)
