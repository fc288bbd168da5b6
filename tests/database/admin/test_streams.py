"""What the streams of open consoles say, to whom, how often, and when they end."""

import pytest
from django.contrib.auth.models import Group, Permission

from tasks_app.client import reschedule
from tasks_app.console import streams
from tasks_app.console.live import LIVE
from tasks_app.console.streams import Stream, Streams
from tasks_app.core.roles import Role
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.changes import Marks, changed, read_marks
from tasks_app.models import Membership
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import run_due
from tests.support.live import a_beat_is_alive
from tests.support.members import member
from tests.support.moves import MONDAY, dead, scheduled

pytestmark = pytest.mark.django_db

VIEW = "tasks_app.view_scheduletask"
KINDS = set(Marks._fields)


class Said:
    """What a browser gets."""

    def __init__(self) -> None:
        self.open, self.words = True, []

    def send(self, data: bytes) -> None:
        self.words.append(set(data.decode().partition("data: ")[2].split()))

    def end(self) -> None:
        self.open = False


@pytest.fixture(autouse=True)
def every_round(monkeypatch):
    monkeypatch.setattr(streams, "SOONEST_SECONDS", 0.0)
    monkeypatch.setattr(streams, "STANDING_SECONDS", 0.0)


@pytest.fixture
def open_streams(monkeypatch):
    """Without their thread: a test goes round itself."""
    monkeypatch.setattr(streams.threading, "Thread", lambda **_: type("Never", (), {"start": lambda self: None})())
    return Streams()


def opened(all_of: Streams, client, user, *, whole: bool = True) -> Said:
    said = Said()
    all_of.add(Stream(said, client.session.session_key, user.pk, whole))
    all_of._look_seconds = 0.0
    return said


def test_it_says_at_first_to_look_and_then_what_has_changed(open_streams):
    user = person("vera", VIEW)
    said = opened(open_streams, client_of(user), user)

    open_streams.run_once()
    open_streams.run_once()
    scheduled("a", at=MONDAY)
    open_streams.run_once()

    assert said.words == [KINDS | {"clock"}, {"clock"}, {"tasks", "clock"}]


def test_each_thing_that_happens_changes_its_mark():
    a_beat_is_alive()

    def what_changes(deed) -> set[str]:
        before = read_marks()
        deed()
        return changed(before, read_marks())

    assert what_changes(lambda: None) == set()
    assert what_changes(lambda: scheduled("a", at=MONDAY)) == {"tasks"}
    assert "letters" in what_changes(lambda: dead("b"))
    assert "orders" in what_changes(lambda: lanes.pause("low", reason="test", by="olga"))
    scheduled("c", at=MONDAY)
    assert "tasks" in what_changes(lambda: (reschedule("T_PLAIN", "c", delay=0), run_due()))


def test_somebody_who_works_in_one_tenant_is_told_the_same_whatever_happens(open_streams):
    user = member(Role.VIEWER, "acme")
    said = opened(open_streams, client_of(user), user, whole=False)

    open_streams.run_once()
    open_streams.run_once()
    scheduled("not theirs", at=MONDAY)
    open_streams.run_once()

    assert said.words == [KINDS | {"clock"}] * 3


def log_out(user, client) -> None:
    client.logout()


def lose_a_permission(user, client) -> None:
    user.user_permissions.clear()


def lose_one_of_a_group(user, client) -> None:
    user.groups.get().permissions.clear()


def be_locked_out(user, client) -> None:
    type(user).objects.filter(pk=user.pk).update(is_active=False)


def get_another_password(user, client) -> None:
    user.set_password("another one")
    user.save()


def be_deleted(user, client) -> None:
    user.delete()


@pytest.mark.parametrize(
    "deed", [log_out, lose_a_permission, lose_one_of_a_group, be_locked_out, get_another_password, be_deleted]
)
def test_a_stream_ends_with_the_session_and_with_any_change_of_rights(open_streams, deed):
    user = person("vera", VIEW)
    group = Group.objects.create(name="those who look")
    group.permissions.add(Permission.objects.get(codename="view_jobdefinition"))
    user.groups.add(group)
    other, client = person("olga", VIEW), client_of(user)
    ended, stays = opened(open_streams, client, user), opened(open_streams, client_of(other), other)
    assert open_streams.run_once() == 2

    deed(user, client)

    assert open_streams.run_once() == 1
    assert (ended.open, stays.open) == (False, True)
    assert (len(ended.words), len(stays.words)) == (1, 2)


def test_a_stream_ends_when_a_role_is_taken_away(open_streams):
    user = member(Role.OPERATOR, "acme")
    said = opened(open_streams, client_of(user), user, whole=False)
    open_streams.run_once()

    Membership.objects.update(role=Role.VIEWER)
    open_streams.run_once()

    assert not said.open


def test_a_browser_without_locks_has_few_streams_and_the_oldest_makes_room(open_streams):
    user = person("vera", VIEW)
    client = client_of(user)

    all_of_them = [opened(open_streams, client, user) for _ in range(streams.MOST_OF_SESSION + 2)]

    assert [one.open for one in all_of_them] == [False, False] + [True] * streams.MOST_OF_SESSION
    assert open_streams.run_once() == streams.MOST_OF_SESSION


def test_consoles_that_were_opened_one_after_the_other_are_told_in_bunches(open_streams, monkeypatch):
    monkeypatch.setattr(streams, "BUNCH", 5)
    monkeypatch.setattr(Streams, "pace", 100.0)
    user = person("vera", VIEW)
    client = client_of(user)
    said = [opened(open_streams, client, user) for _ in range(5)]
    open_streams.run_once()
    assert [len(one.words) for one in said] == [1] * 5  # at first each is told at once
    for one, ago in zip(open_streams._open, (103, 102, 101, 53, 47), strict=True):
        one.told_at -= ago  # the time of three has come, and that of one is half over

    open_streams.run_once()

    assert [len(one.words) for one in said] == [2, 2, 2, 2, 1]
    assert len({one.told_at for one in open_streams._open[:4]}) == 1  # and so they will again
    open_streams.run_once()
    assert [len(one.words) for one in said] == [2, 2, 2, 2, 1]


def test_the_more_consoles_are_open_and_the_more_a_look_takes_the_rarer_they_look(open_streams, monkeypatch):
    monkeypatch.setattr(streams, "SOONEST_SECONDS", 2.0)
    user = person("vera", VIEW)
    for _ in range(100):
        open_streams.took(0.010)
    paces = []
    for number in range(60):
        open_streams.add(Stream(Said(), f"session {number}", user.pk, True))
        paces.append(open_streams.pace)

    assert paces[0] == 2.0
    assert paces[9] == pytest.approx(10.0, rel=0.05)
    assert paces[-1] == streams.LATEST_SECONDS
    assert paces == sorted(paces)


def test_a_server_that_holds_no_streams_says_so(client):
    assert client_of(person("vera", VIEW)).get("/admin/stream/").status_code == 204


def test_nobody_who_may_not_come_in_gets_a_stream(client):
    def hold() -> Said:
        raise AssertionError("a stream was opened")

    for stranger in (client, client_of(person("sam", staff=False))):
        answer = stranger.get("/admin/stream/", **{streams.HOLD: hold})
        assert (answer.status_code, answer.content) == (204, b"")


def test_every_page_goes_by_something_that_is_told():
    assert {topic for topics in LIVE.values() for topic in topics} <= KINDS | {"clock"}
