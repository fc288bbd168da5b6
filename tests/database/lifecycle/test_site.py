"""A site that stands by holds no shards and starts nothing; once it is activated, it works, and the other does not."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidConfiguration, NothingToDo
from tasks_app.core.lanes import LANES
from tasks_app.core.recovery import IN_TURN
from tasks_app.engine.barrier import BARRIER, Barrier
from tasks_app.engine.beat.chores import CHORES, Chores
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.nodes import new_node_id, report_worker
from tasks_app.engine.operations.quarantine import enter
from tasks_app.engine.watch.alive import all_slots, who_is_missing
from tasks_app.engine.watch.fleet_status import pauses
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.claim import claim_chosen
from tasks_app.lifecycle.installation import look, touch
from tasks_app.lifecycle.site import LANE_PATIENCE_SECONDS, activate, open_chosen, resume_step, see_to, stand_by
from tasks_app.metrics.reading import read as scrape
from tasks_app.models import AnyTask, AuditEntry, Curb, Node, Recovery, ShardLease
from tasks_app.sql import execute, run
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import anybodys, claim_due, row, run_due
from tests.support.moves import State, claimed, scheduled, started, state
from tests.support.operators import operator
from tests.support.quarantine import installation
from tests.support.site import at, beat_at, silent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nobody_gone(settings) -> None:
    # However slow the machine, nobody counts as gone while a test looks.
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 600.0, "SHARD_LEASE_SECONDS": 15.0}


def switched(site: str = "b") -> None:
    look()
    open_chosen(activate(site, operator()))


def leases(name: str) -> Leases:
    return Leases(new_node_id(), name, lambda ids: None)


def test_the_sites_of_processes_have_names(settings):
    assert conf().site == "main"
    settings.PUNCTUAL = settings.PUNCTUAL | {"STANDBY": 1}
    assert conf().site == "standby"
    settings.PUNCTUAL = settings.PUNCTUAL | {"SITE": "b"}
    assert conf().site == "b"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"SITE": "b/2"}, r"letters, digits and any of _ \. -, such as 'b'"),
        ({"STANDBY": 2}, r"STANDBY\"\] is 2; it must be at most 1"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, wrong, words):
    settings.PUNCTUAL = settings.PUNCTUAL | wrong

    with pytest.raises(InvalidConfiguration, match=words):
        conf()


def test_a_site_that_stands_by_gets_nothing_from_any_statement():
    look()
    [task] = scheduled("a")
    with at("b"):
        assert leases("beat at b").run_once() == {}
        assert claim_due() == []
        assert claim_chosen([task], "default", 10, {}, "b", anybodys()) == []
    assert state(task) == State("INIT", due=True)
    number = claimed("x")
    with at("b"):
        assert run_due() == []
        [batch] = run("unstarted_of", {})
        assert batch == ("test",)
    assert len(leases("beat at main").run_once()) == conf().SHARDS
    assert number is not None


def test_limited_types_are_not_claimed_either():
    look()
    scheduled("a", task_type="T_THREE")
    with at("b"):
        assert claim_due() == []
    assert len(claim_due()) == 1


def test_after_the_switch_it_is_the_other_way_round():
    here = leases("beat at main")
    here.run_once()
    scheduled("a", "b")
    switched()

    assert claim_due() == []
    assert here.run_once() == {}
    assert set(ShardLease.objects.values_list("holder", flat=True)) == {None}
    with at("b"):
        assert len(leases("beat at b").run_once()) == conf().SHARDS
        assert len(run_due()) == 1


def test_nobody_works_between_the_choice_and_the_opening():
    look()
    scheduled("a")
    chosen = activate("b", operator())

    for site in ("main", "b"):
        with at(site):
            assert (claim_due(), leases("a beat").run_once()) == ([], {})
    with at("b"):
        assert see_to(chosen).sites.active == "b"  # whoever chose it may have died: a beat opens it
        assert len(claim_due()) == 1


def test_what_was_claimed_is_due_again_and_what_was_started_goes_on():
    batch, number = started("runs"), claimed("waits")
    report_worker(new_node_id(), "w:1", 4, list(LANES))
    switched()

    assert number is not None
    assert [state(task.id).status for task in batch.tasks] == ["RUNNING"]
    assert AnyTask.objects.get(biz_key="waits").status == "INIT"
    assert Node.objects.get(name="w:1").slots == 0


def test_all_stand_by_until_somebody_says_which_one_works():
    look()
    [task] = scheduled("a")
    stand_by(operator())

    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        silent(3_600.0)
        assert see_to(look()).sites.wanted is None  # an operator has said so
    assert claim_due() == []
    found = read_status().found[0]
    assert (found.rule, "all sites stand by" in found.sentence) == ("no_dispatcher", True)
    assert "all sites stand by" in why_task(row(task)).words
    with pytest.raises(NothingToDo, match="stand by already"):
        stand_by(operator())
    switched("main")
    assert len(run_due()) == 1


# ---- by itself ----


def test_a_silent_site_is_taken_over_only_where_that_is_allowed():
    silent(60.0)
    with at("b"):
        assert see_to(look()).sites.active == "main"
    with at("b", SITE_TAKEOVER_SECONDS=1.0, SHARD_LEASE_SECONDS=40.0):
        assert see_to(look()).sites.active == "main"  # never sooner than two leases
    with at("b", SITE_TAKEOVER_SECONDS=90.0):
        assert see_to(look()).sites.active == "main"
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        assert see_to(look()).sites.active == "b"
    [entry] = AuditEntry.objects.filter(verb="site")
    assert (entry.actor, entry.reason) == ("punctual", "No beat of site 'main' has been there for 60 s.")
    assert Curb.objects.filter(kind="lane").exists()


@pytest.mark.parametrize("sign", [touch, lambda: beat_at("main"), lambda: switched("main2")])
def test_any_sign_of_life_keeps_a_site(sign):
    silent(60.0)
    sign()
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        assert see_to(look()).sites.active != "b"


def test_the_beats_of_a_site_that_stands_by_are_no_sign_of_life_of_the_active_one():
    silent(60.0)
    beat_at("b")
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        assert see_to(look()).sites.active == "b"


def test_in_quarantine_nobody_takes_over():
    silent(60.0)
    enter(operator())
    with at("b", SITE_TAKEOVER_SECONDS=30.0):
        assert see_to(look()).sites.active == "main"


def test_the_first_site_with_a_name_begins_unless_it_stands_by_or_others_work():
    look()
    with at("b"):
        assert see_to(look()).sites.active == "main"
    unnamed = leases("beat without a name")
    unnamed.run_once()
    with at("a", STANDBY=0):
        assert see_to(look()).sites.active == "main"
        unnamed.release()
        assert see_to(look()).sites.active == "a"
    assert (Curb.objects.count(), Recovery.objects.count()) == (0, 0)  # nothing had stopped


def test_a_barrier_is_closed_at_a_site_that_stands_by_and_opens_when_it_is_activated():
    barrier = Barrier()
    with at("b"):
        barrier.look(dispatching=True)
        assert (barrier.open, barrier.standing_by) == (False, True)
        assert barrier.closed == "Site 'b' stands by: 'main' is the active one."
    barrier.look(dispatching=True)
    assert (barrier.open, barrier.standing_by) == (True, False)
    activate("b", operator())
    with at("b"):
        barrier.look(dispatching=True)
    assert barrier.open


def test_beats_that_stand_by_do_no_chores_and_are_not_taken_for_those_that_do():
    look()
    BARRIER.standing_by, BARRIER.closed = True, "b stands by"
    with at("b"):
        chores = Chores(uuid4(), "beat at b")
        assert chores.run_once() == []
        assert Node.objects.get().site == "b"
    assert run("last_beat", {})[0][0] is None
    beat_at("main", seconds_ago=600.0)
    assert run("last_beat", {})[0][0] > 500
    assert {chore.name for chore in CHORES} >= {"site"}


def test_who_is_missing_is_asked_of_the_active_site_alone():
    look()
    beat_at("b")
    report_worker(new_node_id(), "w:1", 4, list(LANES))
    Node.objects.update(site="b")

    assert (who_is_missing("default"), all_slots()) == ("no beat is running", 0)
    assert {served for _, served, _ in run("canary_lanes", {"lanes": list(LANES), "node_ttl": 600.0})} == {False}
    switched()
    assert (who_is_missing("default"), all_slots()) == ("", 4)
    assert {known for *_, known in run("canary_lanes", {"lanes": list(LANES), "node_ttl": 600.0})} == {True}
    stand_by(operator())
    assert who_is_missing("default") == "all sites stand by"


def test_a_beat_that_takes_over_locks_as_one_does_that_adopts_a_server():
    """The other way round each would wait for the other, just after a failover."""
    silent(3_600.0)
    locks: list[str] = []

    def note(execute, sql, params, many, context):
        locks.extend(table for table in ("installation", "sign") if f"punctual_{table}" in sql and "FOR UPDATE" in sql)
        return execute(sql, params, many, context)

    with at("b", SITE_TAKEOVER_SECONDS=30.0), connection.execute_wrapper(note):
        assert see_to(look()).sites.active == "b"

    assert locks[:2] == ["installation", "sign"]


def test_a_site_that_was_chosen_and_could_not_be_opened_can_be_activated_again():
    beat_at("b")
    look()
    activate("b", operator())

    told("activate", "b", "--reason", "again")

    assert installation().site == "b"
    assert AuditEntry.objects.filter(verb="site").count() == 1


# ---- lanes ----


def test_critical_goes_on_at_once_and_the_others_one_after_the_other():
    beats = leases("beat at b")
    switched()
    with at("b"):
        assert set(pauses()) == set(LANES) - {"critical"}
        assert not resume_step()  # nobody dispatches yet
        beats.run_once()
        scheduled("late", lane="high")
        execute("UPDATE punctual_task SET due_at = clock_timestamp() - interval '5 s'")
        assert not resume_step()
        assert set(pauses()) == set(LANES) - {"critical", "high"}
        claim_due(lanes=["high"])
        assert resume_step()
    assert (pauses(), Curb.objects.count(), installation().site_recovery) == ({}, 0, None)
    recovery = Recovery.objects.get()
    assert (recovery.incident, recovery.finished_at is not None) == ("site b 1", True)
    assert recovery.steps["resume"]["lanes"].keys() == set(IN_TURN)


def test_a_lane_that_does_not_catch_up_holds_the_others_for_a_while_only():
    switched()
    with at("b"):
        leases("beat at b").run_once()
        scheduled("late", lane="critical")
        execute("UPDATE punctual_task SET due_at = clock_timestamp() - interval '5 s'")
        assert not resume_step()
        assert not resume_step()

        assert resume_step(patience=0.0)
    told = Recovery.objects.get().steps["resume"]
    assert (told["lanes"]["critical"]["overdue"], "critical had not caught up" in told["words"]) == (1, True)
    assert LANE_PATIENCE_SECONDS < 20


def test_another_choice_lets_go_what_the_first_one_held():
    switched("b")
    switched("main")

    assert set(Curb.objects.values_list("subject", flat=True)) == {"site main 2"}
    stand_by(operator())
    assert (Curb.objects.count(), Recovery.objects.filter(finished_at=None).count()) == (0, 0)


# ---- what people see ----


def told(*args: str, **options) -> str:
    out = StringIO()
    call_command("site", *args, stdout=out, **options)
    return out.getvalue()


def test_the_command_shows_foresees_and_switches():
    beat_at("b")
    assert "Active: main." in told("show") and "standing by" in told("show")
    assert "Nothing was changed. Site 'main' works now. Site 'b' has 1 live beat" in told("activate", "b", "--dry-run")
    with pytest.raises(CommandError, match="--reason is missing"):
        told("activate", "b")
    with pytest.raises(CommandError, match=r"no beat of site 'c' is alive.*sites with beats: b"):
        told("activate", "c", "--reason", "a typo")

    seen = json.loads(told("activate", "b", "--reason", "a fire", "--json"))

    assert (seen["active"], seen["epoch"], seen["resuming"]) == ("b", 1, "site b 1")
    assert AuditEntry.objects.get(verb="site").detail == {"site": "b", "before": "main", "epoch": 1}
    with pytest.raises(CommandError, match="is the active one already"):
        told("activate", "b", "--reason", "again")
    assert "Nothing more would be started anywhere" in told("standby", "--dry-run")
    assert "All sites stand by" in told("standby", "--reason", "a flood")
    assert "Active: c" in told("activate", "c", "--anyway", "--reason", "its beats come soon")


def test_status_health_metrics_and_pages_say_which_site_works():
    beat_at("b")
    switched()

    found = read_status()
    assert any("no beat of the active site" in one.sentence for one in found.found) is False
    Node.objects.update(site="c")
    [missing] = [one for one in read_status().found if one.rule == "no_dispatcher"]
    assert "no beat of the active site 'b' is alive" in missing.sentence
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("scheduler_status", stdout=out)
    assert "Active site: b" in out.getvalue()
    health = Api().get("/scheduler/health").body
    assert (health["site"], health["ownSite"]) == ("b", "main")
    shown = scrape().values
    assert (shown["site_active"], shown["site_changes"]) == ({(): 0.0}, {(): 1.0})
    page = client_of(person("ann", superuser=True)).get("/admin/").content.decode()
    assert "This is site &#x27;main&#x27;, which stands by; &#x27;b&#x27; is the active one." in page
