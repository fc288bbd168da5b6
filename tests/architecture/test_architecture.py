"""The rules about the code itself that a reader would otherwise have to trust."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pictures.table import PICTURES
from tasks_app.core.rules import Rule
from tasks_app.core.states import MOVES, Status

ROOT = Path(__file__).resolve().parent.parent.parent
SQL = ROOT / "tasks_app" / "sql"


def test_only_lifecycle_runs_the_statements_that_write_a_status():
    writers = {
        path.stem
        for path in SQL.glob("*/*.sql")
        if re.search(r"\(status, due_at, attempt\) = \(|\bstatus = (CASE|')", _set_clauses(path))
    }
    writers |= {
        path.stem
        for path in SQL.glob("*/*.sql")
        if any(re.search(rf"^--include {w}\b", path.read_text(), re.M) for w in writers)
    }
    assert {"claim", "claim_limited", "mark_success", "mark_fail", "reap", "cancel", "retire", "replay"} <= writers

    runs_one = re.compile(rf'run(?:_sql)?\("({"|".join(writers)})"')
    offenders = [
        (path.relative_to(ROOT), name)
        for path in (ROOT / "tasks_app").rglob("*.py")
        if "lifecycle" not in path.parts and "migrations" not in path.parts
        for name in runs_one.findall(path.read_text())
    ]
    assert offenders == []


def test_nothing_outside_lifecycle_writes_task_rows_through_the_orm():
    pattern = re.compile(r"ScheduleTask\.objects[^\n]*\.(update|create|bulk_create|bulk_update|delete)\(")
    offenders = [
        path.relative_to(ROOT)
        for folder in ("tasks_app", "articles_app", "inventory_app", "demo_app", "scheduler_project")
        for path in (ROOT / folder).rglob("*.py")
        if pattern.search(path.read_text())
    ]
    assert offenders == []


# Who calls, what is nobody's, the operators' console; figures, bounds and places in line, which tell of nobody.
FOR_ALL_TENANTS = {
    "tasks_app/api/auth.py": 4,
    "tasks_app/api/limits.py": 1,
    "tasks_app/console/guard.py": 1,
    "tasks_app/engine/canary.py": 1,
    "tasks_app/engine/operations/campaigns.py": 1,
    "tasks_app/engine/watch/browse.py": 2,
    "tasks_app/engine/watch/firing_load.py": 1,
    "tasks_app/engine/watch/fleet_status.py": 1,
    "tasks_app/engine/watch/listing.py": 1,
    "tasks_app/engine/watch/site_status.py": 1,
    "tasks_app/engine/watch/status.py": 1,
    "tasks_app/engine/watch/why.py": 2,
}


def test_a_request_sees_all_tenants_in_known_places_only():
    found = {
        str(path.relative_to(ROOT)): len(re.findall(r"(?<!_)\ball_tenants\(\)", path.read_text()))
        for folder in ("tasks_app", "articles_app", "inventory_app", "demo_app", "scheduler_project")
        for path in (ROOT / folder).rglob("*.py")
        if path != ROOT / "tasks_app" / "scope.py"
    }
    assert {place: times for place, times in found.items() if times} == FOR_ALL_TENANTS


# They name the default, or work on every connection of their process or thread, or on those of another app.
WITH_OTHER_DATABASES = {
    "tasks_app/conf/knobs.py",
    "tasks_app/conf/rules.py",
    "tasks_app/database.py",
    "tasks_app/database_checks.py",
    "tasks_app/earlier_checkout.py",
    "tasks_app/engine/operations/celery_beat_tables.py",
    "tasks_app/engine/worker/process.py",
    "tasks_app/engine/worker/sync_threads.py",
    "tasks_app/libraries/django.py",
    "tasks_app/sql/__init__.py",
}


def test_connections_and_transactions_are_asked_of_one_place():
    """django.db's own are those of the alias `default`, and Punctual's tables may be elsewhere."""
    offenders = {
        str(path.relative_to(ROOT)): sorted(names)
        for path in (ROOT / "tasks_app").rglob("*.py")
        if "migrations" not in path.parts
        if (names := _taken_from_django_db(path.read_text()))
    }

    assert {place: names for place, names in offenders.items() if place not in WITH_OTHER_DATABASES} == {}
    assert {name for names in offenders.values() for name in names} & {"connection"} == set()


_DOORS = ("django.db", "django.db.transaction", "django.db.utils")
_OF_AN_ALIAS = {"connection", "connections", "transaction", "atomic", "on_commit", "get_connection", "DEFAULT_DB_ALIAS"}


def _taken_from_django_db(text: str) -> set[str]:
    found = set()
    if "django.db" not in text:
        return found  # to read the rest takes longest
    for node in ast.walk(ast.parse(text)):
        if (isinstance(node, ast.ImportFrom) and node.module in _DOORS) or isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found & {*_OF_AN_ALIAS, *_DOORS}


def test_every_model_is_read_from_the_database_that_is_named():
    models = [path for path in (ROOT / "tasks_app" / "models").glob("*.py") if path.stem not in ("__init__", "base")]
    assert len(models) > 15
    assert [path.name for path in models if "(OurModel)" not in path.read_text()] == []


def _set_clauses(path: Path) -> str:
    """Everything between SET and WHERE/FROM: what the statement writes."""
    return "\n".join(re.findall(r"\bSET\b(.*?)(?:\n\s*(?:FROM|WHERE|RETURNING)\b)", path.read_text(), re.DOTALL))


def test_every_statement_opens_with_its_verb_and_reason():
    included = {"matches"}
    for path in SQL.glob("*/*.sql"):
        if path.stem not in included:
            assert path.read_text().startswith("-- "), path.name


def test_the_states_page_shows_exactly_the_legal_moves():
    page = (ROOT / "docs" / "states.md").read_text()
    diagram = re.search(r"```mermaid\n(.*?)```", page, re.DOTALL)[1]
    drawn = set()
    for source, target, verbs in re.findall(r"^\s*(\w+) --> (\w+): (.+)$", diagram, re.MULTILINE):
        drawn |= {(verb.strip(), source, target) for verb in verbs.split(",")}

    assert drawn == {(move.verb, str(move.source), str(move.target)) for move in MOVES}


def test_every_state_can_be_left_or_is_final():
    left = {move.source for move in MOVES}
    assert set(Status) - left == {Status.CANCELLED}


WRONG_IMPORTS = {
    "tasks_app/core/sharding.py": ("from tasks_app.lifecycle import schedule", "Inside tasks_app imports point down"),
    "tasks_app/engine/worker/shutdown.py": ("from tasks_app.engine.beat import gates", "Inside the engine the folder"),
    "articles_app/links.py": ("from tasks_app.admin import words", "Other apps come in through django_punctual"),
    "inventory_app/links.py": ("from tasks_app.conf import conf", "Other apps come in through django_punctual"),
    "demo_app/handlers.py": ("from tasks_app import celery", "Other apps come in through django_punctual"),
    "articles_app/units.py": ("from tasks_app.api import tasks", "Other apps come in through django_punctual"),
    "chaos/journal.py": (
        "from tests.support import wait",
        "What measures, breaks and pictures the scheduler needs no tests",
    ),
}


def test_a_wrong_import_is_refused(tmp_path):
    """The import contracts are alive: a copy with an import that each of them forbids fails."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    for name in [*contracts["root_packages"], "pyproject.toml"]:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    for place, (wrong, _) in WRONG_IMPORTS.items():
        (tmp_path / place).write_text((tmp_path / place).read_text() + f"\n{wrong}  # noqa\n")

    linted = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert linted.returncode != 0
    told = " ".join(linted.stdout.split())
    for place, (_, contract) in WRONG_IMPORTS.items():
        assert re.search(rf"{contract}(?:(?!KEPT|BROKEN).)* BROKEN", told), contract
        assert f"- {place.removesuffix('.py').replace('/', '.')} -> " in told, place


@pytest.mark.parametrize("word", ["time.sleep(", "asyncio.sleep("])
def test_no_test_sleeps(word):
    allowed = {"wait.py", "handlers.py", "test_architecture.py", "embedded_holder.py"}
    offenders = [p for p in (ROOT / "tests").rglob("*.py") if word in p.read_text() and p.name not in allowed]
    assert offenders == []


@pytest.mark.parametrize("page", [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_every_table_of_a_page_is_whole(page):
    """Rows without a heading above them, or with another number of cells, are shown as text."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", prose, re.MULTILINE):
        rows = table.splitlines()
        assert len(rows) > 2 and set(rows[1]) <= set("|-: "), rows[0]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, rows[0]


def test_the_page_of_rules_has_each_of_them():
    page = (ROOT / "docs" / "jobs.md").read_text()
    table = page.split("| rule |", 1)[1].split("\n\n", 1)[0]
    told = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert told == set(Rule)


def test_every_picture_is_in_the_table_and_on_a_page():
    named = [picture.name for picture in PICTURES]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+)\.png\)", page.read_text())}

    assert len(named) == len(set(named))
    assert {path.name for path in (ROOT / "docs" / "images").glob("*.png")} == {f"{name}.png" for name in named}
    assert shown == set(named)
