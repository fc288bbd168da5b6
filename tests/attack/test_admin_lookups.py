"""Addresses of the admin, made by hand: no lookup that a page does not offer, no error of ours, no endless statement.

Every page is taken from the URLconf, so that a new one can't be forgotten. Against the real web process. `make test`
tries each page with something, and each of these things on two or three pages at least; `make prove` all on all.
"""

import re
from itertools import product
from urllib.parse import quote

import httpx
import pytest
from django.urls import URLPattern, get_resolver

from tests.support.scale import some

STATEMENT_SECONDS = 3
DJANGOS_OWN = "django.contrib.admin.options"
# On a text of some thousand x it takes PostgreSQL longer than anybody waits.
ENDLESS = quote(r"^(x+)(x+)(x+)\1\2\3$")
FOREIGN = [f"{{field}}__regex={ENDLESS}", "{field}__iregex=(", "pk__in=1,2", "{field}__nothing=1", "nothing=1"]
BAD_PAGES = ["x", "0", "-1", "9" * 30, "1.5", "%00", ""]
BAD_IDS = ["-1", "9" * 30, "abc'", "%00", "1_2F1"]
# Of Django's own changelist, of our pages, and of forms that take their first values from the address.
BAD_QUERIES = [
    "o=99.-1.x", "q=%00", "q=" + "x%25" * 500, "_to_field=password", "_popup=1&_to_field=id", "all=x", "e=1",
    "_changelist_filters=%00", "after=x", "after=1:%00", "since=x&until=9999-99-99", "key=%00", "key=%23" + "9" * 18,
    "state=x&lane=x", "ids=x,-1", "next=//evil.example", "show=%00", "why=1", "looked=x", "groups=x", "s=%00",
    "term=%00&app_label=auth&model_name=user&field_name=groups", "term=x&app_label=x", "is_staff__exact=9",
    "groups__id__exact=x", "_facets=1", "tenant=%00&name=%00&status=x",
]  # fmt: skip


@pytest.fixture(scope="module")
def web(django_db_setup, django_db_blocker):
    """One web process, with one row of everything that has a page."""
    from tests.support.stack import serving
    from tests.support.tables import empty_tables

    with django_db_blocker.unblock(), serving(WEB_STATEMENT_SECONDS=str(STATEMENT_SECONDS)) as web:
        web.rows = _one_of_each()
        yield web
        empty_tables()


@pytest.fixture(autouse=True)
def transactional_db(web, django_db_blocker):
    """In place of pytest-django's: the rows stay for the next test, and for the web process."""
    with django_db_blocker.unblock():
        yield


def _one_of_each() -> dict[str, object]:
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group, Permission

    from django_punctual import Operator, ToStream, cancel_tasks, subscribe
    from django_punctual.calendars import CalendarRequest, create_calendar
    from inventory_app.lifecycle import add
    from tasks_app.lifecycle.operate import Verb
    from tasks_app.lifecycle.recovery import begin
    from tests.support import graphs
    from tests.support.alarms import alarm_ids
    from tests.support.articles import approved, draft, publish_task
    from tests.support.campaigns import begun
    from tests.support.jobs import make

    users = get_user_model().objects
    boss = users.create_superuser("boss")
    vera = users.create_user("vera", is_staff=True)
    vera.user_permissions.add(Permission.objects.get(codename="view_article"))
    Group.objects.create(name="editors")
    add("code-1", "A product")
    draft(title="x" * 100, body="x" * 4_999)
    cancel_tasks([publish_task(approved()).id], Operator("olga", "for the list of entries"))
    begun(Verb.CANCEL, [1])
    create_calendar(CalendarRequest("holidays"), Operator("olga", "for the list of calendars"))
    make(calendar="holidays")
    graphs.family(child=["root"])
    graphs.begun()
    begin("INC-1", Operator("olga", "for the list of recoveries"))
    alarm_ids()
    subscribe("everything", events=["*"], to=ToStream("everything"))
    return {"boss": boss, "vera": vera}


@pytest.fixture(scope="module")
def boss(web):
    with _visitor(web, "boss") as client:
        yield client


@pytest.fixture(scope="module")
def vera(web):
    """She may look at articles, and at nothing else."""
    with _visitor(web, "vera") as client:
        yield client


def _visitor(web, name: str) -> httpx.Client:
    from tests.support.clients import client_of

    session = client_of(web.rows[name]).cookies["sessionid"].value
    return httpx.Client(base_url=web.url, cookies={"sessionid": session}, timeout=30)


def _patterns(resolver=None, prefix: str = "/"):
    """Every address of the admin but for the stream, which has no end: its pattern, its name and what it is of."""
    for one in (resolver or get_resolver()).url_patterns:
        where = prefix + str(one.pattern)
        if isinstance(one, URLPattern):
            if where.startswith("/admin/") and one.name not in ("logout", "login", "stream", None):
                yield where.replace("^", "").replace("$", ""), one
        else:
            yield from _patterns(one, where)


def _lists() -> list[tuple[str, object]]:
    return [
        (where, one.callback.model_admin if hasattr(one.callback, "model_admin") else None)
        for where, one in _patterns()
        if one.name.endswith("_changelist")
    ]


