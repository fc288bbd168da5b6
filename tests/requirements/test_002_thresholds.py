"""002 §11: each of the four thresholds at its default, on both sides, and what is done when it is passed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core.errors import Degraded
from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import histogram
from tasks_app.core.safeguards import Name
from tasks_app.core.scopes import Scope
from tasks_app.database import atomic
from tasks_app.engine.beat.safeguards import pulse, rules
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.safeguards.applying import apply
from tasks_app.lifecycle.safeguards.wanted import read_wanted
from tasks_app.models import Curb, DlqEntry, Pulse, PulseReader, Safeguard, ScopeMinute
from tests.support.api import Api
from tests.support.backfill import backfilled, hourly, hours
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive, a_worker_is_alive
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.safeguards import Beat, age, look, many, ran, sizes, watched

pytestmark = commits

DELAY, FAILURES, RETRIES, DEAD = Name.DELAY, Name.FAILURES, Name.RETRIES, Name.DEAD_LETTERS


@pytest.fixture(autouse=True)
def _watched(monkeypatch) -> None:
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)  # no other transaction is still committing
    watched()
    a_worker_is_alive()
    a_beat_is_alive()


@pytest.fixture
def beat() -> Iterator[Beat]:
    one = Beat()
    yield one
    one.close()


def stages(name: str) -> dict[str, int]:
    """The stage of each subject for which this safeguard is on."""
    return dict(Safeguard.objects.filter(name=name, stage__gt=0).values_list("subject", "stage"))


def held() -> set[tuple[str, str]]:
    return set(Curb.objects.values_list("kind", "target"))


def started_late(ms: float, *, seconds: float = 0.0, tasks: int = 30, on_time: int = 0) -> dict[str, int]:
    """The safeguards read a minute in which tasks started so late and one on time, so long after the last minute."""
    age(seconds)
    Pulse.objects.all().delete()
    minute = timezone.now().replace(second=0, microsecond=0)
    figures = {"ok": tasks, "failed": 0, "run_us": 1, "lateness": histogram([ms] * tasks + [0.0] * on_time)}
    ran("T_QUIET", ok=1)  # figures are only added up when something has run
    Pulse.objects.create(minute=minute, lane="default", task_type="T_PLAIN", **figures)
    look()
    return stages(DELAY)


def found(name: str, *, seconds: float = 0.0, **figures: object) -> dict[str, int]:
    """The safeguards take their step from these figures, so long after the epoch that the tests begin with."""
    lanes = {lane: pulse.LanePulse(False, SLOTS, 0.0, None) for lane in LANES} | figures.pop("lanes", {})
    now = EPOCH + seconds
    seen = pulse.Pulse(**{"now": now, "types": {}, "lanes": lanes, "lateness": [], "dead": {}} | figures)
    with atomic():
        rows: dict[str, dict[str, Safeguard]] = {}
        for row in Safeguard.objects.all():
            rows.setdefault(row.name, {})[row.subject] = row
        findings, failed = rules.look(seen, rows)
        apply(findings, now)
    assert not failed
    return stages(name)


EPOCH = timezone.now().timestamp()
SLOTS = 40


def due_for(ms: float) -> dict[str, object]:
    return {"lanes": {"default": pulse.LanePulse(False, SLOTS, 0.0, ms / 1_000)}}


# ---- 1: trigger_delay_p95 > 2000 ms for 5 minutes


def test_s11_p95_of_2000_ms_for_an_hour_changes_nothing():
    for _ in range(3):
        assert started_late(2_000, seconds=1_200) == {}


def test_s11_p95_over_2000_ms_for_5_minutes_slows_the_low_lane_and_for_10_pauses_it(beat):
    """The document pauses at once. Here the lane first keeps a quarter of its rate, so that a short peak doesn't stop
    it: five minutes later it is paused."""
    assert started_late(2_001) == {}
    assert started_late(2_001, seconds=290) == {}
    assert started_late(2_001, seconds=10) == {"": 1}
    assert Curb.objects.get().rate == 1.0
    assert started_late(2_001, seconds=290) == {"": 1}
    assert started_late(2_001, seconds=10) == {"": 2}
    assert Curb.objects.get().rate == 0.0

    many("T_QUIET", 5, lane="low")
    many("T_QUIET", 5)
    assert sizes(beat.dispatch(seconds=60), "lane") == {"default": 5}


def test_s11_5_percent_of_the_tasks_may_start_late():
    assert (started_late(9_000, tasks=5, on_time=94), started_late(9_000, tasks=5, on_time=94, seconds=301)) == ({}, {})
    assert started_late(9_000, tasks=6, on_time=93) == {}
    assert started_late(9_000, tasks=6, on_time=93, seconds=301) == {"": 1}


def test_s11_the_lane_low_keeps_a_quarter_of_what_it_did():
    minute = timezone.now().replace(second=0, microsecond=0)
    figures = {"ok": 30_000, "failed": 0, "run_us": 1, "lateness": []}
    Pulse.objects.create(minute=minute, lane="low", task_type="T_QUIET", **figures)
    [lane] = [one for name, one in pulse._lanes({}, EPOCH)[0].items() if name == "low"]

    assert found(DELAY, lanes={**due_for(2_001)["lanes"], "low": lane}) == {}
    assert found(DELAY, lanes={**due_for(2_001)["lanes"], "low": lane}, seconds=300) == {"": 1}
    assert Curb.objects.get(target="low").rate == 0.25 * 100


def test_s11_a_task_that_has_been_due_for_2001_ms_counts_and_one_for_2000_does_not():
    """Else a standstill, in which no task starts, would have no p95 at all."""
    assert (found(DELAY, **due_for(2_000)), found(DELAY, **due_for(2_000), seconds=300)) == ({}, {})
    assert (found(DELAY, **due_for(2_001), seconds=301), found(DELAY, **due_for(2_001), seconds=601)) == ({}, {"": 1})


def test_s11_the_delay_has_to_last_5_minutes_to_the_second():
    assert found(DELAY, **due_for(2_001)) == {}
    assert found(DELAY, **due_for(2_001), seconds=299.9) == {}
    assert found(DELAY, **due_for(2_001), seconds=300.0) == {"": 1}


def test_s11_one_reading_within_2000_ms_starts_the_5_minutes_again():
    found(DELAY, **due_for(2_001))
    found(DELAY, **due_for(2_000), seconds=200)
    assert found(DELAY, **due_for(2_001), seconds=400) == {}
    assert found(DELAY, **due_for(2_001), seconds=699.9) == {}
    assert found(DELAY, **due_for(2_001), seconds=700) == {"": 1}


def test_s11_fewer_than_20_late_tasks_say_nothing_of_a_p95():
    assert (started_late(9_000, tasks=18), started_late(9_000, tasks=18, seconds=310)) == ({}, {})
    assert started_late(9_000, tasks=19) == {}  # the twentieth is on time, and p95 is that of the others
    assert started_late(9_000, tasks=19, seconds=310) == {"": 1}


def test_s11_a_delay_asks_for_another_dispatcher_and_slots():
    """Processes are started by what runs them (`manage.py scale`, systemd, KEDA), which reads these figures."""
    assert (read_wanted().dispatchers, read_wanted().slots) == (1, 1)

    started_late(2_001)

    assert read_wanted().dispatchers == read_wanted().live_dispatchers + 1 == 2
    assert (read_wanted().live_slots, read_wanted().slots) == (5, 8)  # half as many again


# ---- 2: run_success_rate_10m < 99.5 %


def tried(ok: int, failed: int) -> None:
    """The failures last: successes that are settled before them are written with the first failure, later ones with
    the next. Of up to 199 at once each is counted, of more a sample."""
    for first in range(0, ok, 199):
        ran("T_PLAIN", ok=min(199, ok - first))
    ran("T_PLAIN", failed=failed)


@pytest.mark.parametrize(("ok", "failed", "stage"), [(199, 1, {}), (497, 3, {"tenant:default/T_PLAIN": 1})])
def test_s11_a_success_rate_of_99_5_percent_changes_nothing_and_99_4_does(ok, failed, stage):
    tried(ok, failed)
    look()
    look(31)

    assert stages(FAILURES) == stage


def test_s11_the_success_rate_is_that_of_the_last_10_minutes():
    tried(190, 10)
    look()
    ScopeMinute.objects.update(minute=minutes_ago(9))
    Pulse.objects.update(minute=minutes_ago(9))
    look(31)
    assert stages(FAILURES) == {"tenant:default/T_PLAIN": 1}

    Safeguard.objects.all().delete()
    Curb.objects.all().delete()
    ran("T_QUIET", ok=1)
    ScopeMinute.objects.filter(target="T_PLAIN").update(minute=minutes_ago(12))
    Pulse.objects.filter(task_type="T_PLAIN").update(minute=minutes_ago(12))
    look()
    look(31)
    assert stages(FAILURES) == {}


def minutes_ago(minutes: int) -> datetime:
    return (timezone.now() - timedelta(minutes=minutes)).replace(second=0, microsecond=0)


def test_s11_of_fewer_than_200_tries_no_success_rate_is_reckoned():
    tried(180, 19)
    look()
    look(31)
    assert stages(FAILURES) == {}

    ran("T_PLAIN", ok=1)
    look()
    look(31)
    assert stages(FAILURES) == {"tenant:default/T_PLAIN": 1}


def test_s11_too_many_failures_halve_the_retries():
    tried(120, 90)
    look()
    look(31)

    failures_a_second = Safeguard.objects.get(name=FAILURES).figures["rates"]["T_PLAIN"]
    assert Curb.objects.get(kind="retries", target="T_PLAIN").rate == 0.5 * failures_a_second > 0.1


def test_s11_too_many_failures_close_the_entry_for_backfills_and_pause_those_that_run():
    """Of the failing tenant and type; of all types of a tenant, or of all tenants, only if they fail together."""
    bad, good = hourly("bad", task_type="T_PLAIN"), hourly("good")
    backfilled(hours(3), bad)
    tried(197, 6)
    look()
    look(31)
    asked = {"since": hours(3, ago=5)[0].isoformat(), "until": hours(3, ago=5)[-1].isoformat()}

    assert Api().post(f"/jobs/{bad.id}/backfill", asked, Idempotency_Key="bad").code == "SCH_429_RETRY_LIMITED"
    assert steps.step("test") is None
    assert Api().post(f"/jobs/{good.id}/backfill", asked, Idempotency_Key="good").status == 200


# ---- 3: retry_backlog > 200000


def waiting(count: int) -> dict[str, object]:
    """So many retries of short, medium and long tasks wait, as a sample of the table says."""
    third = count // 3
    kinds = {"SHORT": 50_000, "MEDIUM": 500_000, "LONG": 5_000_000}
    types = {name: pulse.TypePulse(lately_run=1, run_us=us) for name, us in kinds.items()}
    of = {"SHORT": count - 2 * third, "MEDIUM": third, "LONG": third}
    return {"types": types, "sampled": pulse.Sampled({Scope(f"t{n}", n): c for n, c in of.items()}, {})}


def test_s11_200000_waiting_retries_change_nothing_and_200001_do():
    found(RETRIES, **waiting(200_000))
    assert found(RETRIES, **waiting(200_000), seconds=60) == {}

    found(RETRIES, **waiting(200_001), seconds=61)
    assert found(RETRIES, **waiting(200_001), seconds=91) == {"": 1}


def test_s11_too_many_retries_go_in_buckets_and_short_tasks_have_the_largest():
    """Half of the workers' time is for retries: 6 parts of it for tasks of up to 0.1 s, 3 up to 1 s, 1 for longer."""
    found(RETRIES, **waiting(200_001))
    found(RETRIES, **waiting(200_001), seconds=31)

    seconds = {"SHORT": 0.05, "MEDIUM": 0.5, "LONG": 5.0}
    shares = {one.target: one.rate * seconds[one.target] / SLOTS for one in Curb.objects.filter(kind="retries")}
    assert shares == pytest.approx({"SHORT": 0.5 * 0.6, "MEDIUM": 0.5 * 0.3, "LONG": 0.5 * 0.1})


