"""What can be said of a graph without asking anybody."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.core.graphs import Span, critical_path, descendants_of, find_cycle, layers, roots_of, two_roots_of_each
from tasks_app.core.task import Parent, Parents

DIAMOND = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


@pytest.mark.parametrize(
    ("parents", "circle"),
    [
        ({}, []),
        (DIAMOND, []),
        ({"a": ["a"]}, ["a", "a"]),
        ({"a": ["b"], "b": ["a"]}, ["a", "b", "a"]),
        ({**DIAMOND, "b": ["a", "d"]}, ["b", "d", "b"]),
        ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]}, ["a", "b", "c", "a"]),
    ],
)
def test_a_circle_is_found_and_named_in_order(parents, circle):
    assert find_cycle(parents) == circle


def test_a_graph_may_be_ten_thousand_deep():
    line = {n: [n - 1] if n else [] for n in range(10_000)}

    assert find_cycle(line) == []
    assert find_cycle({**line, 0: [9_999]})[:2] == [0, 9_999]
    assert len(layers(line)) == 10_000
    assert len(descendants_of([0], line)) == 9_999
    assert roots_of([9_999], line) == {0}
    assert two_roots_of_each(line)[9_999] == [0]


def test_the_first_two_roots_of_each_are_found_in_one_pass():
    asked = []

    class Counted(dict):
        def get(self, node, otherwise=None):
            asked.append(node)
            return super().get(node, otherwise)

    layered = Counted({(n, side): [(n - 1, 0), (n - 1, 1)] if n else [] for n in range(200) for side in (0, 1)})

    assert two_roots_of_each(layered)[199, 0] == [(0, 0), (0, 1)]
    assert len(asked) < 5 * len(layered)
    assert two_roots_of_each(DIAMOND) == {node: ["a"] for node in DIAMOND}
    assert two_roots_of_each({**DIAMOND, "x": [], "e": ["d", "x"]})["e"] == ["a", "x"]


def test_roots_and_descendants():
    assert roots_of(["d"], DIAMOND) == {"a"}
    assert roots_of(["a"], DIAMOND) == {"a"}
    assert roots_of(["d"], {**DIAMOND, "c": []}) == {"a", "c"}
    assert descendants_of(["b"], DIAMOND) == {"d"}
    assert descendants_of(["d"], DIAMOND) == set()


def test_a_node_stands_behind_the_longest_way_to_it():
    assert layers(DIAMOND) == [["a"], ["b", "c"], ["d"]]
    assert layers({"d": ["b", "a"], "a": [], "b": ["a"]}) == [["a"], ["b"], ["d"]]
    assert layers({}) == []


def test_the_critical_path_goes_back_over_whoever_ended_last():
    began = datetime(2026, 1, 1, tzinfo=UTC)
    spans = {
        name: Span(began, began + timedelta(seconds=seconds) if seconds else None)
        for name, seconds in {"a": 1, "b": 5, "c": 3, "d": 9}.items()
    }

    assert critical_path(DIAMOND, spans) == ["a", "b", "d"]
    assert critical_path(DIAMOND, {**spans, "d": Span(None, None)}) == ["a", "b"]
    assert critical_path(DIAMOND, {}) == []


def test_parents_are_read_by_name_and_a_wrong_name_says_which_there_are():
    parents = Parents('{"extract": [7, "SUCCESS", {"rows": 3}]}')

    assert parents["extract"] == Parent(7, "SUCCESS", {"rows": 3})
    assert list(parents) == ["extract"]
    assert len(Parents()) == 0
    with pytest.raises(KeyError, match="its parents are: 'extract'"):
        parents["extrakt"]
