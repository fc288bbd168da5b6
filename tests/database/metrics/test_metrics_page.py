"""/metrics: who may read it, what it says while the database is away, and that rules and dashboard ask for what is."""

import gzip
import json
import re
import threading
import time
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client, override_settings
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tasks_app.core.lanes import LANES
from tasks_app.core.metrics import METRICS
from tasks_app.engine import nodes
from tasks_app.engine.beat.counting import count
from tasks_app.engine.canary import send_canaries
from tasks_app.engine.operations import api_tokens
from tasks_app.metrics import view
from tasks_app.metrics.access import Guard
from tasks_app.metrics.background import Background, NoAnswer
from tasks_app.models import ApiToken, AuditEntry
from tasks_app.sql import run
from tests.support.api import Api
from tests.support.counting import begin, counted
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, RETRY, scheduled, settled, started
from tests.support.operators import operator
from tests.support.promql import Expression, parsed

pytestmark = commits
DOCS = Path(__file__).resolve().parents[3] / "docs"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    """As a web process that has just been started; its thread ends with the test."""
    background = Background()
    monkeypatch.setattr(view, "BACKGROUND", background)
    monkeypatch.setattr(view, "GUARD", Guard(background))
    monkeypatch.setattr(view, "READER", view.Reader(background))
    monkeypatch.setattr(view, "FRESH_SECONDS", 0.0)
    yield
    background.stop()


@pytest.fixture
def token() -> str:
    return api_tokens.issue_for_metrics("prometheus", operator())[1]


def get(token: str | None = None, **headers: str):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Client().get("/metrics", headers={name.replace("_", "-"): value for name, value in headers.items()})


def shown(answer) -> dict[str, float]:
    lines = answer.content.decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_a_token_that_was_made_for_it_reads_it_and_nothing_else(token):
    scheduled("a", delay=3600)
    count()
    answer = get(token)

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert answer.headers["Cache-Control"].startswith("max-age=0")
    assert shown(answer)["punctual_up"] == 1
    assert shown(answer)['punctual_tasks{state="scheduled",task_type="T_QUIET"}'] == 1
    assert Api(token=token).get("/tasks").status == 401
    assert ApiToken.objects.get().last_used_at is not None


def test_no_other_token_reads_it(token):
    for other in (api_tokens.issue("api", "acme", operator(), can_write=True)[1], "pnc_nonsense", "nonsense"):
        answer = get(other)
        assert answer.status_code == 401
        assert "api_token issue NAME --metrics" in answer.content.decode()
    assert get().status_code == 401
    assert get(Authorization=f"Basic {token}").status_code == 401
    assert AuditEntry.objects.filter(verb="api").exists()
    assert Client().post("/metrics").status_code == 405


def test_a_token_that_was_revoked_is_refused_at_once(token):
    assert get(token).status_code == 200
    assert api_tokens.revoke(ApiToken.objects.get().id, operator())

    assert get(token).status_code == 401


def test_a_listed_address_needs_no_token():
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"METRICS_ALLOW": ["127.0.0.0/8"]}):
        assert get().status_code == 200
        assert Client(REMOTE_ADDR="10.0.0.1").get("/metrics").status_code == 401


def test_the_command_makes_a_token_that_reads_it(capsys):
    call_command("api_token", "issue", "prometheus", "--metrics")

    assert get(capsys.readouterr().out.strip()).status_code == 200
    call_command("api_token", "list")
    assert "metrics  figures in all lanes" in capsys.readouterr().out
    with pytest.raises(CommandError, match="--write means nothing beside --metrics"):
        call_command("api_token", "issue", "prometheus", "--metrics", "--write")


def test_it_is_packed_for_whoever_can_unpack_it(token):
    packed = get(token, Accept_Encoding="gzip, deflate")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert b"punctual_up 1.0" in gzip.decompress(packed.content)


def test_while_the_database_does_not_answer_it_says_so_and_shows_what_it_knew(token, monkeypatch):
    begin()
    settled(started("a"))
    counted()
    before = get(token)
    monkeypatch.setattr(view, "DEADLINE_SECONDS", 0.2)

    with locked("punctual_count", "punctual_api_token"):
        answer = get(token)
        stranger = get("pnc_nobody-knows-this-one")

    assert answer.status_code == 200
    runs = 'punctual_runs_total{lane="default",outcome="ok",task_type="T_QUIET"}'
    assert (shown(answer)["punctual_up"], shown(answer)[runs]) == (0, 1)
    assert shown(answer)["punctual_read_age_seconds"] > shown(before)["punctual_read_age_seconds"]
    assert (stranger.status_code, stranger.headers["Retry-After"]) == (503, "5")


def test_a_listed_address_hears_that_the_database_is_away_even_if_nothing_was_read_before(monkeypatch):
    monkeypatch.setattr(view, "DEADLINE_SECONDS", 0.2)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"METRICS_ALLOW": ["127.0.0.1"]}), locked("punctual_count"):
        answer = get()

    assert (answer.status_code, shown(answer)["punctual_up"]) == (200, 0)


def test_a_connection_that_was_ended_is_made_anew():
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"METRICS_ALLOW": ["127.0.0.1"]}):
        assert shown(get())["punctual_up"] == 1
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

        assert shown(get())["punctual_up"] == 1


def test_a_question_that_nobody_waits_for_any_more_is_not_asked():
    background, hang, asked = Background(), threading.Event(), []
    try:
        for question in (lambda: hang.wait(20), lambda: asked.append("nobody waits for this")):
            with pytest.raises(NoAnswer):
                background.ask(question, until=time.monotonic() + 0.05)
        hang.set()

        assert background.ask(lambda: "well again", until=time.monotonic() + 20) == "well again"
    finally:
        background.stop()
    assert asked == []


