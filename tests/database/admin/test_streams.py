"""What the streams of open consoles say, to whom, how often, and when they end."""

from itertools import pairwise

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import OperationalError

from django_punctual import reschedule
from tasks_app.console import streams
from tasks_app.console.live import LIVE
from tasks_app.console.shared import OLDEST_SECONDS, database_clock
from tasks_app.console.streams import Stream, Streams, Telling
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

VIEW = "punctual.view_scheduletask"
KINDS = set(Marks._fields)
IS_ROUND = Streams._is_round


class Said:
    """What a browser gets."""

    def __init__(self) -> None:
        self.open, self.words, self.moments = True, [], []

    def send(self, data: bytes) -> None:
        *kinds, moment = data.decode().partition("data: ")[2].split()
        self.words.append(set(kinds))
        self.moments.append(int(moment.removeprefix("@")))

    def end(self) -> None:
        self.open = False


@pytest.fixture(autouse=True)
def every_round(monkeypatch):
    monkeypatch.setattr(streams, "SOONEST_SECONDS", 0.0)
    monkeypatch.setattr(streams, "STANDING_SECONDS", 0.0)
    monkeypatch.setattr(Streams, "_is_round", lambda self, clock: True)


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


def test_all_are_told_of_the_same_moment_bunch_after_bunch(open_streams, monkeypatch):
    monkeypatch.setattr(streams, "BUNCH", 3)
    user = person("vera", VIEW)
    client = client_of(user)
    said, read = [opened(open_streams, client, user) for _ in range(5)], []

    def reading() -> Marks:
        read.append(database_clock())
        return read_marks()

    open_streams.run_once(reading)
    scheduled("a", at=MONDAY)  # told of with the next round
    assert [len(one.words) for one in said] == [1, 1, 1, 0, 0]
    assert open_streams._wait_seconds() == streams.FIRST_SECONDS
    open_streams.run_once(reading)

    assert [one.words for one in said] == [[KINDS | {"clock"}]] * 5
    assert len({one.moments[0] for one in said}) == len(read) == 1
    assert read[0] < said[0].moments[0]  # all that the marks tell was so by then
    open_streams.run_once(reading)
    assert said[0].words[-1] == {"tasks", "clock"}


def test_however_many_they_are_all_are_told_while_what_was_made_first_may_be_shown():
    for many in (2, 7, 60, 1_000):
        telling, waited = Telling([Stream(Said(), "", 1, True) for _ in range(many)]), 0.0
        while telling.next_bunch() and telling.left:
            waited += telling.wait_seconds
        assert waited <= streams.TELLING_SECONDS < OLDEST_SECONDS


def test_a_page_that_has_just_been_loaded_is_told_before_the_next_round_and_others_are_not(open_streams, monkeypatch):
    user = person("vera", VIEW)
    client = client_of(user)
    before = opened(open_streams, client, user)
    open_streams.run_once()
    monkeypatch.setattr(Streams, "_is_round", lambda self, clock: False)
    new = opened(open_streams, client, user)

    open_streams.run_once()
    open_streams.run_once()

    assert (len(before.words), len(new.words)) == (1, 1)


def test_rounds_fall_on_multiples_of_the_pace_whatever_it_was_before(open_streams, monkeypatch):
    monkeypatch.setattr(Streams, "pace", 16.0)
    open_streams._note_round(1000.0)

    assert [IS_ROUND(open_streams, clock) for clock in (1001.0, 1007.9, 1008.0, 1030.0)] == [False, False, True, True]
    assert IS_ROUND(open_streams, 500.0)  # somebody has set the clock
    open_streams._note_round(1008.0)
    monkeypatch.setattr(Streams, "pace", 32.0)
    assert [IS_ROUND(open_streams, clock) for clock in (1009.0, 1023.0, 1024.1)] == [False, False, True]
    assert all(later == 2 * sooner for sooner, later in pairwise(streams.PACES))


def test_a_round_that_could_not_be_read_is_made_up_for(open_streams, monkeypatch):
    monkeypatch.setattr(Streams, "_is_round", IS_ROUND)
    user = person("vera", VIEW)
    said = opened(open_streams, client_of(user), user)
    open_streams.run_once()
    open_streams._round_at = 0.0

    def fail() -> Marks:
        raise OperationalError("no database")

    with pytest.raises(OperationalError):
        open_streams.run_once(fail)
    open_streams.run_once()

    assert len(said.words) == 2


def test_the_more_consoles_are_open_and_the_more_a_look_takes_the_rarer_they_look(open_streams):
    user = person("vera", VIEW)
    paces = []
    for number in range(60):
        open_streams.add(Stream(Said(), f"session {number}", user.pk, True))
        for seconds in (0.100, *[0.002] * 49):  # one makes what all others share: 4 ms each
            open_streams.took(seconds)
        open_streams._note_round(number)
        paces.append(open_streams.pace)

    assert paces[0] == 2.0
    assert paces[9] == 4.0  # ten consoles, 8 ms each with the database, are 80 ms: 2 % of 4 s
    assert paces[-1] == 32.0
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
