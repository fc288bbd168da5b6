"""HTTP callbacks: what goes out, what each answer means, and what a receiver that means no good can do: nothing."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.test import Client
from standardwebhooks import Webhook

from django_punctual import find, schedule, schedule_many
from tasks_app import outgoing
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import InvalidTask
from tasks_app.core.keyring import new_key
from tasks_app.lifecycle import named_secrets
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.secret_verbs import delete, set_secret, withdraw
from tasks_app.models import AuditEntry, DlqEntry, ScheduleTask, Secret
from tests.support.engine import make_due, row, run_due
from tests.support.jobs import BY, make
from tests.support.nasty import nasty
from tests.support.receiver import HERE, Receiver, Reply, receiver

pytestmark = pytest.mark.django_db
TOKEN = "tok_0123456789"


def me() -> Operator:
    return Operator("olga", "a test")


@pytest.fixture(autouse=True)
def secret(settings) -> Iterator[str]:
    """What callbacks are signed with."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    named_secrets._known_at.clear()
    yield set_secret("callbacks", me(), tenant="default").made
    outgoing.client._client("").close()


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as one:
        yield one


def called(url: str, key: str = "a", **payload: object) -> int:
    return schedule(HTTP_CALLBACK, key, payload={"url": url} | payload).task_id


def ended(task_id: int) -> tuple[str, str | None]:
    run_due()
    return row(task_id).status, row(task_id).error_code or None


def test_a_call_has_the_token_and_says_what_it_is_for_and_is_signed(there, secret):
    task_id = called(there.url, "order 4711/ä")

    assert ended(task_id) == ("SUCCESS", None)

    [call] = there.calls
    token = str(row(task_id).token)
    assert (call.method, call.path) == ("POST", "/hook")
    assert {name: call.headers[name] for name in ("idempotency-key", "webhook-id")} == {
        "idempotency-key": token,
        "webhook-id": token,
    }
    assert call.headers["punctual-key"] == "order 4711/%C3%A4"
    assert call.headers["punctual-attempt"] == "1"
    assert call.headers["punctual-task"] == str(task_id)
    assert "punctual-job" not in call.headers
    body = call.verified(secret)
    assert body["key"] == "order 4711/ä"
    assert body["token"] == token
    assert body["fire_time"] == call.headers["punctual-fire-time"]


def test_a_job_calls_with_its_name_and_the_time_that_the_instance_stands_for(there):
    job = make("täglich", task_type=HTTP_CALLBACK, payload={"url": there.url, "json": ["{{job}}", "{{fire_time}}"]})
    done = verbs.trigger(job.id, "by hand", BY)

    assert ended(done.task_id)[0] == "SUCCESS"

    [call] = there.calls
    fire_time = row(done.task_id).fire_time.isoformat().replace("+00:00", "Z")
    assert json.loads(call.body) == ["täglich", fire_time]
    assert (call.headers["punctual-job"], call.headers["punctual-fire-time"]) == ("t%C3%A4glich", fire_time)


def test_a_retry_has_the_same_token_and_the_next_attempt(there):
    there.reply = lambda call: Reply(500 if call.headers["punctual-attempt"] == "1" else 200)
    task_id = called(there.url, json={"n": "{{attempt}}"})

    assert ended(task_id) == ("FAIL", "HTTP_500")
    make_due(task_id)
    assert ended(task_id)[0] == "SUCCESS"

    assert [json.loads(call.body) for call in there.calls] == [{"n": 1}, {"n": 2}]
    assert len({call.id for call in there.calls}) == 1


@pytest.mark.parametrize(
    ("payload", "method", "kind", "body"),
    [
        ({"method": "PUT", "json": {"k": "{{key}}"}}, "PUT", "application/json", b'{"k":"a"}'),
        ({"text": "key={{key}}"}, "POST", "text/plain; charset=utf-8", b"key=a"),
        ({"method": "GET"}, "GET", None, b""),
        ({"method": "DELETE"}, "DELETE", None, b""),
        ({"text": "<a/>", "headers": {"content-type": "text/xml"}}, "POST", "text/xml", b"<a/>"),
    ],
)
def test_method_and_body_are_as_asked_for(there, secret, payload, method, kind, body):
    assert ended(called(there.url, **payload))[0] == "SUCCESS"

    [call] = there.calls
    assert (call.method, call.headers.get("content-type"), call.body) == (method, kind, body)
    signed = Webhook(secret).sign(
        call.id, datetime.fromtimestamp(int(call.headers["webhook-timestamp"]), UTC), body.decode()
    )
    assert call.headers["webhook-signature"] == signed


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (204, ("SUCCESS", None)),
        (202, ("SUCCESS", None)),
        (408, ("FAIL", "HTTP_408")),
        (425, ("FAIL", "HTTP_425")),
        (429, ("FAIL", "HTTP_429")),
        (500, ("FAIL", "HTTP_500")),
        (503, ("FAIL", "HTTP_503")),
        (301, ("DEAD", "HTTP_301")),
        (400, ("DEAD", "HTTP_400")),
        (404, ("DEAD", "HTTP_404")),
        (410, ("DEAD", "HTTP_410")),
    ],
)
def test_what_an_answer_means(there, status, outcome):
    there.reply = lambda call: Reply(status)

    assert ended(called(there.url)) == outcome


