"""What beats and workers add to a project's own OPTIONS, and what they leave alone."""

import pytest

from tasks_app.core.session import CLIENT, LIMITS, NAME, SEVERAL, options_for_engine

OURS = "-c lock_timeout=5s -c idle_in_transaction_session_timeout=60s -c plan_cache_mode=force_generic_plan"


def test_with_no_options_all_of_ours_are_added():
    assert options_for_engine({}, pooled=False) == CLIENT | NAME | {"options": OURS, "prepare_threshold": 1}
    assert all(f"{name}={value}" in OURS for name, value in LIMITS.items())


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"connect_timeout": 60}, {"connect_timeout": 60}),
        ({"application_name": "shop"}, {"application_name": "shop"}),
        ({"prepare_threshold": None}, {"prepare_threshold": None}),
        # PostgreSQL takes the last of two.
        ({"options": "-c lock_timeout=30s"}, {"options": f"{OURS} -c lock_timeout=30s"}),
        ({"sslmode": "require", "isolation_level": 4}, {"sslmode": "require", "isolation_level": 4}),
    ],
)
def test_what_the_project_says_counts(given, kept):
    made = options_for_engine(given, pooled=False)

    assert {name: made[name] for name in kept} == kept


def test_the_environments_options_are_not_hidden_by_ours():
    assert options_for_engine({}, "-c search_path=shop", pooled=False)["options"] == f"{OURS} -c search_path=shop"
    both = options_for_engine({"options": "-c search_path=a"}, "-c search_path=b", pooled=False)
    assert both["options"] == f"{OURS} -c search_path=a"  # as for libpq: the environment is a default


def test_behind_a_transaction_pooler_nothing_is_asked_of_the_session():
    assert options_for_engine({}, pooled=True) == CLIENT
    assert options_for_engine({"prepare_threshold": 1}, pooled=True) == CLIENT | {"prepare_threshold": 1}


def test_of_several_servers_the_one_that_takes_writes_is_looked_for_and_none_holds_it_up():
    made = options_for_engine({"connect_timeout": 9}, pooled=True, hosts="one,two")

    assert made == CLIENT | SEVERAL | {"connect_timeout": 9}
    assert made["target_session_attrs"] == "read-write"
    assert "target_session_attrs" not in options_for_engine({}, pooled=True, hosts="one")


def test_a_service_file_is_not_overruled():
    assert options_for_engine({"service": "shop"}, pooled=False) == {"service": "shop", "prepare_threshold": 1}


def test_a_pool_is_left_to_the_projects_own_processes():
    given = {"pool": True}

    assert "pool" not in options_for_engine(given, pooled=False)
    assert given == {"pool": True}
