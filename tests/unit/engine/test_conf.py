"""Settings are checked together, and every error says what to do."""

import re
import runpy
from contextlib import suppress
from dataclasses import fields
from math import ceil
from pathlib import Path
from typing import get_origin
from uuid import uuid4

import pytest
from django.core import checks
from django.test import override_settings

from tasks_app.conf import Conf, conf, from_settings
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY, handler
from tasks_app.engine import nodes
from tasks_app.models import Node

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
        ({"PRUNE_SECONDS": 1e-9}, "must be 0.000001 or more"),
        ({"KEEP_HOT_DAYS": 1e9}, "must be at most 36,500"),
        ({"KEEP_TASKS_DAYS": 7}, "is called KEEP_HOT_DAYS now"),
        ({"RETENTION": {"Brief": {}}}, "has a class 'Brief'; a name is 1 to 20 small letters"),
        ({"RETENTION": {"batch": {}}}, "and not one of batch"),
        ({"RETENTION": {"default": {"hot_days": 1}}}, "that one has KEEP_HOT_DAYS and KEEP_COLD_DAYS. Set those"),
        ({"RETENTION": {"brief": 2}}, 'is 2; it must be a dict, such as {"hot_days": 2}'),
        ({"RETENTION": {"brief": {"hot_day": 2}}}, "is no option of a class. Did you mean 'hot_days'"),
        ({"RETENTION": {"brief": {"hot_days": 0}}}, "is 0; it must be days, more than 0 and at most 36,500"),
        ({"RETENTION": {"brief": {"hot_days": True}}}, "is True; it must be days"),
        ({"RETENTION": {"brief": {"tenants": "acme"}}}, "is 'acme'; it must be a list of tenants"),
        ({"RETENTION": {"a": {"tenants": ["x"]}, "b": {"tenants": ["x"]}}}, "has 'x', which is in 'a' already"),
        ({"RETENTION": ["brief"]}, "must be a dict"),
        ({"PARTITION_HOURS": 1e9}, "must be at most 744"),
        ({"WAKEUP_MS": 1e9}, "must be at most 3,600,000"),
        ({"RUN_LEASE_SECONDS": 0.5, "HEARTBEAT_SECONDS": 0.1}, "must be 1 or more. A worker ends itself"),
        ({"PAYLOAD_MAX_BYTES": 1}, "must be 2 or more"),
        ({"SHARDS": 1025}, "must be at most 1,024. Every look asks each shard"),
        ({"REDIS_URL": "amqp://guest:secret@x"}, "begins with 'amqp://'; it must be redis://"),
        ({"REDIS_URL": "localhost"}, "begins with 'localhost'; it must be redis://"),
        ({"REDIS_URL": "sentinel://:secret@one,two"}, "begins with sentinel://, and can't be read; it must be like"),
        ({"REDIS_URL": "sentinel://one:port/mymaster"}, "begins with sentinel://, and can't be read; it must be like"),
        ({"DATABASE": "defualt"}, "not an alias in DATABASES. Did you mean 'default'? There are: default."),
        ({"DATABASE": None}, "must be a string"),
        ({"PREFIX": ""}, "must be 1 to 64 letters"),
        ({"PREFIX": "a b"}, "is 'a b'; it must be 1 to 64 letters"),
        ({"PREFIX": "ä"}, "must be 1 to 64 letters"),
        ({"CELERY": ["task_acks_late"]}, "must be a dict"),
        ({"CELERY": {"task_acks_late": True}}, "a late ack would run it twice. Leave it out"),
        ({"CELERY": {"task_soft_time_limit": 5}}, "give each handler its own timeout"),
        ({"CELERY": {"beat_schedule": {}}}, "make them jobs"),
        ({"CELERY": {"broker_write_url": "redis://elsewhere"}}, 'meet at PUNCTUAL["REDIS_URL"]'),
        ({"CELERY": {"broker_transport": "redis"}}, "a message that is not ours could end a worker"),
        ({"CELERY": {"beat_scheduler": "celery.beat:Scheduler"}}, "nobody would dispatch"),
        ({"CELERY": {"broker_transport_options": 5}}, "must be a dict"),
        (
            {"CELERY": {"broker_transport_options": {"global_keyprefix": "x"}}},
            """PUNCTUAL["CELERY"]["broker_transport_options"] has 'global_keyprefix': it is PUNCTUAL["PREFIX"]""",
        ),
        ({"CELERY": {"broker_transport_options": {"ack_emulation": True}}}, "loses and doubles messages"),
        ({"CELERY": {"TASK_ACKS_LATE": True}}, "Celery's own names in lower case"),
        ({"CELERY": {1: 2}}, "Celery's own names in lower case"),
    ],
)
def test_a_bad_setting_is_refused_with_the_way_out(values, words):
    with pytest.raises(InvalidConfiguration, match=re.escape(words)):
        from_settings(values)


def test_one_option_of_the_transport_leaves_the_others_as_they_are(settings):
    own = {"worker_max_memory_per_child": 800_000, "broker_transport_options": {"socket_timeout": 9}}
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"CELERY": own}):
        options = runpy.run_path(str(ROOT / "tasks_app/engine/celery_options.py"))

    transport = options["broker_transport_options"]
    assert (options["worker_max_memory_per_child"], transport["socket_timeout"]) == (800_000, 9)
    assert (transport["ack_emulation"], transport["global_keyprefix"]) == (False, conf().redis_key(""))


def test_whole_numbers_become_what_the_knob_is():
    given = from_settings({knob.name: ceil(knob.default) for knob in fields(Conf) if isinstance(knob.default, float)})

    kinds = {knob.name: get_origin(knob.type) or knob.type for knob in fields(Conf)}
    assert {name: type(getattr(given, name)) for name in kinds} == kinds


