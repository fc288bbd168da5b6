"""The pages of panels: the forecast, the health panel, and what the form of a job says while one types."""

import re
from uuid import uuid4

import pytest

from tasks_app.models import JobDefinition
from tests.database.admin.test_job_pages import FORM, LIST, OPERATE, VIEW, form
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import make, nightly

pytestmark = pytest.mark.django_db
TASKS = "punctual.view_scheduletask"
FORECAST, DRAFT = f"{LIST}forecast/", f"{LIST}draft/"
PANEL = f"{LIST}panel/"
HEALTH = "/admin/punctual/node/health/"
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}


@pytest.fixture
def olga():
    return client_of(person("olga", VIEW, OPERATE))


def seen(client, path: str, **headers) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_everybody_at_midnight_is_seen_before_it_happens(olga):
    nightly(61)

    page = seen(olga, FORECAST)

    assert "61 firings in one minute." in page
    assert "At 00:00 every day (61 jobs)" in page
    assert re.search(r'00:00</th><td class="pu-heat-5">61</td>', page)
    assert "Not known: no worker is alive." in page


def test_an_empty_forecast_says_so(olga):
    assert "Nothing fires within the next 24 hours." in seen(olga, FORECAST)


def test_the_health_page_needs_the_rights_of_the_api_and_names_it(olga):
    assert olga.get(HEALTH).status_code == 403
    page = seen(client_of(person("vera", VIEW, TASKS)), HEALTH)

    assert '<punctual-health api="/api/v1" lang="en-us">' in page
    assert 'type="module"' in page


def test_the_short_form_is_for_those_who_may_create_jobs_over_the_api(olga):
    assert olga.get(PANEL).status_code == 403
    assert "panel/" not in seen(olga, LIST)
    both = client_of(person("anna", VIEW, OPERATE, TASKS, "punctual.operate_scheduletask"))

    page = seen(both, PANEL)
    assert re.search('<punctual-job api="/api/v1" lang="en-us" csrf-token="[^"]{20,}">', page)
    assert f'href="{PANEL}"' in seen(both, LIST)
    assert "完整表单" in seen(both, PANEL, **CHINESE)


def test_the_form_is_told_what_it_would_save_while_it_is_filled_in(olga):
    half = olga.post(DRAFT, {"cron": "0 9 * * MON", "timezone": "Europe/Berlin", "operation": str(uuid4())}).json()
    whole = olga.post(DRAFT, FORM | {"operation": str(uuid4())}).json()
    wrong = olga.post(DRAFT, FORM | {"cron": "61 * * * *", "payload": "{"}).json()
    worse = olga.post(DRAFT, FORM | {"cron": "61 * * * *", "timezone": "Mars", "backoff": "-1", "timeout": "0"}).json()

    assert half["words"] == "At 09:00 on Monday, Europe/Berlin time"
    assert (len(half["times"]), [one["field"] for one in half["errors"]]) == (5, ["name", "task_type"])
    assert (whole["errors"], len(whole["day"]["own"])) == ([], 96)
    assert ([one["field"] for one in wrong["errors"]], wrong["words"]) == (["payload", "cron"], None)
    assert {one["field"] for one in worse["errors"]} == {"backoff", "timeout", "cron", "timezone"}
    assert not JobDefinition.objects.exists()


def test_the_draft_of_a_job_that_is_there_is_not_its_own_rival(olga):
    job = make("report", cron="0 9 * * *")

    told = olga.post(f"{LIST}{job.id}/draft/", FORM | {"name": "report", "cron": "0 10 * * *"}).json()

    assert told["errors"] == []
    assert olga.post(f"{LIST}999999/draft/", FORM).status_code == 404


def test_a_draft_is_for_those_who_may_save_it(olga):
    vera = client_of(person("vera", VIEW))

    assert vera.post(DRAFT, FORM).status_code == 403
    assert (olga.get(DRAFT).status_code, olga.post(FORECAST).status_code) == (405, 405)
    assert olga.get(f"{FORECAST}?lane=low").status_code == 400


def test_whoever_saves_a_job_into_a_peak_is_told_and_led_to_a_form_with_the_jitter(olga):
    nightly(60)

    saved = olga.post(f"{LIST}add/", form(cron="0 0 * * *", timezone="UTC", reason="wanted"), follow=True)
    page = saved.content.decode()

    assert "It makes a peak worse." in page
    link = re.search(rf'href="({LIST}\d+/edit/\?jitter=(\d+))"', page)
    filled = olga.get(link[1]).content.decode()
    assert re.search(rf'name="jitter" value="{link[2]}"', filled)


def test_a_job_that_joins_no_peak_is_saved_without_a_word(olga):
    saved = olga.post(f"{LIST}add/", form(), follow=True).content.decode()

    assert "was saved" in saved
    assert "peak" not in saved