def _different() -> list[str]:
    """All addresses, but a fourth of those whose pages one view of Django makes for every model."""
    every = [(where, one.callback.__module__ == DJANGOS_OWN) for where, one in _patterns()]
    return [where for where, alike in every if not alike] + [*some([where for where, alike in every if alike], 0, of=4)]


def _filled(where: str, value: str) -> str:
    return re.sub(r"\(\?P<\w+>(\w+)[^)]*\)", r"\1", re.sub(r"<(int|uuid|slug|str|path)?:?\w+>", value, where))


# Lookups


def test_every_list_of_the_four_apps_is_looked_at():
    apps = {where.split("/")[2] for where, _ in _lists()}
    assert apps == {"auth", "punctual", "articles_app", "inventory_app"} and len(_lists()) == 26


def test_a_lookup_that_a_list_does_not_offer_is_refused_in_words(boss):
    fields = {"article": "body", "product": "name", "user": "username", "group": "name", "auditentry": "reason"}
    for number, (where, _) in enumerate(_lists()):
        field = fields.get(where.split("/")[3], "name")
        for query in some(FOREIGN, number, of=5):
            asked = query.format(field=field)
            answer = boss.get(f"{where}?{asked}")
            assert answer.status_code == 400, (where, asked, answer.status_code)
            assert asked.split("=")[0] in answer.text, "it names what it refuses"


def test_a_regular_expression_in_the_address_runs_no_statement(vera):
    """It would be ended after a while, with another answer: the last test but one here."""
    assert vera.get("/admin/articles_app/article/?body__regex=" + ENDLESS).status_code == 400


def test_the_filters_that_a_list_offers_still_work(boss):
    for query in (
        "articles_app/article/?show=failed&q=x&o=1&p=1",
        "inventory_app/product/?show=never",
        "inventory_app/product/?show=failing:STOCK_BUSY",
        "auth/user/?is_staff__exact=1&groups__id__exact=1&q=b",
        "auth/user/?groups__isnull=1&is_active__exact=0",
        "punctual/auditentry/?task=1&actor=a&verb=b&subject=c&tenant=d&reason=e&since=2026-01-01T00:00&after=1",
        "punctual/scheduletask/?state=DEAD&type=X&lane=high&when=ran&since=2026-01-01T00:00&until=2026-02-01T00:00",
        "punctual/campaign/?state=DONE&kind=retry&tenant=a&after=7",
        "punctual/graphrun/?tenant=a&job=7&after=7",
        "punctual/jobdefinition/?tenant=a&name=b&status=ACTIVE&type=c&after=d",
    ):
        assert boss.get(f"/admin/{query}").status_code == 200, query


# Page numbers, ids, dates


def test_a_page_number_that_is_none_is_refused(boss):
    for number, (where, _) in enumerate(_lists()):
        for page in some(BAD_PAGES, number, of=7):
            answer = boss.get(f"{where}?p={page}")
            assert answer.status_code == 400, (where, page, answer.status_code)


def test_no_address_made_by_hand_is_an_error_of_ours(boss):
    lists = [where for where, _ in _lists()]
    for where in dict.fromkeys([*lists, *_different()]):
        for query in some(BAD_QUERIES, lists.index(where), of=14) if where in lists else ["&".join(BAD_QUERIES)]:
            answer = boss.get(f"{_filled(where, '1')}?{query}")
            assert answer.status_code < 500, (where, query, answer.status_code)


def test_no_id_made_by_hand_is_an_error_of_ours(boss):
    for number, where in enumerate(where for where in _different() if "<" in where):
        for value in some(BAD_IDS, number, of=5):
            for method in ("GET", "POST") if value == BAD_IDS[0] else ("GET",):
                answer = boss.request(method, _filled(where, value), data=_csrf(boss) if method == "POST" else None)
                assert answer.status_code < 500, (method, where, value, answer.status_code)


def test_no_action_on_rows_made_by_hand_is_an_error_of_ours(boss):
    actions = list(product(("delete_selected", "move_publish_times", "sync_now"), BAD_IDS[1:4]))
    for number, (where, _) in enumerate(_lists()):
        for action, chosen in some(actions, number, of=9):
            sent = {"action": action, "_selected_action": chosen.replace("%00", "\0"), "index": "x"} | _csrf(boss)
            answer = boss.post(where, data=sent)
            assert answer.status_code < 500, (where, action, chosen, answer.status_code)


def _csrf(client: httpx.Client) -> dict[str, str]:
    if "csrftoken" not in client.cookies:
        client.get("/admin/password_change/")
    return {"csrfmiddlewaretoken": client.cookies["csrftoken"]}


# The limit for a statement


def test_a_statement_of_a_web_request_that_takes_too_long_is_ended_and_told(web, boss):
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE article IN ACCESS EXCLUSIVE MODE")
        answer = boss.get("/admin/articles_app/article/")
    assert answer.status_code == 503 and f"longer than {STATEMENT_SECONDS} s" in answer.text
    assert boss.get("/admin/articles_app/article/").status_code == 200


def test_beats_workers_and_commands_have_no_such_limit(web):
    """They read the same settings; only the web process adds it."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
