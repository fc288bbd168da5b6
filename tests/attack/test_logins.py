"""Guessing passwords and tokens: what is counted, who has to wait, and what is recorded.

test_behind_proxy.py has people who log in at the real web process.
"""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tasks_app.core.throttle import Rule
from tasks_app.engine.wakeup import client
from tasks_app.engine.web import people, throttle
from tasks_app.engine.web.throttle import API_FAILURES, LOGIN_ADDRESS, LOGIN_PAIR
from tasks_app.models import AuditEntry
from tests.support.api import Api
from tests.support.browser import PASSWORD, person
from tests.support.clients import client_of
from tests.support.stack import redis_proxy, through
from tests.support.throttled import let_waits_pass

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
HERE, ELSEWHERE = "127.0.0.9", "127.0.0.10"


@pytest.fixture(autouse=True)
def fresh_counters(monkeypatch):
    throttle.MEMORY.clear()
    monkeypatch.setattr(people, "RECORDER", people.Recorder())


def counted(rule: Rule, who: str) -> int:
    return int(client(timeout=5).hget(throttle.key_of(rule, who), "attempts"))


# The counters.


def test_a_success_forgets_the_failures_of_the_pair_and_not_those_of_the_address():
    for _ in range(LOGIN_PAIR.free - 1):
        throttle.login_attempt("ann", HERE)
    assert throttle.login_attempt("ann", HERE) == 0
    throttle.login_succeeded("ann", HERE)

    for _ in range(LOGIN_PAIR.free):
        assert throttle.login_attempt("ann", HERE) == 0
    assert throttle.login_attempt("ann", HERE) > 0
    assert counted(LOGIN_ADDRESS, HERE) == LOGIN_PAIR.free - 1 + LOGIN_PAIR.free


def test_a_good_login_in_between_does_not_buy_more_guesses_from_the_address():
    for number in range(LOGIN_ADDRESS.free):
        throttle.login_attempt(f"user{number}", HERE)
        if throttle.login_attempt("mine", HERE) == 0:
            throttle.login_succeeded("mine", HERE)

    assert throttle.login_attempt("one more", HERE) > 0


def test_many_guesses_at_once_are_not_one():
    with ThreadPoolExecutor(20) as pool:
        waits = list(pool.map(lambda _: throttle.login_attempt("ann", HERE), range(40)))

    assert waits.count(0) == LOGIN_PAIR.free


def test_waits_double_up_to_the_longest():
    waits = []
    for _ in range(40):
        throttle.login_attempt("ann", HERE)
        waits.append(throttle.login_attempt("ann", HERE))
        let_waits_pass()
    grown = [round(wait) for wait in waits if wait]
    assert grown[:3] == [5, 10, 20] and grown[-1] == LOGIN_PAIR.longest


def test_addresses_of_one_network_of_version_6_count_as_one():
    for number in range(LOGIN_PAIR.free):
        throttle.login_attempt("ann", f"2001:db8:1:2::{number}")

    assert throttle.login_attempt("ann", "2001:db8:1:2:ffff::1") > 0
    assert throttle.login_attempt("ann", "2001:db8:1:3::1") == 0


IN_VERSION_6 = ("::ffff:{}", "64:ff9b::{}", "2002:{hex}::1")  # mapped, by NAT64, by 6to4


def written(form: str, address: str) -> str:
    high, low = divmod(int(IPv4Address(address)), 65_536)
    return form.format(address, hex=f"{high:x}:{low:x}")


@pytest.mark.parametrize("form", IN_VERSION_6)
def test_addresses_of_version_4_do_not_count_as_one_in_version_6(form):
    """A listener for both versions sees all clients of version 4 in one network of version 6."""
    for number in range(LOGIN_ADDRESS.free):
        throttle.login_attempt(f"user{number}", written(form, "192.0.2.7"))

    assert throttle.login_attempt("ann", written(form, "192.0.2.7")) > 0
    assert throttle.login_attempt("ann", "192.0.2.7") > 0
    assert throttle.login_attempt("ann", written(form, "192.0.2.8")) == 0


def test_failed_calls_of_the_api_count_by_the_address_of_version_4():
    for _ in range(API_FAILURES.free):
        throttle.failed_call("::ffff:192.0.2.7")

    assert throttle.failed_call("192.0.2.7") > 0
    assert throttle.failed_call("::ffff:192.0.2.8") == 0


def test_the_audit_names_an_address_of_version_4_as_such():
    Client(REMOTE_ADDR="::ffff:192.0.2.7").post("/admin/login/", {"username": "ann", "password": "wrong"})

    assert AuditEntry.objects.get(verb="login").reason == "failed from 192.0.2.7"


