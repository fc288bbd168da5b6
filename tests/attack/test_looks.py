"""A look that is made once for many gives nobody anything of somebody else, or that they may not see."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.console import looks, shared
from tasks_app.console.shared import database_clock
from tasks_app.core.roles import Role
from tasks_app.engine.operations import lanes
from tasks_app.models import SavedFilter
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive
from tests.support.members import browser
from tests.support.moves import MONDAY, scheduled

pytestmark = pytest.mark.django_db

TASKS, JOBS = "/admin/punctual/scheduletask/", "/admin/punctual/jobdefinition/"
PAGES = ("/admin/", "/admin/punctual/node/", TASKS, JOBS)
VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"
VIEW_JOBS, OPERATE_JOBS = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
ANY = "10"  # microseconds after 1970: whatever there is
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture(autouse=True)
def for_as_long_as_a_test_takes(monkeypatch):
    monkeypatch.setattr(shared, "OLDEST_SECONDS", 3600.0)


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """The pages of which a look was made."""
    found, look = [], looks._look

    def noted(request, view):
        found.append(request.path)
        return look(request, view)

    monkeypatch.setattr(looks, "_look", noted)
    return found


def look(client, path: str, after: str = ANY, **headers: str):
    answer = client.get(path, headers={"Punctual-Live": after, **headers})
    assert answer.status_code == 200
    return answer


def text(client, path: str, after: str = ANY, **headers: str) -> str:
    return look(client, path, after, **headers).content.decode()


def one_of(name: str, *rights: str):
    return client_of(person(name, *rights), enforce_csrf_checks=True)


@pytest.mark.parametrize("path", PAGES)
def test_people_with_the_same_rights_share_a_look_with_their_own_tokens_and_nothing_of_each_other(path, made):
    a_beat_is_alive()
    scheduled("a", at=MONDAY)
    make("nightly")
    rights = (VIEW, OPERATE, VIEW_JOBS, OPERATE_JOBS)
    first, second = one_of("zq-vera", *rights), one_of("zq-olga", *rights)

    theirs = [text(one, path) for one in (first, second)]

    assert made == [path]
    tokens = [set(TOKEN.findall(one)) for one in theirs]
    assert [len(one) for one in tokens] == [1, 1] and tokens[0] != tokens[1]
    assert {TOKEN.sub("", one) for one in theirs} == {TOKEN.sub("", theirs[0])}
    assert "zq-" not in theirs[0]
    assert "class=" in theirs[0] and looks._TOKEN not in theirs[0] and looks._FILTERS not in theirs[0]
    [token] = tokens[1]
    refused = second.post("/admin/tenant/", {"csrfmiddlewaretoken": token, "tenant": "acme"})
    assert refused.status_code == 404  # they are no member there: the token counts
    assert first.post("/admin/tenant/", {"csrfmiddlewaretoken": token, "tenant": "acme"}).status_code == 403


@pytest.mark.parametrize(
    "path, offered", [(TASKS, "Act on"), (JOBS, "Act on the selected jobs"), ("/admin/", "Pause<")]
)
@pytest.mark.parametrize("strong_first", [True, False])
def test_who_may_do_more_or_less_gets_a_look_of_their_own(path, offered, strong_first, made):
    a_beat_is_alive()
    scheduled("a", at=MONDAY)
    make("nightly")
    strong = one_of("olga", VIEW, OPERATE, VIEW_JOBS, OPERATE_JOBS)
    weak = one_of("vera", VIEW, VIEW_JOBS)
    boss = client_of(person("boss", superuser=True))

    shown = {one: text(one, path) for one in ([strong, weak] if strong_first else [weak, strong])}

    assert offered in shown[strong] and offered not in shown[weak]
    assert offered in text(boss, path) and offered not in text(weak, path)
    assert len(made) == 2  # the boss may do what they ask for, too
    stranger = client_of(person("sam"))
    assert offered not in stranger.get(path, headers={"Punctual-Live": ANY}).content.decode()


def test_a_right_that_was_taken_away_counts_no_more_with_the_next_look():
    scheduled("a", at=MONDAY)
    user = person("olga", VIEW, OPERATE)
    client = client_of(user)
    assert "Act on" in text(client, TASKS)

    user.user_permissions.through.objects.filter(permission__codename="operate_scheduletask").delete()
    assert "Act on" not in text(client, TASKS)
    user.user_permissions.clear()
    assert client.get(TASKS, headers={"Punctual-Live": ANY}).status_code == 403
    assert "olga has no permissions" in text(client, "/admin/")
    client.logout()
    assert client.get(TASKS, headers={"Punctual-Live": ANY}).status_code == 302


def test_members_of_a_tenant_share_with_nobody(made):
    scheduled("theirs", at=MONDAY, tenant="acme")
    scheduled("not-theirs", at=MONDAY, tenant="other")
    boss = client_of(person("boss", superuser=True))
    acme, other = browser(Role.ADMIN, "acme"), browser(Role.ADMIN, "other")
    assert "not-theirs" in text(boss, TASKS)

    assert "not-theirs" not in text(acme, TASKS)
    assert "not-theirs" in text(other, TASKS)
    assert ">theirs<" in text(boss, TASKS)
    assert made == [TASKS]
    assert "Age" not in look(acme, TASKS).headers


def test_what_is_searched_in_the_archive_is_nobody_elses(made):
    text(one_of("vera", VIEW), f"{TASKS}?cold=on&key=a")

    assert made == []


def test_saved_filters_the_language_and_the_address_are_everybodys_own():
    scheduled("a", at=MONDAY)
    vera, olga = person("vera", VIEW), person("olga", VIEW)
    for user in (vera, olga):
        SavedFilter.objects.create(user_key=str(user.pk), page="tasks", name=f"of-{user.username}", query="lane=low")
    clients = client_of(vera), client_of(olga)

    for client, own, others in zip(clients, ("of-vera", "of-olga"), ("of-olga", "of-vera"), strict=True):
        shown = text(client, TASKS)
        assert own in shown and others not in shown
    assert "No task matches." in text(clients[0], f"{TASKS}?lane=low")
    assert "No task matches." not in text(clients[1], TASKS)
    assert "没有" in text(clients[1], f"{TASKS}?lane=low", **{"Accept-Language": "zh-CN"})
    assert "No task matches." in text(clients[1], f"{TASKS}?lane=low")


def test_what_was_made_is_taken_only_if_nothing_newer_was_shown_or_told(made):
    a_beat_is_alive()
    client, other = (client_of(person(name, VIEW)) for name in ("vera", "olga"))
    first = look(client, "/admin/", "1")
    lanes.pause("low", reason="for a test", by="olga")
    told = str(database_clock())

    assert "for a test" not in text(other, "/admin/")  # it may be so old
    again = look(client, "/admin/", first["Punctual-Live"])  # it has been shown, and would be shown again
    assert "for a test" in again.content.decode()
    assert "for a test" in text(other, "/admin/", told)
    assert made == ["/admin/"] * 2  # the last one is new enough for both
    assert int(first["Age"]) >= 1  # rounded up: it is no younger than it says
    assert "for a test" in text(other, "/admin/", "1")
    assert len(made) == 3  # who says nothing gets what is read now


def test_a_shared_look_takes_few_statements():
    a_beat_is_alive()
    boss = [client_of(person(name, superuser=True)) for name in ("boss", "chief")]
    look(boss[0], "/admin/")

    with CaptureQueriesContext(connection) as ran:
        look(boss[1], "/admin/")

    assert len(ran) <= 2, [one["sql"][:80] for one in ran]  # the session and the user
