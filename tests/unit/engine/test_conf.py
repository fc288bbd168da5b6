"""Settings are checked together, and every error says what to do."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from django.core import checks
from django.test import override_settings

from tasks_app.conf import Conf, from_settings
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY, handler

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"RUN_LEASE_SECONDS": 5, "HEARTBEAT_SECONDS": 10},
            "a lease must outlive two heartbeats. Set it to more than 20",
        ),
        ({"NODE_TTL_SECONDS": 1}, "must miss two reports"),
        ({"BATCH_UNSEEN": 5000}, "Lower it"),
        ({"LOOK_SECONDS": 0}, "must be more than 0"),
        ({"LOOK_SECONDS": "1"}, "must be a number"),
        ({"BATCH_MAX": 1.5}, "must be a whole number"),
        ({"BATCH_MAX": True}, "must be a whole number"),
        ({"RUN_LEASE_SECOND": 30}, "Did you mean 'RUN_LEASE_SECONDS'"),
        ({"REDIS_URL": None}, "must be a string"),
        ({"RUN_LEASE_SECONDS": "30"}, "must be a number"),
        ({"LOOK_SECONDS": float("nan")}, "must be more than 0"),
        ({"LOOK_SECONDS": 10**400}, "must be at most 604,800"),
        ({"LOOK_SECONDS": 10**5000}, "must be at most 604,800"),
        ({"REAP_SECONDS": 1e300}, "must be at most 604,800"),
        ({"PRUNE_SECONDS": 1e-9}, "must be 1e-06 or more"),
        ({"KEEP_TASKS_DAYS": 1e9}, "must be at most 36,500"),
        ({"WAKEUP_MS": 1e9}, "must be at most 3,600,000"),
        ({"RUN_LEASE_SECONDS": 0.5, "HEARTBEAT_SECONDS": 0.1}, "must be 1 or more. A worker ends itself"),
        ({"PAYLOAD_MAX_BYTES": 1}, "must be 2 or more"),
        ({"SHARDS": 1025}, "must be at most 1,024. Every look asks each shard"),
    ],
)
def test_a_bad_setting_is_refused_with_the_way_out(values, words):
    with pytest.raises(InvalidConfiguration, match=re.escape(words)):
        from_settings(values)


def test_whole_numbers_become_what_the_knob_is():
    given = from_settings({knob.name: int(knob.default) for knob in fields(Conf) if isinstance(knob.default, float)})

    kinds = {knob.name: type(knob.default) for knob in fields(Conf)}
    assert {name: type(getattr(given, name)) for name in kinds} == kinds


def test_every_problem_is_told_at_once():
    with override_settings(PUNCTUAL={"LOOK_SECONDS": -1, "HEARTBEAT_SECONDS": 100}):
        found = [m for m in checks.run_checks() if m.id == "punctual.E001"]

    assert len(found) == 2


def test_celery_settings_that_would_break_the_promises_are_refused():
    with override_settings(CELERY_TASK_ACKS_LATE=True, CELERY_TASK_ALWAYS_EAGER=True):
        found = [m for m in checks.run_checks() if m.id == "punctual.E002"]

    assert len(found) == 2


def test_handlers_that_contradict_themselves_are_refused_by_a_check():
    @handler("UNIT_CONTRADICTION", transactional=True, concurrency=4)
    def run(task): ...

    try:
        found = [m for m in checks.run_checks() if m.id == "punctual.E004"]
    finally:
        REGISTRY.discard("UNIT_CONTRADICTION")

    assert len(found) == 1
    assert "UNIT_CONTRADICTION" in found[0].msg


def test_periodic_entries_of_celery_beat_are_warned_about():
    with override_settings(CELERY_BEAT_SCHEDULE={"x": {"task": "y", "schedule": 5}}):
        found = [m for m in checks.run_checks() if m.id == "punctual.W001"]

    assert len(found) == 1


def test_every_setting_is_on_the_configuration_page_with_its_default():
    page = (ROOT / "docs" / "configuration.md").read_text()
    for knob in fields(Conf):
        default = (
            "" if knob.default == "" else f"{knob.default:g}" if isinstance(knob.default, float) else str(knob.default)
        )
        assert re.search(rf"\| `{knob.name}` \| {re.escape(default)} ", page.replace(",", "")), knob.name