@pytest.mark.parametrize(("mean_ms", "share"), [(100, 6), (101, 3), (1_000, 3), (1_001, 1)])
def test_s11_a_task_is_short_up_to_100_ms_and_long_from_1000_ms_on(mean_ms, share):
    types = {
        name: pulse.TypePulse(lately_run=1, run_us=us) for name, us in (("ONE", mean_ms * 1_000), ("LONG", 5_000_000))
    }
    sampled = pulse.Sampled({Scope("a", "ONE"): 100_001, Scope("b", "LONG"): 100_000}, {})
    for seconds in (0, 31):
        found(RETRIES, types=types, sampled=sampled, seconds=seconds)

    busy = {one.target: one.rate * types[one.target].run_us for one in Curb.objects.filter(kind="retries")}
    assert busy["ONE"] == pytest.approx(share * busy["LONG"], rel=0.001)


def test_s11_what_failed_and_waits_is_a_retry_and_what_never_ran_is_none():
    ran("T_PLAIN", ok=3, failed=5)
    many("T_PLAIN", 4)

    assert pulse._sample({}, known=True).retries == {Scope("default", "T_PLAIN"): 5}


# ---- 4: dlq_growth_rate > 1000/min


def gave_up(count: int, *scopes: tuple[str, str]) -> None:
    """So many dead letters of these tenants and types in turn, as old as this moment."""
    first = (DlqEntry.objects.order_by("-task_id").values_list("task_id", flat=True).first() or 0) + 1
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, traceback)"
            " SELECT %s + n, (%s::text[])[1 + n %% %s], (%s::text[])[1 + n %% %s], 'ASKED', '', ''"
            " FROM generate_series(0, %s) AS n",
            [first, [s[0] for s in scopes], len(scopes), [s[1] for s in scopes], len(scopes), count - 1],
        )