def test_other_answers_can_be_the_success(there):
    there.reply = lambda call: Reply(409)

    assert ended(called(there.url, success=[200, 409]))[0] == "SUCCESS"
    there.reply = lambda call: Reply(204)
    assert ended(called(there.url, "b", success=[200, 409])) == ("DEAD", "HTTP_204")


def test_the_start_of_a_refusal_is_in_the_error_and_in_the_dead_letter(there):
    there.reply = lambda call: Reply(422, b"no such \x1b[31morder\n" + b"x" * 10_000)
    task_id = called(there.url)

    assert ended(task_id) == ("DEAD", "HTTP_422")
    assert "answered 422: no such \\x1b[31morder" in row(task_id).error_msg
    assert len(row(task_id).error_msg) < 700
    assert DlqEntry.objects.get(task_id=task_id).error_code == "HTTP_422"


@pytest.mark.parametrize(("asked", "seconds"), [("120", 120), ("999999", 3600)])
def test_a_receiver_may_say_when_to_try_again_within_bounds(there, asked, seconds):
    there.reply = lambda call: Reply(503, headers={"Retry-After": asked})
    task_id = called(there.url)

    assert ended(task_id) == ("FAIL", "HTTP_503")

    wait = row(task_id).due_at - row(task_id).finish_time
    assert timedelta(seconds=seconds - 1) < wait < timedelta(seconds=seconds + 30)


def test_asking_for_no_pause_leaves_it_to_the_back_off(there):
    there.reply = lambda call: Reply(429, headers={"Retry-After": "0"})
    task_id = called(there.url)

    assert ended(task_id) == ("FAIL", "HTTP_429")
    assert row(task_id).due_at > row(task_id).finish_time + timedelta(milliseconds=200)


@pytest.mark.parametrize(
    ("body", "kind", "result"),
    [
        (b'{"pages": 3}', "application/json", {"pages": 3}),
        (b"[1]", "application/problem+json; charset=utf-8", [1]),
        (b'{"pages": 3}', "text/plain", None),
        (b"{", "application/json", None),
        (b'"' + b"x" * 4_094 + b'"', "application/json", "x" * 4_094),
        (b'"' + b"x" * 4_095 + b'"', "application/json", None),
        (b"[" * 4_000, "application/json", None),
        (b"NaN", "application/json", None),
        (b"", "application/json", None),
    ],
)
def test_a_small_answer_in_json_is_the_result(there, body, kind, result):
    there.reply = lambda call: Reply(200, body, {"Content-Type": kind})
    task_id = called(there.url)

    assert ended(task_id)[0] == "SUCCESS"
    assert row(task_id).result == result


# ---- receivers that mean no good ----


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("hangs", ("FAIL", "NO_ANSWER")),
        ("resets", ("FAIL", "NO_ANSWER")),
        ("drips", ("FAIL", "NO_ANSWER")),
        ("floods", ("SUCCESS", None)),
        ("redirects", ("DEAD", "HTTP_302")),
    ],
)
def test_a_nasty_receiver_costs_its_own_call_and_nothing_else(there, kind, outcome):
    with nasty(kind) as one:
        bad = called(one.url, "bad", timeout=0.3 if outcome[1] == "NO_ANSWER" else 20)
        good = [called(there.url, f"good {n}") for n in range(5)]

        assert ended(bad) == outcome

        assert [row(task_id).status for task_id in good] == ["SUCCESS"] * 5
        assert one.calls == 1
        assert one.sent < 50_000_000  # what the sockets hold, of ten thousand million
        assert row(bad).result is None


