"""A process works on no standby, and on no server that another was promoted past, whatever Redis has lost."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from tasks_app.conf import conf
from tasks_app.database import our_connection
from tasks_app.engine.barrier import Barrier
from tasks_app.engine.operations.api_tokens import issue_for_metrics, may_read_metrics
from tasks_app.engine.primaries import PRIMARIES, TIMELINES, NotPrimary, Primaries, opened
from tasks_app.lifecycle.installation import look, read_facts, read_installation
from tasks_app.models import ApiToken, Installation
from tasks_app.sql import execute
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.quarantine import using
from tests.support.stack import database_proxy

pytestmark = commits


@pytest.fixture
def row():
    look()
    return read_installation()


def later(facts, by: int = 1):
    return replace(facts, timeline=facts.timeline + by)


def test_a_server_that_another_was_promoted_past_is_refused_by_whoever_heard_of_it(row):
    here, elsewhere = Primaries(), Primaries()
    here.note(later(row.facts), row)

    for one in (here, elsewhere):
        with pytest.raises(NotPrimary, match=r"is on timeline 1, and this installation has been on timeline 2"):
            one.check(row.facts, row)
        one.check(later(row.facts), row)


def test_a_flushed_redis_is_told_again_by_whoever_remembers(row, redis):
    here, elsewhere = Primaries(), Primaries()
    here.note(later(row.facts), row)
    redis.delete(conf().redis_key(TIMELINES))

    elsewhere.note(row.facts, row)  # on the older one, and first to speak

    with pytest.raises(NotPrimary):
        here.check(row.facts, row)
    with pytest.raises(NotPrimary):
        elsewhere.check(row.facts, row)


def test_without_redis_a_process_goes_by_what_it_has_seen_itself(row, settings):
    one = Primaries()
    one.note(later(row.facts), row)
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "unix:///nowhere?db=0"}
    one._client = None

    with pytest.raises(NotPrimary):
        one.check(row.facts, row)
    Primaries().check(row.facts, row)  # and one that has seen nothing can't know


@pytest.mark.parametrize("state", [Installation.QUARANTINED, Installation.REHEARSING])
def test_a_copy_does_not_stop_the_original(row, state):
    one = Primaries()

    one.note(later(row.facts), replace(row, state=state))

    one.check(row.facts, row)


def test_another_environments_process_does_not_either(row, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ENVIRONMENT": "staging"}
    one = Primaries()

    one.note(later(row.facts), replace(row, environment="production"))

    one.check(row.facts, row)


def test_an_operator_can_go_on_with_an_older_timeline_and_nobody_raises_it_again(row):
    other = Primaries()
    other.note(later(row.facts, 2), row)

    call_command("quarantine", "enter", "--reason", "it was restored", stdout=StringIO())
    call_command("quarantine", "resume", "--reason", "this is the primary", stdout=StringIO())

    row = read_installation()
    for one in (other, Primaries()):
        one.note(row.facts, row)
        one.check(row.facts, row)
    other.note(later(row.facts), row)
    with pytest.raises(NotPrimary, match="timeline 1, and this installation has been on timeline 2"):
        other.check(row.facts, row)


@pytest.fixture
def standby() -> Iterator[None]:
    """The server answers that it is one, to this connection, which was told otherwise when it was made: so it is with a
    pooler in between, which says what it remembers."""
    execute("CREATE SCHEMA pretending")
    execute("CREATE FUNCTION pretending.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT TRUE'")
    execute("SET search_path = pretending, pg_catalog, public")
    yield
    execute("RESET search_path")
    execute("DROP SCHEMA pretending CASCADE")


def test_a_standby_is_refused_by_what_it_answers(row, standby):
    barrier = Barrier()

    with pytest.raises(NotPrimary, match="is a standby: nothing can be written there"):
        barrier.look()
    assert (barrier.open, connection.connection) == (False, None)

    barrier.look()  # by a new connection, to which it answers otherwise
    assert barrier.open


def test_on_a_standby_the_use_of_a_token_is_not_noted(standby):
    _, text = issue_for_metrics("prometheus", operator())

    assert (may_read_metrics(text), ApiToken.objects.get().last_used_at) == (True, None)


def test_a_process_that_is_refused_leaves_with_all_its_threads_and_asks_the_other_server_first(row):
    host, port = connection.settings_dict["HOST"], connection.settings_dict["PORT"]
    barrier = Barrier()
    with using(HOST=f"{host},/elsewhere", PORT=f"{port},5433"):
        connection.ensure_connection()
        opened(our_connection())
        other = connection.copy()
        other.ensure_connection()
        opened(other)
        PRIMARIES.note(later(read_facts()), row)

        with pytest.raises(NotPrimary):
            barrier.look()

        assert connection.settings_dict["HOST"] == f"/elsewhere,{host}"
        assert connection.settings_dict["PORT"] == f"5433,{port}"
        with pytest.raises(OperationalError), other.cursor() as cursor:
            cursor.execute("SELECT 1")
        other.close()


def test_a_server_that_swallows_packets_costs_the_first_connection_alone(row):
    proxy = database_proxy()
    proxy.stall()
    host, port = connection.settings_dict["HOST"], connection.settings_dict["PORT"] or "5432"
    options = connection.settings_dict["OPTIONS"] | {"connect_timeout": 2, "target_session_attrs": "read-write"}
    with using(HOST=f"127.0.0.1,{host}", PORT=f"{proxy.port},{port}", OPTIONS=options):
        connection.ensure_connection()
        opened(our_connection())
        tried = proxy.accepted
        connection.close()
        connection.ensure_connection()

        assert (tried, proxy.accepted) == (1, 1)
        assert connection.connection.info.host == host
    proxy.close()


@pytest.mark.parametrize("words", ["site show", "quarantine show", "failover report"])
def test_a_command_that_finds_no_server_says_so_and_ends_with_2(words, transactional_db):
    with using(HOST="/nowhere"), pytest.raises(CommandError, match=r"The database can't be used: .*/nowhere") as told:
        call_command(*words.split())
    assert told.value.returncode == 2
