"""The pages of recoveries: a list and a report, to look at only."""

import pytest

from tasks_app.core.recovery import Step
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.steps import Course
from tasks_app.lifecycle.recovery import begin
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/recovery/"


def test_recoveries_are_listed_with_their_reports():
    client = client_of(person("vera", "punctual.view_scheduletask"))
    assert "There was no recovery yet" in client.get(LIST).content.decode()
    begun = begin("INC-<7>", operator("the rack burnt"), from_step=Step.LETTERS).row
    assert "not done" in client.get(LIST).content.decode()
    recover(Course(begun, operator(), wait=lambda seconds: None))

    listed = client.get(LIST).content.decode()
    page = client.get(f"{LIST}{begun.id}/change/").content.decode()

    assert "INC-&lt;7&gt;" in listed and "not done" not in listed
    assert "the rack burnt" in page and "skipped: hold back what can wait" in page and "RECOVERY_COMPLETED" in page
    assert client.get(f"{LIST}{begun.id + 1}/change/").status_code == 404
    assert client.get(f"{LIST}add/").status_code == 403
    assert client_of(person("nobody")).get(LIST).status_code in (302, 403)
