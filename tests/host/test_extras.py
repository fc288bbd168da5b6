"""Without an extra its part is not there, nothing of it is loaded, and `check` says how to get it."""

import json
import os

import pytest

from tasks_app.pages import extras
from tests.support import nursery
from tests.support.stack import url_of_test_database

ADMIN, CONSOLE = {"admin:login": 200}, {"punctual:login": 200}
API, METRICS = {"punctual-api:openapi-json": 401}, {"punctual-metrics": 401}
GET_CONSOLE, GET_API = (f'pip install "django-punctual[{extra}]"' for extra in ("admin", "api"))
NONE = {"I001": GET_CONSOLE, "I002": GET_API}
# What is installed in the project, what is not in the environment; then what is missing, and what is there.
CASES = {
    "none": ("core", ["unfold", "ninja", "prometheus_client"], NONE, ADMIN),
    "no ninja": ("admin", ["ninja"], {"I002": GET_API}, ADMIN | CONSOLE | METRICS),
    "no apps": ("core", [], {"I001": '["unfold.apps.BasicAppConfig"]', "I003": "ApiPageConfig"}, ADMIN | API | METRICS),
}


@pytest.fixture(scope="module")
def told(django_db_setup) -> dict[str, dict]:
    """In forks of a process that has imported none of what may be missing."""
    found = {}
    for name, (parts, without, *_) in CASES.items():
        env = os.environ | {
            "DATABASE_URL": url_of_test_database(),
            "DJANGO_SETTINGS_MODULE": "tests.support.host.settings",
            "HOST_PUNCTUAL": parts,
        }
        ended = nursery.run("tests.support.host.without", *without, env=env, timeout=120)
        found[name] = json.loads(ended.stdout) if ended.stdout else {"failed": ended.stderr[-3000:]}
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_is_missing_is_left_out_and_told(told, case):
    _, without, missing, there = CASES[case]
    found = told[case]
    assert "failed" not in found, found["failed"]

    hints = {name.removeprefix("punctual."): hint for name, hint in found["checks"].items() if ".I" in name}
    assert hints.keys() == missing.keys()
    assert all(line in hints[name] for name, line in missing.items())
    assert found["errors"] == []  # whatever else Django wants installed, from one of its releases to the next
    assert found["served"] == there
    assert "punctual.E020" not in found["checks"]
    assert ("punctual.E020" in found["in a namespace"]) is (CONSOLE.items() <= there.items())
    assert not {*found["loaded"]} & {*without}


def test_a_release_of_unfold_that_the_console_is_not_made_for_is_as_good_as_none(monkeypatch):
    assert extras.missing_for_console() is None

    monkeypatch.setattr(extras, "version", lambda package: {"django-unfold": "0.92.0"}[package])

    assert extras.missing_for_console() == GET_CONSOLE


@pytest.mark.parametrize("case", CASES)
def test_checks_load_neither_the_api_nor_what_it_needs(told, case):
    """A project that serves all of it pays for none of it in commands, beats and workers."""
    assert {*told[case]["loaded by checks"]} <= {"unfold"}
