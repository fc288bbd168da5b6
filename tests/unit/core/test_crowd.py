"""Who is next in a crowded lane: those with few tasks first, then each by its weight, and nobody saves anything up."""

from collections import Counter

import pytest

from tasks_app.core import crowd as rules
from tasks_app.core.crowd import LIGHT, SPREAD, Crowd

FULL = 1 / 50  # a task's part of a full batch


class Lane:
    """A crowd with tenants that have as many due tasks as they are given."""

    def __init__(self) -> None:
        self.crowd = Crowd()
        self.served: Counter[str] = Counter()
        self._number = 0
        self._whose: dict[int, str] = {}

    def add(self, tenant: str, tasks: int, due: float = 0.0) -> None:
        """Read them; and of a tenant that has many, what it has next."""
        ids = range(self._number, self._number + tasks)
        self._number += tasks
        self._whose |= dict.fromkeys(ids, tenant)
        dues = [due + place / 1000 for place in range(tasks)]
        self.crowd.add(tenant, ids, dues)
        if tenant in self.crowd.many:
            self.crowd.fill(tenant, ids, dues)

    def serve(self, ids: list[int], cost: float = FULL) -> Counter[str]:
        self.crowd.took(ids, cost)
        served = Counter(self._whose[id_] for id_ in ids)
        self.served += served
        return served

    def step(self, tasks: int) -> None:
        """Of those that are behind, or else what is due first."""
        dues = {id_: due for kept in self.crowd._kept.values() for id_, due in kept.items()}
        self.serve(self.crowd.next(tasks) or sorted(dues, key=dues.get)[:tasks])

    def whose(self, ids: list[int]) -> set[str]:
        return {self._whose[id_] for id_ in ids}


@pytest.fixture
def lane():
    return Lane()


def test_a_tenant_with_few_tasks_does_not_wait_for_one_with_many(lane):
    lane.add("large", 500)
    lane.add("small", 3, due=100.0)

    assert lane.whose(lane.crowd.light(1000)) == {"small"}
    assert (lane.crowd.heavy, lane.crowd.behind) == ({"large"}, set())


def test_the_longest_overdue_of_those_with_few_come_first(lane):
    lane.add("large", 500)
    lane.add("late", 2, due=7.0)
    lane.add("later", 2, due=5.0)

    assert [lane._whose[id_] for id_ in lane.crowd.light(3)] == ["later", "later", "late"]


def test_tenants_with_many_share_by_weight(lane):
    lane.crowd.weigh({"heavy": 300})
    for _ in range(60):
        for tenant in ("one", "other", "heavy"):
            lane.add(tenant, 200 - lane.crowd.kept(tenant))
        lane.step(100)

    assert sum(lane.served.values()) >= 5_000
    assert lane.served["heavy"] / lane.served["one"] == pytest.approx(3, rel=0.2)
    assert lane.served["other"] / lane.served["one"] == pytest.approx(1, rel=0.2)


def test_shares_hold_even_if_a_claim_takes_what_is_due_first(lane):
    """One tenant's tasks are all older than the other's."""
    for _ in range(60):
        for tenant, due in (("old", 0.0), ("new", 1000.0)):
            lane.add(tenant, 200 - lane.crowd.kept(tenant), due)
        lane.step(50)

    assert lane.served["old"] / lane.served["new"] == pytest.approx(1, rel=0.2)


def test_as_long_as_it_is_fair_tasks_go_in_order_of_due_time(lane):
    for tenant in ("one", "other"):
        lane.add(tenant, 200)

    lane.crowd.charge({"one": 50, "other": 30}, FULL)

    assert (lane.crowd.behind, lane.crowd.next(100)) == (set(), [])


def test_what_one_has_no_use_for_goes_to_the_others(lane):
    for _ in range(20):
        lane.add("busy", 200 - lane.crowd.kept("busy"))
        lane.add("idle", 101 if lane.served["idle"] == 0 else 0)
        lane.step(100)

    assert lane.served["idle"] <= 101
    assert lane.served["busy"] >= 1_800


def test_nobody_saves_up_what_it_had_no_use_for(lane):
    for _ in range(50):
        lane.add("always", 200 - lane.crowd.kept("always"))
        lane.crowd.charge({"always": 50}, FULL)
    lane.add("back", 200)

    assert lane.crowd.next(100) == []  # it is no more behind than the other


def test_who_has_had_more_than_its_share_waits_with_the_others(lane):
    lane.add("large", 500)
    lane.add("small", 10)
    lane.serve(lane.crowd.light(5), cost=1.0)

    assert lane.crowd.light(1000) == []
    assert lane.whose(lane.crowd.next(1000)) == {"large"}  # until it has had as much

    lane.crowd.charge({"large": 5}, 1.0)
    assert lane.whose(lane.crowd.light(1000)) == {"small"}


def test_one_may_be_ahead_by_two_batches_and_no_more(lane):
    lane.add("one", 300)
    lane.add("other", 300)
    lane.crowd.charge({"one": 1}, SPREAD + 0.1)

    assert lane.whose(lane.crowd.next(100)) == {"other"}


def test_of_a_tenant_with_many_nothing_is_kept_until_it_is_asked_for(lane):
    lane.crowd.add("large", range(LIGHT), [0.0] * LIGHT)
    assert (lane.crowd.many, lane.crowd.kept("large")) == (set(), LIGHT)

    lane.crowd.add("large", [LIGHT], [0.0])
    lane.crowd.add("large", [LIGHT + 1], [0.0])

    assert (lane.crowd.many, lane.crowd.kept("large"), lane.crowd.heavy) == ({"large"}, 0, {"large"})


def test_while_nobody_has_many_nobody_goes_first(lane):
    lane.add("small", 3)
    assert lane.crowd.light(10) == []

    lane.crowd.note_many("large")
    assert len(lane.crowd.light(10)) == 3


def test_it_is_full_when_many_have_few(lane, monkeypatch):
    monkeypatch.setattr(rules, "MOST", 40)
    for number in range(13):
        lane.add(f"tenant {number}", 3)
    assert not lane.crowd.is_full

    lane.add("another", 1)
    assert lane.crowd.is_full


def test_a_task_is_kept_once(lane):
    lane.crowd.note_many("large")
    lane.crowd.add("a", [1], [5.0])
    lane.crowd.add("a", [1], [5.0])

    assert lane.crowd.light(10) == [1]
    lane.crowd.took([1], 1.0)
    assert lane.crowd.tenants == ["large"]


def test_what_is_dropped_is_not_chosen(lane):
    lane.add("large", 300)
    lane.add("small", 3)

    lane.crowd.drop(lane.crowd.light(2))
    assert len(lane.crowd.light(10)) == 1
    lane.crowd.drop(lane.crowd.light(10))
    assert (lane.crowd.light(10), lane.crowd.tenants) == ([], ["large"])


def test_one_that_has_not_many_any_more_is_read_like_the_others(lane):
    lane.crowd.note_many("large")
    lane.crowd.note_many("other")
    lane.crowd.note_few("other")
    lane.crowd.add("other", [1], [0.0])

    assert lane.crowd.light(10) == [1]


def test_accounts_of_who_is_gone_are_not_kept_for_ever(lane, monkeypatch):
    monkeypatch.setattr(rules, "FORGET", 50)
    lane.add("always", LIGHT + 1)
    for number in range(500):
        lane.add(f"guest {number}", 1)
        lane.serve(lane.crowd.light(10))
        lane.crowd.charge({"always": 1}, 1.0)

    assert len(lane.crowd._had) <= 60
