"""What differs between two sets of fields."""

import pytest

from tasks_app.core.differences import ABSENT, Difference, differences, same


def test_fields_are_compared_one_by_one_and_objects_by_what_is_in_them():
    old = {"cron": "0 6 * * *", "lane": "low", "payload": {"to": {"a": 1, "b": 2}, "gone": None}}
    new = {"cron": "0 7 * * *", "lane": "low", "payload": {"to": {"a": 1, "b": 3}, "more": [1]}}

    assert list(differences(old, new)) == [
        Difference("cron", "0 6 * * *", "0 7 * * *"),
        Difference("payload.to.b", 2, 3),
        Difference("payload.gone", None, ABSENT),
        Difference("payload.more", ABSENT, [1]),
    ]
    assert [str(one) for one in differences(old, new)][1:] == [
        "payload.to.b: 2 -> 3",
        "payload.gone: null -> (none)",
        "payload.more: (none) -> [1]",
    ]
    assert [one.plain for one in differences(old, new)][2:] == [
        {"field": "payload.gone", "old": None},
        {"field": "payload.more", "new": [1]},
    ]


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), ([1], [True]), ({"a": 0}, {"a": False}), (None, {})])
def test_a_number_is_no_truth_value(one, other):
    assert not same(one, other)
    assert list(differences({"x": one}, {"x": other}))


def test_a_whole_number_is_the_same_with_a_point():
    assert same({"a": [1, 2.0]}, {"a": [1.0, 2]})
