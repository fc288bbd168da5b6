"""The handler that runs drills as tasks, from examples/: what it makes of an exit code."""

import importlib.util
from types import SimpleNamespace

import pytest

from django_punctual import UnrecoverableError
from tasks_app.core.handlers import REGISTRY
from tests.support.stack import ROOT

# In the place of manage.py: says how it was called, and ends as it is told.
PROGRAM = """import sys
sys.stdout.write(" ".join(sys.argv[1:]) + chr(10))
sys.stderr.write("! Worse than last time: worker: 44 s until all was well." + chr(10))
sys.exit({code})
"""


@pytest.fixture
def drill():
    spec = importlib.util.spec_from_file_location("drill_handler", ROOT / "examples" / "drill_handler.py")
    module = importlib.util.module_from_spec(spec)
    before = dict(REGISTRY._handlers)
    spec.loader.exec_module(module)
    yield module.drill
    REGISTRY._handlers = before


@pytest.mark.parametrize(
    ("code", "told"), [(1, "DRILL_MISSED"), (2, "DRILL_FAILED"), (3, "DRILL_WORSE"), (9, "DRILL_FAILED")]
)
def test_a_drill_that_is_worse_is_dead_and_says_so(drill, code, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "manage.py").write_text(PROGRAM.format(code=code))

    with pytest.raises(UnrecoverableError, match="worker: 44 s until all was well") as dead:
        drill(SimpleNamespace(payload={"report": "/var/drills"}))
    assert dead.value.code == told


def test_a_drill_that_went_well_returns_what_it_said(drill, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "manage.py").write_text(PROGRAM.format(code=0))

    assert drill(SimpleNamespace(payload={"report": "/var/drills"})) == "drill all --compare --report /var/drills\n"