@pytest.mark.parametrize("trouble", ["cut", "stall"])
def test_without_redis_it_counts_in_the_process_and_keeps_nobody_waiting(settings, trouble):
    proxy = redis_proxy()
    getattr(proxy, trouble)()
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": through(redis=proxy)["REDIS_URL"], "WAKEUP_MS": 50.0}
    try:
        started = time.monotonic()
        waits = [throttle.login_attempt("ann", HERE) for _ in range(LOGIN_PAIR.free + 1)]
        assert time.monotonic() - started < 10  # without a limit, the first would never end
    finally:
        proxy.close()

    assert waits[:-1] == [0] * LOGIN_PAIR.free and waits[-1] > 0
    assert throttle.login_attempt("ann", ELSEWHERE) == 0


def test_counting_in_the_process_holds_a_bounded_number_of_addresses(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": ""}
    for number in range(3 * throttle.MEMORY.most):
        throttle.login_attempt("ann", f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")

    assert len(throttle.MEMORY) <= throttle.MEMORY.most


# The change of one's own password.


def changed(who: Client, old: str) -> HttpResponse:
    new = {"new_password1": "a-new-Secret-4711", "new_password2": "a-new-Secret-4711"}
    return who.post("/admin/password_change/", {"old_password": old} | new)


def test_the_old_password_is_not_guessed_at_the_page_that_changes_it():
    """Who finds an open session can't keep the account."""
    thief = client_of(person("ann"))
    answers = [changed(thief, f"guess {number}") for number in range(LOGIN_PAIR.free)]
    refused = changed(thief, PASSWORD)

    assert {answer.status_code for answer in answers} == {200}
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= LOGIN_PAIR.first
    assert "Too many failed logins" in refused.content.decode()
    assert authenticate(username="ann", password=PASSWORD)


def test_guesses_at_the_login_and_of_the_old_password_count_together():
    ann, login = client_of(person("ann")), {"username": "ann", "password": "wrong"}
    for _ in range(LOGIN_PAIR.free - 1):
        Client().post("/admin/login/", login)
    changed(ann, "wrong")

    assert Client().post("/admin/login/", login).status_code == changed(ann, PASSWORD).status_code == 429


def test_a_right_old_password_changes_it_and_forgets_the_failures():
    ann = client_of(person("ann"))
    for _ in range(LOGIN_PAIR.free - 1):
        changed(ann, "wrong")
    done = changed(ann, PASSWORD)

    assert (done.status_code, done.url) == (302, "/admin/password_change/done/")
    assert ann.get("/admin/").status_code == 200
    assert throttle.login_attempt("ann", "127.0.0.1") == 0


def test_a_password_is_checked_only_where_guesses_are_counted():
    """Another form or view that checks one counts its guesses, too, and joins this list."""
    found = {
        str(path.relative_to(ROOT))
        for app in ("tasks_app", "scheduler_project", "articles_app", "inventory_app")
        for path in (ROOT / app).rglob("*.py")
        if re.search(
            r"\bcheck_password\(|\bauthenticate\(\w*request|AuthenticationForm|PasswordChangeForm", path.read_text()
        )
    }
    assert found == {"tasks_app/console/login.py"}


# The REST API.


def test_wrong_tokens_get_slow_and_right_ones_from_the_same_address_do_not():
    right, wrong = Api(), Api(token="pnc_nobodys")
    for _ in range(API_FAILURES.free):
        throttle.failed_call("127.0.0.1")

    refused = wrong.get("/tasks")

    assert (refused.status, refused.code) == (429, "SCH_429_TOO_MANY")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert right.get("/tasks").status == 200


def test_a_wrong_token_is_recorded():
    assert Api(token="pnc_nobodys").get("/tasks").status == 401
    recorded = AuditEntry.objects.filter(verb="api").values_list("actor", "verb", "subject", "outcome")
    assert list(recorded) == [("nobody", "api", "the REST API", "refused")]


def test_calls_of_one_token_are_limited_and_those_of_another_go_on(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 3}
    one, other = Api(), Api("acme")
    statuses = {one.get("/tasks").status for _ in range(8)}  # a minute may end in between
    refused = one.get("/tasks")
    while refused.status == 200:
        refused = one.get("/tasks")

    assert 200 in statuses
    assert (refused.status, refused.code) == (429, "SCH_429_TOO_MANY")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert other.get("/tasks").status == 200
    assert Client().get("/api/v1/live").status_code == 200


def test_calls_from_one_address_are_limited(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_ADDRESS_CALLS_PER_MINUTE": 4}
    callers = [Api(f"tenant-{number}") for number in range(12)]

    assert 429 in {caller.get("/tasks").status for caller in callers}


def test_no_limit_is_no_limit(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_CALLS_PER_MINUTE": 0, "API_ADDRESS_CALLS_PER_MINUTE": 0}
    caller = Api()
    assert {caller.get("/tasks").status for _ in range(5)} == {200}


# What is recorded.


def test_a_flood_of_failures_is_counted_and_does_not_fill_the_disk():
    person("ann")
    for number in range(people.ROWS_AT_ONCE + 60):
        people.login_failed("ann", f"10.0.{number % 200}.1")

    rows = AuditEntry.objects.filter(verb="login", outcome="failed")
    assert rows.count() == people.ROWS_AT_ONCE

    person("bea", superuser=True)
    Client().login(username="bea", password=PASSWORD)
    told = AuditEntry.objects.filter(verb="login").latest("id")
    assert (told.outcome, told.detail["more_failures"]) == ("logged in", 60)


def test_what_was_not_recorded_is_told_by_the_next_row_and_only_once():
    for _ in range(people.ROWS_AT_ONCE + 5):
        people.login_failed("ann", HERE)
    people.RECORDER.rows_left = 1
    people.login_failed("ann", HERE)
    people.RECORDER.rows_left = 1
    people.login_failed("ann", HERE)

    details = [row.detail for row in AuditEntry.objects.filter(verb="login").order_by("-id")[:2]]
    assert [detail.get("more_failures") for detail in details] == [None, 5]


def test_changes_of_rights_are_in_the_audit_trail_with_who_made_them():
    ann = person("ann", superuser=True)
    bea = person("bea", staff=False)
    group = Group.objects.create(name="editors")
    permission = Permission.objects.get(codename="view_article")
    before = AuditEntry.objects.latest("id").id
    logged_in = client_of(ann)
    form = {
        "username": "bea",
        "is_active": "on",
        "is_staff": "on",
        "groups": [group.id],
        "user_permissions": [permission.id],
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00",
    }
    answer = logged_in.post(f"/admin/auth/user/{bea.id}/change/", form)
    assert answer.status_code == 302, answer.content

    rows = AuditEntry.objects.filter(id__gt=before, verb="rights").order_by("id")
    assert {(row.actor, row.subject) for row in rows} == {("ann", "user bea")}
    found = {name: value for row in rows for name, value in row.detail.items()}
    assert found["is_staff"] == [False, True]
    assert found["groups"] == ["editors"]
    assert found["user_permissions"] == ["articles_app.view_article"]


def test_every_way_to_get_or_lose_rights_is_recorded():
    ann = person("ann")
    group = Group.objects.create(name="editors")
    permission = Permission.objects.get(codename="view_article")
    ways = {
        "password": lambda: (ann.set_password("another one"), ann.save()),
        "is_superuser": lambda: (setattr(ann, "is_superuser", True), ann.save()),
        "is_active": lambda: (setattr(ann, "is_active", False), ann.save(update_fields=["is_active"])),
        "username": lambda: (setattr(ann, "username", "anna"), ann.save()),
        "permissions": lambda: group.permissions.add(permission),
        "groups": lambda: group.user_set.add(ann),
        "groups taken": lambda: ann.groups.clear(),
        "permissions taken": lambda: group.permissions.set([]),
        "name": lambda: (setattr(group, "name", "authors"), group.save()),
        "deleted": lambda: ann.delete(),
        "group deleted": lambda: group.delete(),
    }
    for way, act in ways.items():
        before = AuditEntry.objects.count()
        act()
        assert AuditEntry.objects.count() > before, way
    texts = " ".join(str(row.detail) for row in AuditEntry.objects.all())
    assert "another one" not in texts and ann.password not in texts and "pbkdf2" not in texts


def test_many_rights_at_once_are_one_row_with_the_statements_of_one():
    ann = person("ann")
    first, *others = Permission.objects.filter(content_type__app_label="articles_app")

    with CaptureQueriesContext(connection) as one:
        ann.user_permissions.add(first)
    with CaptureQueriesContext(connection) as many:
        ann.user_permissions.add(*others)

    assert len(others) > 3 and len(many) == len(one)
    row = AuditEntry.objects.latest("id")
    assert {*row.detail["user_permissions"]} == {f"articles_app.{other.codename}" for other in others}


def test_what_changes_no_right_is_not_recorded():
    ann = person("ann")
    before = AuditEntry.objects.count()
    ann.last_login = timezone.now() + timedelta(hours=1)
    ann.save(update_fields=["last_login"])
    ann.first_name = "Ann"
    ann.save()

    assert AuditEntry.objects.count() == before


def test_who_may_see_tasks_does_not_see_who_logged_in_from_where():
    people.login_failed("ann", HERE)
    some = client_of(person("olga", "punctual.view_scheduletask"))
    every = client_of(person("sue", "punctual.view_scheduletask", "auth.view_user"))

    assert HERE not in some.get("/admin/punctual/auditentry/").content.decode()
    assert HERE in every.get("/admin/punctual/auditentry/").content.decode()
    operation = f"/admin/punctual/scheduletask/operation/{AuditEntry.objects.get(verb='login').operation}/"
    assert HERE in every.get(operation).content.decode()
    assert [some.get(operation).status_code, some.get(f"{operation}undo/").status_code] == [404, 403]
    operates = client_of(person("otto", "punctual.view_scheduletask", "punctual.operate_scheduletask"))
    assert operates.get(f"{operation}undo/").status_code == 404