def test_every_problem_is_told_at_once():
    with override_settings(PUNCTUAL={"LOOK_SECONDS": -1, "HEARTBEAT_SECONDS": 100}):
        found = [m for m in checks.run_checks() if m.id == "punctual.E001"]

    assert len(found) == 2


def test_what_a_project_sets_for_its_own_celery_app_is_its_own_business():
    with override_settings(
        CELERY_TASK_ACKS_LATE=True,
        CELERY_TASK_ALWAYS_EAGER=True,
        CELERY_TASK_SOFT_TIME_LIMIT=1,
        CELERY_BEAT_SCHEDULE={"x": {"task": "y", "schedule": 5}},
    ):
        assert [m for m in checks.run_checks() if m.id.startswith("punctual.")] == []


@pytest.mark.parametrize(
    ("values", "id_", "words"),
    [
        ({"REDIS_URL": ""}, "punctual.W002", "no beat or worker can start"),
        ({"CELERY": {"worker_max_memory": 5}}, "punctual.W003", "Did you mean 'worker_max_memory_per_child'"),
    ],
)
def test_a_check_tells_what_is_missing(settings, values, id_, words):
    with override_settings(PUNCTUAL=settings.PUNCTUAL | values):
        found = [m for m in checks.run_checks() if m.id == id_]

    assert len(found) == 1
    assert words in found[0].msg


@pytest.mark.django_db
def test_a_redis_that_does_not_answer_is_told_before_a_deploy(settings):
    def found():
        return [m.id for m in checks.run_checks(include_deployment_checks=True) if m.id == "punctual.E005"]

    assert found() == []
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}):
        assert found() == ["punctual.E005"]


@pytest.mark.django_db
def test_lanes_that_nobody_serves_are_told_before_a_deploy():
    def told():
        return [m.msg for m in checks.run_checks(include_deployment_checks=True) if m.id == "punctual.W004"]

    assert told() == ["Tasks of critical, high, default, low, deferred, backfill will wait: no beat is running."]
    Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="b")
    nodes.report_worker(uuid4(), "w", 2, ["critical", "default"])
    assert told() == [
        f"Tasks of {lane} will wait: no worker serves the lane {lane!r}."
        for lane in ("high", "low", "deferred", "backfill")
    ]


def test_handlers_that_contradict_themselves_are_refused_by_a_check():
    @handler("UNIT_CONTRADICTION", transactional=True, concurrency=4)
    def run(task): ...

    try:
        found = [m for m in checks.run_checks() if m.id == "punctual.E004"]
    finally:
        REGISTRY.discard("UNIT_CONTRADICTION")

    assert len(found) == 1
    assert "UNIT_CONTRADICTION" in found[0].msg


def test_a_handler_of_an_unknown_retention_class_is_told_by_a_check():
    @handler("UNIT_RETENTION", retention="breif")
    def run(task): ...

    try:
        found = [m.msg for m in checks.run_checks() if m.id == "punctual.E004"]
    finally:
        REGISTRY.discard("UNIT_RETENTION")

    assert len(found) == 1
    assert "retention='breif' is not a class in PUNCTUAL[\"RETENTION\"]. There are: default." in found[0]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (
            ["*", "!task.succeded"],
            """PUNCTUAL["EVENTS"] has '!task.succeded', and there is no such event. Did you mean""",
        ),
        (["task dead"], "no pattern for events"),
        ("task.dead", """PUNCTUAL["EVENTS"] is 'task.dead'; it must be a list of strings."""),
        ([7], "has 7, which is no pattern"),
    ],
)
def test_events_that_do_not_exist_can_not_be_kept(events, words):
    with pytest.raises(InvalidConfiguration) as refused:
        from_settings({"EVENTS": events})

    assert words in str(refused.value)


def test_what_is_kept_is_given_to_statements_as_the_names_of_our_kinds():
    kept = from_settings({"EVENTS": ["task.dead", "task.failed", "order.*"]})

    assert kept.kept_kinds == "{task.failed,task.dead}"
    assert "order.paid" in kept.kept_events
    assert from_settings({"EVENTS": []}).kept_kinds == "{}"


def test_every_setting_is_on_the_configuration_page_with_its_default():
    page = (ROOT / "docs" / "configuration.md").read_text()
    for knob in fields(Conf):
        if knob.type is float:
            default = f"{knob.default:g} "
        else:
            default = f"{knob.default} " if knob.type in (int, str) and knob.default else ""
        assert re.search(rf"\| `{knob.name}` \| {re.escape(default)}", page.replace(",", "")), knob.name


ODD = (None, True, "", "x", "\0", 5, -1, 10**400, float("nan"), b"x", [], {}, object(), [None], ["x", "x"], [[]], [{}])
ODD += ({"a": None}, {None: None}, {"a": {"b": None}}, {"a": [1]}, "http://[", ["http://["], ["1.2.3.4/99"], "s3://")


@pytest.mark.parametrize("name", [knob.name for knob in fields(Conf)])
def test_whatever_is_given_for_a_setting_is_taken_or_refused_in_a_sentence(name):
    for value in ODD:
        with suppress(InvalidConfiguration):
            from_settings({name: value})


@pytest.mark.parametrize("given", [None, "redis://user:secret@host/0", ["REDIS_URL"], {1: 2}])
def test_what_is_no_dict_of_settings_is_refused_without_its_value(given):
    with pytest.raises(InvalidConfiguration, match=r"PUNCTUAL.* (must be a dict|is not a setting)") as refused:
        from_settings(given)
    assert "secret" not in str(refused.value)
