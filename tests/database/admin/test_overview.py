"""The overview and its charts."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import escape

from django_punctual import schedule, schedule_many
from tasks_app.models import HourFigures
from tests.support.clients import looked_at, page
from tests.support.engine import run_due
from tests.support.moves import dead, scheduled

pytestmark = pytest.mark.django_db


def test_the_first_page_says_that_nobody_dispatches_and_nobody_works(viewer):
    for text in (page(viewer, "/admin/"), looked_at(viewer, "/admin/")):
        assert "Nothing is dispatched" in text
        assert "No task can run" in text


def test_the_overview_shows_what_ran_failed_died_and_comes(viewer):
    dead("gone")
    schedule_many("T_QUIET", [{"key": n} for n in range(5)])
    run_due()
    scheduled("soon", delay=600)

    context = viewer.get("/admin/").context

    assert context["last_hour"].ok == 5
    assert context["status"].dead_shown == "1"
    assert [name for name, *_ in context["failing"]] == ["T_QUIET"]
    assert sum(context["charts"][2].series[0].values) == 1


def test_a_minute_of_the_chart_leads_to_the_tasks_that_ran_in_it(viewer):
    task = schedule("T_QUIET", "a").task_id
    run_due()

    chart = viewer.get("/admin/").context["charts"][0]
    [(_, _, url, words), *_] = chart.hits
    page = viewer.get("/admin/").content.decode()

    assert "Succeeded 1" in words
    assert page.count(escape(url)) == 4  # in both pictures, and in their tables
    assert [one.id for one in viewer.get(url).context["tasks"]] == [task]


def test_an_hour_of_the_charts_leads_to_its_tasks_and_the_range_is_in_the_address(viewer):
    task = schedule("T_QUIET", "a").task_id
    run_due()
    for days, ok in ((6, 20), (20, 300)):
        HourFigures.objects.create(
            hour=timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(days=days),
            batches=1,
            returned=0,
            ok=ok,
            failed=0,
            lateness=[0] * 40 + [ok],
        )

    for name, ok, points in (("24h", 1, 24), ("7d", 21, 168), ("30d", 321, 120)):
        answer = viewer.get(f"/admin/?range={name}", headers={"Punctual-Live": "1"})  # as an open page asks
        ran, late, _ = answer.context["charts"]
        assert ran.summary.startswith(f"{ok} succeeded and 0 failed in the last ")
        assert points <= len(ran.labels) <= points + 1
        assert f'<a href="?range={name}#charts" aria-current="true">' in answer.content.decode()
        assert "Nothing is known of the time before" in late.summary
        *_, (_, _, url, words) = ran.hits
        assert "Succeeded 1" in words
        assert [one.id for one in viewer.get(url).context["tasks"]] == [task]
    assert ran.hits[0][2] == ""  # what ran then is kept no longer

    refused = viewer.get("/admin/?range=2h")
    assert refused.status_code == 400
    assert "range=&#x27;2h&#x27; is not a time that the charts can show; take one of 1h, 24h, 7d, 30d." in (
        refused.content.decode()
    )
