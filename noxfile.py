"""The corners of what Punctual runs on, for `make matrix`; docs/compatibility.md says which.

A corner is the requirements of the checkout with the versions of `matrix/NAME.txt` in place of theirs, and the tests
that touch what differs. It is skipped where its Python or its servers are not on this machine.
"""

import os
import shutil
from pathlib import Path

import nox

ROOT = Path(__file__).parent
nox.options.envdir = ".venv-matrix"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
# pyenv's shims stand for Pythons that it has, and refuse to start those that are not chosen.
_PYENV = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
os.environ["PATH"] = os.pathsep.join([*map(str, _PYENV), os.environ["PATH"]])
os.environ.setdefault("UV_SYSTEM_CERTS", "1")  # as pip does: a company's proxy may have a certificate of its own

REQUIREMENTS = (ROOT / "requirements-dev.txt").read_text().splitlines()
TOOLS = [line for line in REQUIREMENTS if line.startswith(("pytest", "hypothesis", "django-tasks"))]
POSTGRES_15 = Path("/usr/lib/postgresql/15/bin")
TESTS = [
    "tests/unit/private_apis",
    "tests/host/test_extras.py",
    "tests/database/alarms/test_sending.py",
    "tests/database/client/test_django_tasks.py",
    "tests/database/client/test_django_tasks_contract.py",
    "tests/database/worker/test_child.py",
    "tests/database/worker/test_transport.py",
    "tests/race/test_claim_race.py",
    "tests/race/test_settle_race.py",
    "tests/process/test_ends_of_processes.py::test_a_worker_that_is_told_to_stop_finishes_returns_and_interrupts",
]


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """With the servers of Debian 12."""
    redis = shutil.which("redis-server")
    if not POSTGRES_15.exists() or redis is None:
        session.skip("it needs PostgreSQL 15 and Redis 7: apt-get install postgresql-15 redis-server")
    if "v=7." not in str(session.run(redis, "--version", external=True, silent=True)):
        session.skip(f"{redis} is not Redis 7")
    _test(session, TEST_POSTGRES=str(POSTGRES_15), TEST_REDIS=redis)


@nox.session(python="3.12")
def middle(session: nox.Session) -> None:
    _test(session)


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """Whose worker spawns its children."""
    _test(session, TEST_START_METHOD="spawn")


@nox.session(python="3.13")
def unfold(session: nox.Session) -> None:
    """A project whose own admin has a release of django-unfold that the console isn't made for: it gets no console, and
    `check` says so."""
    session.install("-r", "requirements.txt", "--override", str(ROOT / "matrix" / "unfold.txt"))
    env = {"DJANGO_SETTINGS_MODULE": "tests.support.host.settings", "HOST_THEME": "themed", "HOST_PUNCTUAL": "core"}
    env |= {"SECRET_KEY": "only-for-tests", "REDIS_URL": "redis://", "DATABASE_URL": "postgresql://nobody@/nothing"}
    said = str(session.run("python", "-W", "error::DeprecationWarning", "-m", "django", "check", env=env, silent=True))
    if "punctual.I001" not in said:
        session.error(said)


def _test(session: nox.Session, **env: str) -> None:
    versions = ROOT / "matrix" / f"{session.name}.txt"
    session.install("-r", "requirements.txt", *TOOLS, "--override", str(versions))
    session.run("python", "-m", "pytest", "-q", *(session.posargs or TESTS), env=env)