def test_an_address_inside_is_refused_when_it_is_scheduled_and_when_it_is_called(there, settings):
    with pytest.raises(InvalidTask, match="is a link-local address"):
        called("http://169.254.169.254/latest/meta-data/")
    with pytest.raises(InvalidTask, match="OUTGOING_ALLOW"), transaction.atomic():
        make(task_type=HTTP_CALLBACK, payload={"url": "http://10.0.0.1/"})
    task_id = called(there.url)
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": []}

    assert ended(task_id) == ("DEAD", "REFUSED")
    assert there.calls == []


def test_a_call_that_no_longer_fits_is_dead_and_the_others_of_its_batch_are_made(there):
    bad, good = called(there.url, "bad"), called(there.url, "good")
    ScheduleTask.objects.filter(id=bad).update(payload={"url": there.url, "timeout": "soon"})

    assert ended(bad) == ("DEAD", "BAD_PAYLOAD")
    assert row(good).status == "SUCCESS"


# ---- what is checked ----


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (None, "url"),
        ({}, "url is missing"),
        ({"url": "https://localhost/", "verb": "POST"}, "verb is not a field"),
        ({"url": "https://localhost/", "method": "HEAD"}, "method"),
        ({"url": "https://localhost/", "json": "{{who}}"}, "{{who}}"),
        ({"url": "https://localhost/", "headers": {"A": {"secret": "nope"}}}, "has no secret 'nope'. Set it with"),
        ({"url": "https://localhost/", "sign": "nope"}, "no secret 'nope' that could sign"),
    ],
)
def test_a_mistake_is_told_when_a_task_or_a_job_is_made(payload, words):
    with pytest.raises(InvalidTask) as of_task:
        schedule(HTTP_CALLBACK, "a", payload=payload)
    assert words in str(of_task.value)
    if payload is not None:
        with pytest.raises(InvalidTask) as of_job, transaction.atomic():
            make(task_type=HTTP_CALLBACK, payload=payload)
        assert words in str(of_job.value)


def test_an_edit_and_a_trigger_are_checked_too(there):
    job = make(task_type=HTTP_CALLBACK, payload={"url": there.url})

    with pytest.raises(InvalidTask, match="has no secret 'nope'"), transaction.atomic():
        verbs.edit(job.id, {"payload": {"url": there.url, "sign": "nope"}}, me())
    with pytest.raises(InvalidTask, match="link-local"), transaction.atomic():
        verbs.trigger(job.id, "k", me(), payload={"url": "http://169.254.169.254/"})


def test_ensure_keeps_the_payload_that_is_there(there):
    task_id = called(there.url)

    assert find(HTTP_CALLBACK, "a").id == task_id
    assert ended(task_id)[0] == "SUCCESS"


# ---- secrets ----


def authorized(url: str, key: str = "a", name: str = "billing") -> int:
    return called(url, key, headers={"Authorization": {"secret": name, "prefix": "Bearer "}, "X-Plain": "1"})