SEVERAL = ("acme", "T_PLAIN"), ("beta", "T_QUIET"), ("gamma", "T_LOGS")


def test_s11_1000_dead_letters_in_a_minute_change_nothing_and_1001_do():
    gave_up(1_000, *SEVERAL)
    look()
    assert stages(DEAD) == {}

    gave_up(1, *SEVERAL)
    look()
    assert stages(DEAD) == {"": 1}


def test_s11_the_dead_letters_of_the_last_minute_count():
    gave_up(1_001, *SEVERAL)
    look(61)
    assert stages(DEAD) == {}

    gave_up(1_001, *SEVERAL)
    look(50)
    assert stages(DEAD) == {"": 1}


def test_s11_in_degraded_mode_only_core_tasks_are_triggered(beat):
    """Core tasks are those of the lane `critical`."""
    job, urgent = make("plain"), make("urgent", lane="critical")
    gave_up(1_001, *SEVERAL)
    look()

    for lane in LANES:
        many("T_PLAIN", 3, lane=lane)
    assert sizes(beat.dispatch(), "lane") == {"critical": 3}
    with pytest.raises(Degraded, match="only work in lane 'critical' fires"):
        verbs.trigger(job.id, "k", operator())
    assert verbs.trigger(urgent.id, "k", operator()).new
    refused = Api().post(f"/jobs/{job.id}/trigger", Idempotency_Key="k")
    assert (refused.code, "Retry-After" in refused.headers) == ("SCH_503_DEGRADED", True)


