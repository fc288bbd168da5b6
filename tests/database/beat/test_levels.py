"""Each minute is judged once, from what its canaries did, whoever was there to look; and what people read of it."""

import json
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from tasks_app.core.lateness import BUCKETS, bucket_of
from tasks_app.core.service_levels import MINUTE
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.engine.beat.levels import keep_levels, step
from tasks_app.engine.canary import CANARY
from tasks_app.engine.watch.service_levels import read_levels
from tasks_app.lifecycle import schedule
from tasks_app.lifecycle.request import build
from tasks_app.models import LanePause, MinuteFigures, Node, ScheduleTask, ServiceMinute, TaskBatch
from tests.support.levels import measured
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def canaries(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}


@pytest.fixture
def now():
    """The end of the last minute that can be judged, which stays so for the whole test."""
    return (timezone.now() - timedelta(seconds=10)).replace(second=0, microsecond=0)


@pytest.fixture
def served(now):
    """A lane with a live worker, and a canary that has flown for hours."""
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="w", slots=1, lanes=["default"])
    schedule.schedule([build(CANARY, "default", lane="default", repeat_after=10, tenant=INTERNAL_TENANT)])
    ScheduleTask.objects.update(created_at=now - timedelta(hours=5))


def came_back(since, until) -> None:
    """The canary of the lane, every ten seconds."""
    moments = [since + timedelta(seconds=n) for n in range(0, int((until - since).total_seconds()), 10)]
    TaskBatch.objects.bulk_create(
        TaskBatch(
            batch_no=uuid4(),
            task_type=CANARY,
            lane="default",
            ids=[1],
            dispatcher="b",
            claimed_at=at,
            lease_until=at,
            started_at=at,
            finished_at=at,
            ok=1,
            lateness=[1],
        )
        for at in moments
    )


def states() -> list[str]:
    return list(ServiceMinute.objects.order_by("minute").values_list("state", flat=True))


