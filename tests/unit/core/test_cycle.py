"""A worker serves its lanes by weight, so that none starves."""

from tasks_app.core.cycle import WeightedCycle
from tasks_app.core.lanes import LANES, WEIGHTS


def serve(cycle: WeightedCycle, full: set[str], batches: int) -> dict[str, int]:
    """What each lane gets while these queues have work."""
    counts = dict.fromkeys(LANES, 0)
    for _ in range(batches):
        queue = next(queue for queue in cycle.consume(len(LANES)) if queue in full)
        cycle.rotate(queue)
        counts[queue] += 1
    return counts


def test_lanes_that_all_have_work_get_batches_by_their_weights_and_none_starves():
    assert serve(WeightedCycle(LANES), set(LANES), 330) == {lane: 10 * weight for lane, weight in WEIGHTS.items()}


def test_a_lane_alone_gets_everything():
    assert serve(WeightedCycle(LANES), {"backfill"}, 50)["backfill"] == 50


def test_a_lane_that_was_empty_for_long_has_saved_nothing_up():
    cycle = WeightedCycle(LANES)
    serve(cycle, {"low"}, 1000)

    after = serve(cycle, {"low", "critical"}, 90)

    assert 9 <= after["low"] <= 11


def test_the_workers_ask_their_queues_by_weight():
    from kombu.utils.scheduling import cycle_by_name

    from tasks_app.engine.celery_app import app

    assert cycle_by_name(app.conf.broker_transport_options["queue_order_strategy"]) is WeightedCycle