def test_a_secret_is_sent_in_its_header_and_is_nowhere_to_be_seen(there, caplog):
    there.reply = lambda call: Reply(403, call.headers["authorization"].encode())
    set_secret("billing", me(), tenant="default", value=TOKEN)
    task_id = authorized(there.url)

    assert ended(task_id) == ("DEAD", "HTTP_403")

    assert there.calls[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert "answered 403: Bearer [secret]" in row(task_id).error_msg
    written = [*Secret.objects.values_list("values", flat=True), *AuditEntry.objects.values_list("detail", flat=True)]
    written += [row(task_id).payload, row(task_id).error_msg, *DlqEntry.objects.values_list("error_msg", flat=True)]
    assert TOKEN not in repr(written) + caplog.text


def test_a_secret_that_comes_back_is_not_kept_as_the_result(there):
    there.reply = lambda call: Reply(
        200, json.dumps({"you": call.headers["authorization"]}).encode(), {"Content-Type": "application/json"}
    )
    set_secret("billing", me(), tenant="default", value=TOKEN)
    task_id = authorized(there.url)

    assert ended(task_id)[0] == "SUCCESS"
    assert row(task_id).result == {"you": "Bearer [secret]"}


def test_a_secret_goes_to_its_own_hosts_only(there):
    host = there.url.split("/")[2]
    set_secret("billing", me(), tenant="default", value=TOKEN, hosts=[host])
    task_id = authorized(there.url)
    set_secret("billing", me(), tenant="default", value=TOKEN, hosts=["api.example.com"])

    with pytest.raises(InvalidTask, match=r"may not be sent to 127\.0\.0\.1"):
        authorized(there.url, "b")
    assert ended(task_id) == ("FAIL", "NO_SECRET")
    assert there.calls == []


def test_a_secret_of_another_tenant_is_not_there():
    set_secret("billing", me(), tenant="acme", value=TOKEN)

    with pytest.raises(InvalidTask, match="tenant 'default' has no secret 'billing'"):
        authorized("https://localhost/")


def test_a_secret_that_is_gone_fails_the_call_until_it_is_set_again(there):
    set_secret("billing", me(), tenant="default", value=TOKEN)
    task_id = authorized(there.url)
    delete("billing", me(), tenant="default")

    assert ended(task_id) == ("FAIL", "NO_SECRET")
    set_secret("billing", me(), tenant="default", value=TOKEN)
    make_due(task_id)
    assert ended(task_id)[0] == "SUCCESS"


def test_a_secret_whose_key_is_missing_fails_its_calls_alone(there, settings):
    task_id, other = called(there.url), called(there.url, "b", sign="")
    settings.SECRET_KEY = "another"
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": [new_key()]}

    assert ended(task_id) == ("FAIL", "NO_SECRET")
    assert "SECRET_KEY_FALLBACKS" in row(task_id).error_msg
    assert row(other).status == "SUCCESS"


def test_while_it_is_changed_the_old_and_the_new_secret_sign(there, secret):
    newer = set_secret("callbacks", me(), tenant="default", keep_old=True).made
    called(there.url)
    run_due()
    withdraw("callbacks", me(), tenant="default")
    called(there.url, "b")
    run_due()

    first, second = there.calls
    assert first.verified(secret) and first.verified(newer) and second.verified(newer)
    with pytest.raises(Exception, match="No matching signature"):
        second.verified(secret)


@pytest.mark.parametrize("value", ["short", "with\nbreak", " padded  ", "é" * 20, "x" * 5_000, "whsec_!!!"])
def test_a_value_that_could_not_be_sent_is_refused_without_being_told(value):
    with pytest.raises(InvalidTask) as error:
        set_secret("billing", me(), tenant="default", value=value)

    assert value not in str(error.value)


def test_what_is_sent_can_not_be_told_to_sign():
    set_secret("billing", me(), tenant="default", value=TOKEN)

    with pytest.raises(InvalidTask, match="is not one that signs"):
        called("https://localhost/", sign="billing")


def test_many_calls_are_made_at_once_and_each_once(there):
    with ExitStack() as stack:
        others = [stack.enter_context(receiver()) for _ in range(2)]
        tasks = [{"key": n, "payload": {"url": [there, *others][n % 3].url}} for n in range(90)]
        schedule_many(HTTP_CALLBACK, tasks)

        [report] = run_due()

        assert (report.tasks, report.settled) == (90, 90)
        assert [len({call.id for call in one.calls}) for one in (there, *others)] == [30, 30, 30]


# ---- work that takes longer ----


def test_a_202_hands_the_task_over_if_the_payload_says_so_and_the_outcome_is_reported(there, settings, secret):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": "https://scheduler.example.com/api/v1"}
    there.reply = lambda call: Reply(202)
    task_id = called(there.url, later=1800, json={"done": "{{complete_url}}", "n": "{{attempt}}"})

    assert ended(task_id)[0] == "AWAY"

    [call] = there.calls
    address = call.headers["punctual-complete-url"]
    assert address.startswith("https://scheduler.example.com/api/v1/tasks/")
    assert call.verified(secret) == {"done": address, "n": 1}
    assert {"punctual-fail-url", "punctual-progress-url"} <= call.headers.keys()
    reported = Client().post(
        "/api/v1" + address.partition("/api/v1")[2], {"result": {"pages": 3}}, content_type="application/json"
    )
    assert (reported.status_code, row(task_id).status, row(task_id).result) == (200, "SUCCESS", {"pages": 3})


@pytest.mark.parametrize(("status", "outcome"), [(200, "SUCCESS"), (503, "FAIL"), (404, "DEAD")])
def test_any_other_answer_means_what_it_always_does(there, settings, status, outcome):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": "https://scheduler.example.com/api/v1"}
    there.reply = lambda call: Reply(status)

    assert ended(called(there.url, later=60))[0] == outcome


def test_without_an_address_to_report_to_nothing_can_be_reported_later(there, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": ""}

    with pytest.raises(InvalidTask, match="API_URL"):
        called(there.url, later=60)
    with pytest.raises(InvalidTask, match="there is none without `later`"):
        called(there.url, json={"to": "{{fail_url}}"})