def slo(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("slo", *options, stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def test_what_is_measured_begins_with_the_first_minute_that_a_beat_sees(served, now):
    came_back(now - 2 * MINUTE, now)
    keep_levels()
    assert list(ServiceMinute.objects.values_list("minute", "state", "served")) == [(now - MINUTE, "UP", ["default"])]


def test_a_minute_is_judged_once(served, now):
    measured(now - 2 * MINUTE)
    came_back(now - 2 * MINUTE, now)
    keep_levels()
    assert step() == 0 and states() == ["UP", "UP"]


def test_a_time_without_beats_is_written_down_as_down_by_the_next_one(served, now):
    measured(now - 130 * MINUTE)
    came_back(now - 131 * MINUTE, now - 129 * MINUTE)
    came_back(now - MINUTE, now)
    keep_levels()
    assert states() == ["UP"] + ["DOWN"] * 129  # the last one, too: its first canary came two hours late
    assert ServiceMinute.objects.get(minute=now - MINUTE).down_minutes == 129


def test_a_time_in_which_all_lanes_were_paused_counts_for_nothing(served, now):
    measured(now - 60 * MINUTE)
    LanePause.objects.create(lane="default", reason="we move", paused_by="ann", paused_at=now - 60 * MINUTE)
    keep_levels()
    assert states() == ["UP"] + ["IDLE"] * 59
    assert read_levels().down == 0


def test_the_figures_of_all_types_are_added_up_without_the_canaries(served, now):
    measured(now - 2 * MINUTE, ok=1_000, failed=7, lateness=[500])
    came_back(now - 2 * MINUTE, now)
    late = [0] * BUCKETS
    late[bucket_of(5_000.0)] = 4
    for task_type, ok, failed, lateness in (("A", 10, 1, [11]), ("B", 5, 2, late), (CANARY, 60, 0, [60])):
        MinuteFigures.objects.create(
            minute=now - MINUTE, task_type=task_type, batches=1, ok=ok, failed=failed, run_us=1, lateness=lateness
        )
    keep_levels()

    last = ServiceMinute.objects.get(minute=now - MINUTE)
    assert (last.ok, last.failed, last.up_minutes) == (1_015, 10, 101)
    assert (last.lateness[0], last.lateness[-1], len(last.lateness)) == (511, 4, bucket_of(5_000.0) + 1)


def test_old_minutes_are_thinned_out_but_for_those_that_were_down(now):
    old = (now - timedelta(days=2, hours=3)).replace(minute=0)
    measured(old - timedelta(days=390))
    for n in range(4):
        measured(old + n * MINUTE, state="DOWN" if n == 2 else "UP")
    measured(now - timedelta(days=401))
    measured(now - MINUTE)
    keep_levels()
    kept = ServiceMinute.objects.order_by("minute").values_list("minute", flat=True)
    assert list(kept) == [old - timedelta(days=390), old, old + 2 * MINUTE, now - MINUTE]


@commits
@pytest.mark.parametrize("commit", [True, False])
def test_two_beats_write_the_same_minutes_once(served, now, commit):
    measured(now - 3 * MINUTE)
    came_back(now - 4 * MINUTE, now)
    first, second = overlap(step, step, commit=commit)
    assert (first, second) == ((2, 0) if commit else (2, 2))
    assert states() == ["UP"] * 3
    assert ServiceMinute.objects.order_by("-minute")[0].up_minutes == 102


# ---- what people read ----


def test_the_window_ends_where_it_should(now):
    measured(now - timedelta(days=31), up_minutes=40_000, down_minutes=500, ok=10, failed=10, lateness=[20])
    measured(now - timedelta(days=30, hours=1), up_minutes=40_001, down_minutes=500, ok=10, failed=10, lateness=[20])
    measured(now - timedelta(days=29), up_minutes=41_000, down_minutes=501, ok=10, failed=10, lateness=[20])
    measured(now - MINUTE, up_minutes=83_000, down_minutes=520, ok=1_010, failed=10, lateness=[1_020])

    month, day = read_levels(), read_levels(1)
    assert (month.totals.up, month.down, month.totals.ok, month.started) == (42_999, 20, 1_000, 1_000)
    assert (day.totals.up, day.down, day.success) == (42_000, 19, 1.0)


def test_minutes_that_no_beat_has_judged_count_as_down_until_somebody_pauses_what_was_served(now):
    measured(now - 61 * MINUTE, up_minutes=1)
    found = read_levels()
    assert found.unwatched >= 60 and found.outages[0].lanes == ("default",) and found.missed == ["availability"]

    LanePause.objects.create(lane="default", reason="we move", paused_by="ann")
    assert read_levels().unwatched == 0


def test_a_minute_or_two_behind_is_nothing(now):
    measured(now - 3 * MINUTE)
    assert read_levels().unwatched == 0


def test_the_command_says_what_was_kept_and_exits_by_it(now):
    assert slo() == (0, "Nothing has been measured yet: a beat begins with the first whole minute it sees.\n")

    measured(now - 2 * MINUTE, up_minutes=19_987, down_minutes=12, ok=995, failed=5, lateness=[1_000])
    measured(
        now - MINUTE, state="DOWN", down=["low"], up_minutes=19_987, down_minutes=13, ok=995, failed=5, lateness=[1_000]
    )
    code, page = slo()
    assert code == 0 and "99.935 % (goal 99.9 %)\n" in page and "30.2 of the 43.2 minutes are left" in page
    assert "1 minute, low" in page and "99.5 % of 1,000 runs" in page

    ServiceMinute.objects.update(failed=6)
    code, page = slo()
    assert code == 1 and "(goal 99.5 %)  MISSED" in page

    ServiceMinute.objects.update(up_minutes=5_000, failed=5)
    code, page = slo()
    assert code == 1 and "99.74 % (goal 99.9 %)  MISSED" in page and "30.2 of the 43.2 minutes are left" in page

    ServiceMinute.objects.update(up_minutes=4, down_minutes=3, ok=9, failed=0, lateness=[9])
    code, page = slo()
    assert code == 0 and "57.142 % (goal 99.9 %)  too little measured to judge: 7 minutes, and 1,000 are needed" in page
    assert "of 9 runs (goal 2 s)  too little measured to judge: 9 runs, and 20 are needed" in page
    assert "100 % of 9 runs (goal 99.5 %)  too little measured to judge: 9 runs, and 200 are needed" in page

    ServiceMinute.objects.update(up_minutes=5_000, down_minutes=13, ok=995, failed=6)
    code, text = slo("--json", "--days", "1")
    found = json.loads(text)
    assert code == 1 and found["missed"] == ["availability", "success rate"]
    assert found["availability"]["budget_minutes"] == pytest.approx(1.44)


def test_the_api_and_the_overview_show_the_same(now, admin_client):
    measured(now - MINUTE, up_minutes=999, down_minutes=44, ok=3, failed=0, lateness=[0] * 30 + [3])
    found = admin_client.get("/api/v1/scheduler/slo").json()
    assert found["availability"]["kept"] is False and found["availability"]["minutes_down"] == 44
    assert found["success"] == {"goal": 0.995, "share": 1.0, "succeeded": 3, "failed": 0, "kept": None}
    assert admin_client.get("/api/v1/scheduler/slo?days=0").json()["code"] == "SCH_422_INVALID"

    page = admin_client.get("/admin/").content.decode()
    assert "Service levels, last 30 days" in page and "0.8 more than the 43.2 minutes that may be" in page
    assert "<td>100 %</td><td>too little measured to judge</td>" in page
