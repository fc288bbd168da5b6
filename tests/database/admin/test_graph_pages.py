"""The pages of graphs: the picture and the list beside it, a run, and the order to run it again."""

import re
from uuid import uuid4

import pytest

from tasks_app.models import AnyTask, AuditEntry, JobDefinition
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.graphs import begun, ends, family, job_named, run_all, states, tasks
from tests.support.jobs import make

pytestmark = pytest.mark.django_db(transaction=True)

VIEW, OPERATE = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
SEES_TASKS = "punctual.view_scheduletask"
JOBS, RUNS = "/admin/punctual/jobdefinition/", "/admin/punctual/graphrun/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE, SEES_TASKS))


@pytest.fixture
def viewer():
    return client_of(person("vera", VIEW))


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_page_of_a_job_shows_its_graph_as_a_picture_and_as_a_list(viewer):
    family(**{"left": ["root"], SCRIPT: ["root"], "last": ["left", SCRIPT]})

    html = viewer.get(f"{JOBS}{job_named('left').id}/change/").content.decode()

    assert html.count('<g class="pu-node') == 4
    assert html.count("pu-arrow") == 4
    assert SCRIPT not in html
    listed = text_of(html[html.index("As a list") :])
    assert "left (this job) , after root" in listed
    assert "last , after left" in listed
    assert "It runs when all of its parents have succeeded; if one fails, it waits." in text_of(html)
    assert "After &#x27;root&#x27; has succeeded" in html


def test_a_job_without_a_graph_has_no_picture(viewer):
    job = make()

    assert "pu-graph" not in viewer.get(f"{JOBS}{job.id}/change/").content.decode()


def test_a_run_is_listed_and_has_a_page_with_its_state_and_its_critical_path(viewer, operator):
    family(a=["root"], b=["a"])
    ends("a", "die")
    run = begun()
    run_all()

    listed = text_of(viewer.get(f"{RUNS}?job={run.job}").content.decode())
    assert f"{run.id} root stuck" in listed
    html = operator.get(f"{RUNS}{run.id}/change/").content.decode()
    page = text_of(html)
    assert "Something failed, and what comes after it waits until somebody acts." in page
    assert "root → a" in page
    assert "b BLOCKED , after a ; waits for a" in page
    assert f"/admin/punctual/scheduletask/{tasks()['a'].id}/change/" in html
    assert "scheduletask" not in viewer.get(f"{RUNS}{run.id}/change/").content.decode().split("When each job ran")[1]


def test_a_run_is_run_again_by_those_who_may(viewer, operator):
    family(a=["root"], b=["a"])
    ends("a", "die")
    run = begun()
    run_all()
    JobDefinition.objects.update(payload={})
    where = f"{RUNS}{run.id}/rerun/"

    assert viewer.get(where).status_code == 403
    assert operator.get(where).status_code == 200
    assert operator.post(where, {"from_job": "", "reason": "", "operation": str(uuid4())}).status_code == 400
    refused = operator.post(where, {"from_job": "b", "reason": "again", "operation": str(uuid4())})
    assert refused.status_code == 400
    assert "is BLOCKED, so it can" in refused.content.decode()
    done = operator.post(where, {"from_job": "", "reason": "it is back", "operation": str(uuid4())}, follow=True)
    assert "a of run" in done.content.decode()
    assert states() == {"root": "SUCCESS", "a": "INIT", "b": "BLOCKED"}


def test_the_form_to_run_it_again_counts_once(operator):
    family(a=["root"])
    run = begun()
    run_all()
    form = {"from_job": "a", "reason": "once more", "operation": str(uuid4())}
    where = f"{RUNS}{run.id}/rerun/"

    operator.post(where, form)
    run_all()
    again = operator.post(where, form, follow=True)

    assert "started again when this form was sent first." in again.content.decode()
    assert AnyTask.objects.filter(job=job_named("a").id).count() == 2
    assert AuditEntry.objects.filter(verb="rerun").count() == 1


def test_parents_are_typed_one_a_line_and_wrong_ones_are_told_beside_the_field(operator):
    make("extract", every=3600)
    form = {"tenant": "default", "name": "report", "task_type": "T_QUIET", "timezone": "UTC", "dst_gap": "shift"}
    form |= {"dst_repeat": "once", "catch_up": "latest", "reason": "wanted", "when": "all_done"}
    form |= {"overlap": "allow", "on_day_off": "skip"}
    form["operation"] = "0c1d3b0e-6a0c-4f0e-9a51-0d3c6f1b7a10"

    refused = operator.post(f"{JOBS}add/", form | {"parents": "extrakt"})
    assert "Did you mean &#x27;extract&#x27;?" in refused.content.decode()
    operator.post(f"{JOBS}add/", form | {"parents": "extract\n", "if_parent_fails": "cancel"})

    job = job_named("report")
    assert (job.has_parents, job.when, job.if_parent_fails) == (True, "all_done", "cancel")
    edit = operator.get(f"{JOBS}{job.id}/edit/").content.decode()
    assert "extract</textarea>" in edit.replace("\n", "")


@pytest.mark.parametrize("where", ["?after=x", "?job=x", "0/change/", "x/change/", "999/rerun/"])
def test_bad_input_is_refused(operator, where):
    assert operator.get(RUNS + where).status_code in (200, 400, 404, 302)


def test_the_page_of_a_task_links_its_run(operator):
    family(a=["root"])
    run = begun()

    html = operator.get(f"/admin/punctual/scheduletask/{tasks()['a'].id}/change/").content.decode()

    assert f"{RUNS}{run.id}/change/" in html


def test_a_run_has_a_bar_for_each_job_that_could_start_and_the_times_are_those_of_its_tasks(operator):
    family(**{"a": ["root"], "b": ["root"], SCRIPT: ["a", "b"], "last": [SCRIPT]})
    JobDefinition.objects.filter(name=SCRIPT).update(payload={"do": "retry", "after": 3600})
    run = begun()
    run_all()
    ran = tasks()

    answer = operator.get(f"{RUNS}{run.id}/change/")
    shown, html = answer.context["gantt"], answer.content.decode()

    bars = {one.part.name: one.part for one in shown.bars}
    assert set(bars) == {"root", "a", "b", SCRIPT}  # the last one waits for a success
    assert html.count('<g class="pu-bar') == 4 and SCRIPT not in html
    for name in ("root", "a", "b"):
        assert (bars[name].began, bars[name].ended) == (ran[name].start_time, ran[name].finish_time)
        assert bars[name].allowed <= bars[name].began
    assert bars["a"].allowed == bars["b"].allowed == ran["root"].finish_time
    assert bars[SCRIPT].allowed == max(ran["a"].finish_time, ran["b"].finish_time)
    assert (bars[SCRIPT].began, bars[SCRIPT].ended) == (None, None)  # it waits for its next try
    assert [one.critical for one in bars.values()].count(True) == 2
    assert html.count(f'<a href="/admin/punctual/scheduletask/{ran["a"].id}/change/">') == 2  # the table, the list