def test_without_a_token_the_answer_does_not_wait_for_the_database(monkeypatch):
    monkeypatch.setattr(view, "DEADLINE_SECONDS", 0.2)
    with locked("punctual_count", "punctual_api_token", "punctual_audit_entry"):
        assert get().status_code == 401


class locked:
    """Whoever reads these tables waits."""

    def __init__(self, *tables: str) -> None:
        self._tables = tables

    def __enter__(self) -> None:
        self._transaction = transaction.atomic()
        self._transaction.__enter__()
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(self._tables)} IN ACCESS EXCLUSIVE MODE")

    def __exit__(self, *error: object) -> None:
        self._transaction.__exit__(None, None, None)


@pytest.fixture
def families(token):
    """What is really served by an installation in which a little of everything has happened."""
    begin()
    nodes.report_worker(nodes.new_node_id(), "w1:7", 4, list(LANES))
    beat = {"node_id": nodes.new_node_id(), "name": "b1:9", "site": "main", "figures": nodes.own_figures()}
    run("declare_shards", {"shards": 16})
    run("declare_chores", {"names": ["reap"]})
    due = {"names": ["reap"], "everys": [60.0], "wanted": [], "keep": 600.0, "done": [], "ago": []}
    run("take_chores", beat | due | {"dispatching": False})
    run("hold_shards", beat | {"ttl": 60.0, "dispatching": True, "forget": 60.0})
    settled(started("a", "b", "c"), OK, RETRY, FINAL)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}):
        send_canaries()
    counted()
    counted()
    text = get(token, Accept=OPENMETRICS).content.decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_every_metric_is_served_with_its_labels(families):
    assert families.keys() == {one.full_name for one in METRICS}
    for one in METRICS:
        found = families[one.full_name]
        assert (found.type, found.documentation) == (str(one.kind), one.help)
        assert {sample.name for sample in found.samples} <= {*one.sample_names}
        assert {frozenset(sample.labels) - {"le"} for sample in found.samples} <= {frozenset(one.labels)}


def test_every_rule_asks_for_what_is_served(families):
    rules = [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    assert len(rules) > 15
    for rule in rules:
        assert problems(parsed(rule["expr"]), families) == [], rule["alert"]
        anchor = re.sub(r"(?<!^)(?=[A-Z])", "-", rule["alert"]).lower()
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{anchor}"
        assert rule["labels"]["severity"] in ("page", "ticket")
        used = {one.metric for one in parsed(rule["expr"]).selectors}
        labels = {label for one in METRICS if used & {*one.sample_names} for label in one.labels}
        assert {*re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])} <= labels


def test_nobody_is_paged_for_lanes_that_wait_by_design():
    """Lateness and what is overdue page for each lane that is meant to be punctual, and for no other."""
    rules = [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    late = {"punctual_lateness_seconds_bucket", "punctual_oldest_overdue_seconds"}
    found = [one for rule in rules for one in parsed(rule["expr"]).selectors if one.metric in late]

    assert {one.metric for one in found} == late
    for one in found:
        [(label, how, value)] = one.matchers
        assert (label, how) == ("lane", "!~")
        assert {lane for lane in LANES if re.fullmatch(value, lane)} == {"deferred", "backfill"}


def test_with_no_beat_alive_one_alert_pages_and_none_that_follows_from_it():
    """What is read live grows while no beat is there; what a beat counts stands still."""
    rules = [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    grows = {"punctual_counts_age_seconds", "punctual_canary_age_seconds"}
    grows |= {"punctual_audit_unchained_age_seconds", "punctual_audit_anchor_age_seconds"}
    follow = [one for one in rules if grows & {each.metric for each in parsed(one["expr"]).selectors}]

    assert len(follow) == len(grows)
    for rule in follow:
        assert 'and on () max(punctual_nodes{kind="beat"}) > 0' in rule["expr"], rule["alert"]


def test_every_panel_asks_for_what_is_served(families):
    board = json.loads((DOCS / "grafana.json").read_text())
    targets = [(panel["title"], target) for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(targets) > 40
    for title, target in targets:
        asked = parsed(target["expr"].replace("$__rate_interval", "5m"))
        assert problems(asked, families) == [], title
        labels = {label for one in METRICS for label in one.labels} | {"le"}
        assert {*re.findall(r"{{(\w+)}}", target["legendFormat"])} <= labels
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(numbers) == len({*numbers})
    known = {variable["name"] for variable in board["templating"]["list"]}
    assert {*re.findall(r'"\$(\w+)"', json.dumps([target["expr"] for _, target in targets]).replace("\\", ""))} <= known


def problems(asked: Expression, families: dict) -> list[str]:
    """What it asks for that is not there: a metric, a label of it, or a value of one that has few."""
    served = {name: one for one in METRICS for name in one.sample_names}
    found = [f"{one.metric} is not served" for one in asked.selectors if one.metric not in served]
    if found:
        return found
    allowed = {label for one in asked.selectors for label in served[one.metric].labels} | {"le"}
    found += [f"nothing has the label {label}" for label in asked.labels - allowed]
    for one in asked.selectors:
        metric = served[one.metric]
        for label, how, value in one.matchers:
            values = {sample.labels.get(label) for sample in families[metric.full_name].samples}
            if label not in metric.labels:
                found.append(f"{one.metric} has no label {label}")
            elif how == "=" and value not in values:
                found.append(f"no {one.metric} has {label}={value!r}: {values}")
    return found


def test_a_rule_for_something_else_would_be_noticed(families):
    for wrong in (
        'punctual_runs{outcome="ok"}',
        'punctual_runs_total{result="ok"}',
        'punctual_runs_total{outcome="good"}',
        "sum by (pod) (punctual_up)",
    ):
        assert problems(parsed(wrong), families), wrong
