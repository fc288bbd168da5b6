"""What is wrong with a tenant that should have left is seen, each by itself."""

import pytest

from chaos.leaving import Copied, newest, wrong_leaving

LEFT = newest([Copied(1, "a", "INIT", 1), Copied(2, "b", "SUCCESS", 2), Copied(1, "a", "SUCCESS", 2)])


def test_of_a_task_that_was_written_twice_the_last_counts():
    assert [(one.key, one.status) for one in LEFT.values()] == [("a", "SUCCESS"), ("b", "SUCCESS")]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("ARCHIVED", 0, 2, LEFT, {3}), []),
        (("SUSPENDED", 0, 2, LEFT, {3}), ["the tenant is SUSPENDED"]),
        (("ARCHIVED", 1, 2, LEFT, {3}), ["1 of its tasks are still in the database"]),
        (("ARCHIVED", 0, 2, LEFT, {2, 3}), ["1 of its tasks are in the archive and in the database"]),
        (("ARCHIVED", 0, 1, LEFT, {3}), ["2 of its tasks are in the files, and only 1 rows were removed"]),
    ],
)
def test_each_harm_is_told(given, says):
    assert wrong_leaving(*given) == says
