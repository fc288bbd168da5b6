"""002 §22: the seven points that this task adds to the basic one; those with numbers of their own are in the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from django_punctual import schedule
from tasks_app.conf import conf
from tasks_app.core.lanes import BACKFILL_LANE, LANES, WEIGHTS
from tasks_app.core.recovery import STEPS, Grade
from tasks_app.core.sharding import shard_of
from tasks_app.drills import history
from tasks_app.engine.beat.claim_ahead import MOST_SECONDS, ClaimAhead
from tasks_app.engine.beat.time_wheel import TimeWheel
from tasks_app.lifecycle.claim import LaneView
from tasks_app.lifecycle.reap import reap
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.drills import run as drilled
from tests.support.engine import claim_due, expire_lease, make_due, row
from tests.support.live import a_worker_is_alive
from tests.support.marks import commits
from tests.support.moves import OK, scheduled, settled, started
from tests.support.panels import run_panel_tests
from tests.support.safeguards import Beat, many, sizes

pytestmark = commits


def test_s22_1_tasks_that_are_due_at_once_lie_in_16_shards_and_one_dispatcher_takes_them_lane_by_lane():
    """A hot slot of a time wheel is a shard here: keys are spread evenly, however many are due at one moment."""
    a_worker_is_alive(slots=100)
    many("T_QUIET", 400)

    assert conf().SHARDS == 16
    assert {shard_of("default", "T_QUIET", str(n), 16) for n in range(400)} == set(range(16))
    assert set(ScheduleTask.objects.values_list("shard", flat=True)) == set(range(16))
    beat = Beat()
    try:
        assert sum(sizes(beat.dispatch()).values()) == 400
    finally:
        beat.close()


def test_s22_1_a_task_is_claimed_at_most_50_milliseconds_before_its_time():
    """The delay queue is an index in PostgreSQL. No handler starts early."""
    schedule("T_QUIET", "k", delay=10)

    assert (MOST_SECONDS, claim_due()) == (0.05, [])


def test_s22_1_the_wheel_holds_a_thousand_tasks_due_together_for_at_most_400_milliseconds():
    wheel, ahead = TimeWheel(ClaimAhead()), ClaimAhead().seconds
    mass = LaneView("default", 1_000.0, 0, 2, 16_000)

    assert wheel.begins(mass) == pytest.approx(1_000.0 - ahead - 0.4)
    assert wheel.coming([mass], 999.0) == [mass]
    assert wheel.coming([replace(mass, same_due=1_000)], 999.0) != []
    assert wheel.coming([replace(mass, same_due=999)], 999.0) == []


def test_s22_2_a_batch_that_was_taken_back_can_write_nothing_more():
    batch = started("k")
    expire_lease(str(batch.batch_no))
    reap()
    make_due(batch.tasks[0].id)
    [again] = claim_due()

    assert settled(batch, OK) is None
    assert (row(batch.tasks[0].id).status, str(row(batch.tasks[0].id).batch_no)) == ("RUNNING", str(again.batch_no))
    assert TaskBatch.objects.get(batch_no=batch.batch_no).reaped


def test_s22_4_catch_up_work_has_a_lane_of_its_own_with_the_least_weight():
    assert LANES[-1] == BACKFILL_LANE
    assert WEIGHTS[BACKFILL_LANE] == 1 == min(WEIGHTS.values())
    assert WEIGHTS["default"] == 4 * WEIGHTS[BACKFILL_LANE]


def test_s22_4_a_backlog_in_backfill_takes_no_slot_of_what_is_online():
    a_worker_is_alive(slots=1)
    many("T_QUIET", 50, lane="backfill")
    beat = Beat()
    try:
        first = beat.dispatch()
        scheduled(*(f"online {n}" for n in range(5)))
        later = sizes(beat.dispatch(), "lane")
    finally:
        beat.close()

    assert {batch.lane for batch in first} == {"backfill"}
    assert later["default"] == 5


def test_s22_5_every_alert_of_the_page_of_alerts_has_an_entry_in_the_runbook():
    """`tests/architecture/test_runbook.py` compares them; from the alert to the replay it is one command."""
    assert Path("docs/runbook.md").exists()
    assert (STEPS[Grade.P1][0], STEPS[Grade.P1][1], STEPS[Grade.P1][-4]) == ("freeze", "takeover", "replay")


def test_s22_6_each_drill_writes_its_rto_and_rpo_into_a_history_that_is_compared(tmp_path):
    history.append(tmp_path, drilled("restore", rto_s=100.0, rpo_s=0.4, rpo_limit_s=1.0))
    slower = drilled("restore", rto_s=200.0, rpo_s=0.4, rpo_limit_s=1.0)

    [kept] = history.read(tmp_path)
    assert (kept["rto_s"], kept["rpo_s"]) == (100.0, 0.4)
    [worse] = history.worse(slower, history.last_like([kept], slower), 0.2)
    assert worse.startswith("restore: 200 s until all was well, and 100 s on")
    assert len((tmp_path / history.FILE).read_text().splitlines()) == 1
    assert json.loads((tmp_path / history.FILE).read_text())["drill"] == "restore"


def test_s22_7_the_panel_backs_off_up_to_30_s():
    run_panel_tests("the pause is 2 s after an answer, longer after each failure, and 30 s at most")
