"""A switch of sites against claims, starts and settles of the one before: at no moment can both start tasks."""

from uuid import uuid4

import pytest
from django.db import InterfaceError, OperationalError, connection, transaction

from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle import site as sites
from tasks_app.lifecycle.installation import look, read_installation, touch
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.site import activate, open_chosen, see_to
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, TaskBatch
from tasks_app.sql import run
from tests.support.engine import claim_due, expire_lease, run_due
from tests.support.marks import commits
from tests.support.moves import State, claimed, ids_of, scheduled, settled, started, state
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results
from tests.support.quarantine import installation
from tests.support.sides import sides
from tests.support.site import at, beat_at, held_open, silent
from tests.support.wait import wait_until

pytestmark = commits


def chosen(site: str = "b"):
    return activate(site, operator())


def switched(site: str = "b") -> None:
    assert open_chosen(chosen(site), wait=nobody_waits) is not None


def nobody_waits(seconds: float) -> None:
    raise AssertionError("something is in flight")


def test_the_chosen_site_stays_closed_while_a_start_of_the_other_is_in_flight():
    look()
    number = claimed("a")
    seen = []
    with held_open(lambda: start(number, "a worker of main")) as first:
        row = chosen()

        def wait(seconds: float) -> None:
            seen.append((installation().site, installation().next_site))
            with at("b"):
                assert claim_due() == []
            first.commit()

        open_chosen(row, wait)

    assert seen == [(None, "b")]
    assert (installation().site, len(first.value.tasks)) == ("b", 1)
    assert settled(first.value) == 1  # it began before: its lease is its own, and what it says counts


def test_so_it_does_while_a_start_waits_that_has_seen_nothing_of_the_choice():
    look()
    number = claimed("a")
    looks = []
    with held_open(lambda: TaskBatch.objects.select_for_update().get()) as somebody, sides(1) as begin:
        begun = begin(0, lambda: start(number, "a worker of main"))
        wait_until(_somebody_waits_for_a_lock, describe="the start does not wait")
        row = chosen()

        def wait(seconds: float) -> None:
            looks.append(installation().site)
            somebody.commit()
            begun.result(20)

        open_chosen(row, wait)

    assert looks == [None]
    assert len(begun.result().tasks) == 1  # by its snapshot main was active; and b was not yet


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0] > 0


def test_a_start_after_the_choice_finds_nothing_and_gives_back():
    look()
    number = claimed("a")
    [task] = TaskBatch.objects.get().ids

    chosen()

    assert start(number, "a worker of main") is None
    assert state(task) == State("INIT", due=True)
    assert claim_due() == []


@pytest.mark.parametrize("commit", [True, False])
def test_a_start_beside_a_choice_that_is_not_committed_is_before_it(commit):
    look()
    number = claimed("a")

    _, second = overlap_results(chosen, lambda: start(number, "a worker of main"), commit=commit)

    assert (second.waited, len(second.value.tasks)) == (False, 1)
    assert installation().site == (None if commit else "main")
    assert settled(second.value) == 1


def test_what_was_claimed_in_flight_is_due_again_when_the_site_is_opened():
    look()
    [task] = scheduled("a")
    with held_open(claim_due) as first:
        row = chosen()
        open_chosen(row, lambda seconds: first.commit())

    assert len(first.value) == 1
    assert state(task) == State("INIT", due=True)
    assert run_due() == []
    with at("b"):
        assert len(run_due()) == 1


def test_reads_and_settles_keep_no_site_closed():
    look()
    batch = started("a")
    with held_open(lambda: settled(batch)) as settling, held_open(read_installation):
        switched()
        assert settling.commit() == 1


def test_a_session_that_never_ends_is_ended(monkeypatch):
    look()
    number = claimed("a")
    monkeypatch.setattr(sites, "PATIENCE_SECONDS", 0.0)
    with held_open(lambda: start(number, "a worker that is cut off")) as first:
        row = chosen()
        open_chosen(row, lambda seconds: None)

        assert installation().site == "b"
        with pytest.raises((OperationalError, InterfaceError)):
            first.commit()
    with at("b"):
        assert len(run_due()) == 1


def test_whoever_got_no_answer_to_a_start_before_the_switch_gets_its_batch():
    look()
    number, ticket = claimed("a"), uuid4()
    assert len(start(number, "a worker of main", ticket).tasks) == 1
    switched()

    again = start(number, "a worker of main", ticket, again=True)

    assert settled(again) == 1


def test_a_lost_batch_of_the_site_before_is_run_by_the_other_and_settled_once():
    look()
    batch = started("a", "b")
    switched()
    expire_lease(str(batch.batch_no))

    with at("b"):
        reap()
        assert len(run_due()) == 2

    assert settled(batch) is None  # it came too late
    assert state(ids_of(batch)[0]).status == "SUCCESS"


def test_two_beats_that_take_over_do_so_once():
    silent(60.0)
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        first, second = overlap_results(sites._take_over, lambda: see_to(look()))

    assert (first.error, second.waited, second.value.sites.active) == (None, True, "b")
    assert (installation().site, installation().site_epoch) == ("b", 1)
    assert AuditEntry.objects.filter(verb="site").count() == 1


def renew() -> None:
    """What a beat of the active site does every few seconds."""
    beat = {"node_id": uuid4(), "name": "beat", "site": "main", "dispatching": True, "figures": None}
    run("hold_shards", beat | {"ttl": 8.0, "forget": 60.0})


@pytest.mark.parametrize("sign", [touch, renew])
def test_a_site_that_comes_back_meanwhile_is_not_taken_over(sign):
    silent(60.0)
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        row = look()
        _, after = overlap(sign, lambda: see_to(row))

    assert (after.sites.active, installation().site_epoch) == ("main", 0)


def test_who_opens_a_site_that_was_chosen_anew_does_nothing():
    look()
    row = chosen("b")
    chosen("c")

    assert open_chosen(row) is None
    assert (installation().site, installation().next_site) == (None, "c")


@pytest.mark.parametrize("commit", [True, False])
def test_an_order_that_was_decided_before_another_choice_is_refused(commit):
    look()

    _, second = overlap_results(
        lambda: activate("b", operator()), lambda: activate("c", operator(), epoch=0), commit=commit
    )

    assert second.waited
    if commit:
        assert isinstance(second.error, InvalidTask) and "somebody has chosen site 'b' since" in str(second.error)
    assert (installation().next_site, installation().site_epoch) == ("b" if commit else "c", 1)


def test_two_who_open_a_site_do_it_once():
    look()
    beat_at("b")
    row = chosen("b")

    first, second = overlap_results(lambda: open_chosen(row), lambda: open_chosen(row))

    assert (len(first.value), second.value, second.waited) == (1, None, True)


def test_what_is_rolled_back_was_no_choice():
    look()
    [task] = scheduled("a")
    with transaction.atomic():
        chosen()
        transaction.set_rollback(True)

    assert len(run_due()) == 1
    assert state(task).status == "SUCCESS"
