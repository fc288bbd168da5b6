"""The API keeps to its own schema, whatever is sent to it; and the page about it names every code there is."""

import re
from pathlib import Path

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, settings
from schemathesis import checks

from django_punctual import schedule
from tasks_app.api.problems import CODES
from tests.support.api import Api
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.scale import FULL, some
from tests.support.schema import OPERATIONS, SCHEMA

pytest_plugins = ["schemathesis.pytest.plugin"]
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "api.md"

# In full, every edge of every field of every operation is tried as well: minutes, so `make prove` does it. That the
# examples are taken, and answered by the schema, test_examples.py says.
CONFIG = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": FULL}, "examples": {"enabled": FULL}}})

schema = schemathesis.openapi.from_dict(SCHEMA, config=CONFIG)
schema.app = get_wsgi_application()
tried = schema.include(operation_id=[one.id for one in some(OPERATIONS, 0, of=16)])
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture
def world(transactional_db):
    a_beat_is_alive()
    return Api().token, make().id, schedule("T_QUIET", "a", delay=3600).task_id


@commits  # the real WSGI application closes its connection after a request
@tried.parametrize()
@settings(max_examples=100 if FULL else 2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_server_error_and_no_answer_against_the_schema(case, world):
    token, job, task = world
    # A random id is nobody's: about half of the requests go to what is there.
    for name, id_ in (("job_id", job), ("task_id", task)):
        given = (case.path_parameters or {}).get(name)
        if isinstance(given, int) and given % 2:
            case.path_parameters[name] = id_
    if isinstance(case.body, dict) and len(str(case.body.get("task_type"))) % 2:
        case.body["task_type"] = "T_QUIET"

    case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)


def test_the_page_about_the_api_names_every_code_and_every_endpoint():
    page = PAGE.read_text()

    assert set(re.findall(r"`(SCH_\d{3}_\w+)`", page)) == set(CODES)
    for one in OPERATIONS:
        assert f"`{one.method} {one.path}`" in page, one.id
