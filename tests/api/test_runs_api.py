"""/runs: whole graphs, read and run again by programs; and jobs with parents."""

import pytest

from tasks_app.engine.operations.api_tokens import issue
from tests.support.api import Api
from tests.support.graphs import begun, child, ends, family, job_named, run_all
from tests.support.jobs import make
from tests.support.operators import operator as by

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_graph_is_made_run_and_run_again(api):
    root = api.post("/jobs", {"name": "extract", "task_type": "T_PLAIN", "every": 3600}).body
    made = api.post("/jobs", {"name": "report", "task_type": "T_PLAIN", "parents": ["extract"], "when": "all_done"})
    assert made.status == 201, made.body
    assert (made.body["parents"], made.body["when"], made.body["if_parent_fails"]) == (["extract"], "all_done", "wait")
    assert (made.body["words"], made.body["cron"], made.body["every"]) == ("After 'extract' has ended", None, None)
    edited = api.patch(f"/jobs/{made.body['id']}", {"when": "all_success"}, If_Match="1")
    assert edited.body["words"] == "After 'extract' has succeeded"
    assert api.get(f"/jobs/{made.body['id']}/preview").body["times"] == []

    ends("extract", "die")
    run = begun("extract")
    run_all()
    seen = api.get(f"/runs/{run.id}").body
    assert (seen["job"], seen["state"], seen["critical_path"]) == (root["id"], "stuck", ["extract"])
    assert [(one["name"], one["status"], one["waits_for"]) for one in seen["nodes"]] == [
        ("extract", "DEAD", []),
        ("report", "BLOCKED", ["extract"]),
    ]
    [listed] = api.get(f"/runs?job={root['id']}").body["items"]
    assert (listed["id"], listed["name"], listed["state"], listed["jobs"]) == (run.id, "extract", "stuck", 2)
    assert (listed["counts"], listed["failed"], listed["gone"]) == ({"BLOCKED": 1, "DEAD": 1}, 1, 0)

    answer = api.post(f"/runs/{run.id}/rerun", {"reason": "the source is back"}, Idempotency_Key="once")
    assert (answer.status, answer.body) == (200, {"started": ["extract"], "waiting": ["report"], "left": []})
    assert (
        api.post(f"/runs/{run.id}/rerun", {"reason": "the source is back"}, Idempotency_Key="once").body == answer.body
    )


def test_what_makes_no_sense_is_refused_with_the_reason(api):
    family(a=["root"])

    circle = api.patch(f"/jobs/{job_named('root').id}", {"parents": ["a"]}, If_Match="1")
    assert circle.status == 422
    assert "these jobs would wait for each other: 'root' → 'a' → 'root'" in circle.body["detail"]
    deleted = api.delete(f"/jobs/{job_named('root').id}")
    assert deleted.code == "SCH_409_HAS_CHILDREN"
    assert deleted.body["job"]["id"] == job_named("root").id


def test_a_page_of_runs_goes_on_where_the_last_ended(api):
    family(a=["root"])
    ids = [begun(key=f"k{n}").id for n in range(3)]

    first = api.get("/runs?limit=2").body
    rest = api.get(f"/runs?limit=2&after={first['next']}").body

    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None


def test_a_token_sees_a_run_only_if_it_may_see_all_of_it_and_waits_for_no_hidden_job():
    make("hidden", task_type="T_PLAIN", every=3600)
    child("below", "hidden", task_type="T_QUIET")
    run = begun("hidden")
    narrow = Api(token=issue("narrow", "default", by(), can_write=True, types=["T_QUIET"])[1])

    assert narrow.get(f"/runs/{run.id}").code == "SCH_404_NOT_FOUND"
    assert narrow.get("/runs").body["items"] == []
    refused = narrow.post("/jobs", {"name": "spy", "task_type": "T_QUIET", "parents": ["hidden"]})
    assert refused.status == 422
    assert refused.body["detail"] == "parents has 'hidden', but there is no job of that name."


def test_a_rerun_from_a_job_that_is_not_there_names_the_field(api):
    family(a=["root"])
    run = begun()
    run_all()

    answer = api.post(f"/runs/{run.id}/rerun", {"from_job": "roo"})

    assert (answer.status, answer.body["detail"]) == (
        422,
        f"from_job='roo': run {run.id} has no such job. Did you mean 'root'?",
    )
    assert answer.body["errors"] == [{"field": "from_job", "detail": answer.body["detail"]}]


def test_a_rerun_of_a_run_without_failures_says_what_to_give(api):
    family(a=["root"])
    run = begun()
    run_all()

    answer = api.post(f"/runs/{run.id}/rerun", {})

    assert answer.body["detail"] == (f"nothing of run {run.id} has failed. Name the job to run again from in from_job.")
