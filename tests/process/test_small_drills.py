"""Small drills: the damage is done, nothing that was committed is lost or done twice, and the verdict is true.

The full ones are in test_drill.py.
"""

from collections import Counter

import pytest

from tests.support.small_drill import TASKS, Seen, small_drill

KILLS = {
    "broker": "FLUSHALL, and kill -9 of the broker; it is away for 5 s",
    "database": "kill -9 of PostgreSQL and all its processes; it is away for 3 s",
    "failover": "kill -9 of the primary and all its processes",
    "restore": "kill -9 of PostgreSQL, the broker, all beats and workers, and the stream of the backup",
}


@pytest.mark.parametrize("name", ["broker", "database", "failover"])
def test_what_was_committed_runs_once_whatever_server_is_killed(name):
    verdict, lines, seen = small_drill(name)

    killed = lines[KILLS[name]]
    restarted = seen.started > killed, seen.broker_started > killed
    assert (seen.timeline, *restarted) == {
        "broker": (1, False, True),
        "database": (1, True, False),
        "failover": (2, False, False),
    }[name]
    assert committed(seen, killed) and committed(seen) - committed(seen, killed)
    assert_each_ran_once(seen)
    assert Counter(seen.done).most_common(1)[0][1] == 1
    assert name != "broker" or not seen.retried  # a lost message is no failure of its task
    assert set(seen.events_due) <= set(seen.events_received) <= set(seen.events_kept)
    figures = ("drill", "met", "lost", "duplicates", "events_lost", "missed")
    assert [verdict[one] for one in figures] == [name, True, 0, 0, 0, []]


def test_a_restore_names_all_that_is_missing_and_the_rest_runs_once():
    verdict, lines, seen = small_drill("restore")

    killed = lines[KILLS["restore"]]
    gone = seen.asked.keys() - seen.statuses.keys()
    again = {key for key, number in Counter(seen.done).items() if number > 1}
    assert (seen.timeline, seen.started > killed, seen.broker_started > killed) == (2, True, True)
    assert committed(seen, killed) - gone and committed(seen) - committed(seen, killed) - gone
    assert_each_ran_once(seen, but=gone)
    assert set(seen.events_due) <= set(seen.events_received)
    missing = verdict["missing"]
    assert (set(missing["gone"]), set(missing["ran_and_ran_again"]) - gone) == (gone, again)
    figures = ("drill", "met", "lost", "duplicates", "events_lost", "missed")
    assert [verdict[one] for one in figures] == ["restore", True, len(gone), 0, 0, []]


def committed(seen: Seen, before: float = float("inf")) -> set[str]:
    return {key for key, at in seen.asked.items() if at < before}


def assert_each_ran_once(seen: Seen, but: set[str] = frozenset()) -> None:
    expected = committed(seen) - but
    assert {key: seen.statuses.get(key) for key in expected} == dict.fromkeys(expected, "SUCCESS")
    effects = Counter(seen.effects)
    assert {key: effects[key] for key in expected} == dict.fromkeys(expected, 1)
    assert max(effects.values()) == 1
    assert set(seen.done) - but <= effects.keys()
    assert seen.rest == TASKS
    assert "DEAD" not in seen.statuses.values()