@pytest.mark.parametrize(
    ("of_one", "subject", "curbs"),
    [
        (801, "tenant:acme/T_PLAIN", {("type", "T_PLAIN")}),
        (800, "", {("lane", lane) for lane in LANES if lane != "critical"} | {("triggers", "*")}),
    ],
    ids=["80 %", "less"],
)
def test_s11_if_80_percent_of_the_dead_letters_have_one_cause_only_that_is_held(of_one, subject, curbs):
    """The document knows one degraded mode. A single broken type, endpoint or tenant must not stop all others, so it
    alone is held, and what it holds back is not lost."""
    gave_up(of_one, ("acme", "T_PLAIN"))
    gave_up(1_001 - of_one, ("beta", "T_QUIET"), ("gamma", "T_LOGS"))
    look()

    assert (stages(DEAD), held()) == ({subject: 1}, curbs)


# ---- of all four


def test_s11_the_thresholds_are_read_every_5_seconds_and_act():
    """Reading them is a chore of the beats. Every safeguard acts; none only reports."""
    from tasks_app.engine.beat.chores import CHORES

    [chore] = [one for one in CHORES if one.name == "safeguard"]
    assert chore.every() == conf().SAFEGUARD_SECONDS == 5.0
    assert {one.mode for one in conf().safeguards.values()} == {"act"}


def test_s11_a_hold_ends_after_10_minutes_within_half_of_the_threshold(beat):
    """10 minutes for each stage of a delay, 5 for retries and dead letters. A figure that goes up and down every few
    minutes must not switch everything on and off."""
    found(DELAY, **due_for(2_001))
    found(DELAY, **due_for(2_001), seconds=300)
    found(DELAY, **due_for(1_000), seconds=301)
    assert found(DELAY, **due_for(1_000), seconds=900.9) == {"": 1}
    assert found(DELAY, **due_for(1_000), seconds=901) == {}
    assert PulseReader.objects.count() == 1 and held() == set()
