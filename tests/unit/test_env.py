"""What the environment says about the servers, and what is said when it says nonsense."""

import pytest

from scheduler_project.env import EnvironmentProblem, database_settings, whole_number

URL = "postgresql://me:secret@db:5433/punctual"


@pytest.mark.parametrize(("text", "threshold"), [("none", None), ("0", 0), ("5", 5)])
def test_a_database_url_can_say_when_statements_are_prepared(text, threshold):
    assert database_settings(f"{URL}?prepare_threshold={text}")["OPTIONS"] == {"prepare_threshold": threshold}


@pytest.mark.parametrize("text", ["never", "-1", "1.5"])
def test_a_prepare_threshold_that_is_no_number_is_refused(text):
    with pytest.raises(EnvironmentProblem, match=f"prepare_threshold='{text}'; it must be a number, or none"):
        database_settings(f"{URL}?prepare_threshold={text}")


def test_other_keys_of_a_database_url_go_to_libpq_as_they_are():
    found = database_settings(f"{URL}?sslmode=require")

    assert (found["OPTIONS"], found["HOST"], found["PORT"], found["NAME"]) == (
        {"sslmode": "require"},
        "db",
        "5433",
        "punctual",
    )


@pytest.mark.parametrize("text", ["1.5", "many", "inf", ""])
def test_a_part_of_a_thing_is_refused_and_not_rounded(text):
    assert whole_number("STOCK_BURST", "50") == 50
    with pytest.raises(EnvironmentProblem, match=r"STOCK_BURST is .* it must be a whole number"):
        whole_number("STOCK_BURST", text)
