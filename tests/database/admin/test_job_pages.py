"""The pages of changes, asked as a browser would and by hand: what they show, who may do what, and bad input."""

import json
import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils import timezone

from django_punctual import schedule
from tasks_app.admin.job_forms import JsonField
from tasks_app.engine.watch.job_history import read_history
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.declared import remember
from tasks_app.models import AuditEntry, DeclaredJob, JobDefinition, ScheduleTask
from tasks_app.pages.links import console_url
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of, page
from tests.support.engine import make_due, run_due
from tests.support.jobs import by, fire_times, instances, make
from tests.support.live import a_beat_is_alive
from tests.support.members import browser

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
LIST = "/admin/punctual/jobdefinition/"
SCRIPT = "<script>alert(1)</script>"
FORM = {
    "tenant": "default",
    "name": "report",
    "task_type": "T_QUIET",
    "payload": '{"n": 1}',
    "cron": "0 9 * * MON-FRI",
    "timezone": "Europe/Berlin",
    "dst_gap": "shift",
    "dst_repeat": "once",
    "catch_up": "latest",
    "overlap": "skip",
    "backoff": "1, 5, 30",
    "timeout": "20",
    "reason": "wanted",
}


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE))


@pytest.fixture
def viewer():
    return client_of(person("vera", VIEW))


def form(**more) -> dict:
    return FORM | {"operation": str(uuid4())} | more


def order(**more) -> dict:
    return {"reason": "it has to be", "operation": str(uuid4())} | more


def order_path(job: JobDefinition, verb: str) -> str:
    return f"{LIST}{job.id}/order/{verb}/"


def ran(job: JobDefinition, *outcomes: str) -> None:
    """The job's first instances end like this, one after the other."""
    for task, outcome in zip(instances(job), outcomes, strict=False):
        ScheduleTask.objects.filter(id=task.id).update(
            payload={"do": outcome, "after": 60}, fire_time=task.fire_time - timedelta(hours=1)
        )
        make_due(task.id)
        run_due()


def test_the_list_shows_schedules_in_words_states_and_last_runs(viewer):
    job = make("weekly report", cron="0 9 * * MON", timezone="Europe/Berlin")
    often = make("often", every=10)
    ran(often, "ok", "retry", "die")
    verbs.pause(job.id, by("too loud", "bob"))
    make("acme's", tenant="acme")

    text = page(viewer, LIST)

    assert "At 09:00 on Monday, Europe/Berlin time" in text
    assert "Paused by bob: too loud" in text
    assert "The last 3 runs: 1 succeeded, 1 failed, to be tried again, 1 gave up" in text
    assert text.index("often") < text.index("weekly report")
    assert "acme&#x27;s" not in text
    assert "acme&#x27;s" in page(viewer, LIST, tenant="acme")
    assert "often" not in page(viewer, LIST, status="PAUSED")
    assert "weekly" not in page(viewer, LIST, name="of")
    assert "matches" in page(viewer, LIST, type="T_NONE")


def test_a_list_without_jobs_leads_to_a_new_one_unless_a_filter_is_why(viewer, operator):
    told, lead = "has no jobs yet", f'interval. <a href="{LIST}add/"'

    assert told in page(viewer, LIST) and lead not in page(viewer, LIST)
    assert lead in page(operator, LIST)
    assert told not in page(operator, LIST, type="T_NONE")


def test_the_rows_of_the_lists_lead_where_the_addresses_say(viewer, operator):
    job = make('{0} "a" & b', cron="0 3 1 1 *")
    quiet = verbs.pause(make("quiet", cron="0 3 1 1 *").id, by("too loud"))[0]
    task = schedule("T_QUIET", '{0} "k"', at=timezone.now() + timedelta(days=1)).task_id
    name = "{0} &quot;a&quot; &amp; b"

    text = page(operator, LIST)

    assert f'href="{console_url("punctual_jobdefinition_change", job.id)}"><bdi>{name}</bdi></a>' in text
    for words, verb, one in (
        (f"Pause {name}", "pause", job),
        (f"Run {name} now", "trigger", job),
        ("Resume quiet", "resume", quiet),
    ):
        assert f'href="{console_url("punctual_job_order", one.id, verb)}" aria-label="{words}"' in text, words
    assert f'value="{job.id}" aria-label="Select {name}"' in text
    assert f"{job.id}/order/" not in page(viewer, LIST) and 'name="ids"' not in page(viewer, LIST)
    sees_tasks = client_of(person("tom", "punctual.view_scheduletask"))
    where, tasks = (
        console_url("punctual_scheduletask_change", task),
        page(sees_tasks, "/admin/punctual/scheduletask/"),
    )
    assert f'href="{where}">{task}</a>' in tasks and "<bdi>{0} &quot;k&quot;</bdi>" in tasks


def test_every_page_of_the_list_is_linked_until_the_last(viewer, monkeypatch):
    monkeypatch.setattr("tasks_app.admin.jobs.PAGE", 2)
    for n in range(5):
        make(f"job-{n}", cron="0 3 1 1 *")

    seen, path = [], LIST
    while path:
        answer = viewer.get(path)
        seen += [job.name for job in answer.context["found"]]
        path = answer.context["next"] and f"{LIST}?{answer.context['next']}"

    assert seen == [f"job-{n}" for n in range(5)]


def test_a_page_tells_all_of_a_job(viewer, monkeypatch):
    monkeypatch.setattr("tasks_app.admin.jobs.HISTORY", 4)
    job = make(every=10, timeout=20, backoff=[1, 5], max_retry=7)
    verbs.edit(job.id, {"payload": {"n": 2}}, by("for n", "bob"))
    ran(job, "retry")

    answer = viewer.get(f"{LIST}{job.id}/change/")
    text = answer.content.decode()

    assert len(answer.context["preview"]) == 10
    for word in ("Every 10 seconds", "Fires next on", "for n", "bob", "after 1.0, 5.0 s", "20 s", "The last run: "):
        assert word in text
    assert "<code>payload</code>" in text
    older = viewer.get(f"{LIST}{job.id}/change/?after={answer.context['next'].replace('+', '%2B')}")
    shown = [task.id for task, _ in [*answer.context["instances"], *older.context["instances"]]]
    assert shown == [task.id for task in reversed(instances(job))][: len(shown)]
    assert len(shown) > 4


def test_a_page_says_which_file_declares_a_job_and_warns_before_it_is_changed_by_hand(operator):
    job = make(every=10)
    where = f"{LIST}{job.id}/"
    pages = [f"{where}change/", f"{where}edit/", order_path(job, "delete")]
    for path in pages:
        assert "eclared in" not in page(operator, path)
    remember(None, job, job.name, f"jobs.yaml {SCRIPT}", by(name="deploy"))
    DeclaredJob.objects.update(applied_at=job.created_at - timedelta(days=3))

    for path in pages:
        assert "eclared in <bdi>jobs.yaml" in page(operator, path) and SCRIPT not in page(operator, path)
    assert "applied 3\xa0days ago" in page(operator, pages[0])
    assert "Changed by hand since" not in page(operator, pages[0])
    assert "declared in" not in page(operator, order_path(job, "pause"))
    verbs.edit(job.id, {"lane": "high"}, by())
    assert "Changed by hand since: <bdi>lane</bdi>" in page(operator, pages[0])


def test_the_button_says_why_a_job_and_a_task_are_not_running(viewer):
    job = make(every=3600)
    task = schedule("T_QUIET", "a", delay=3600).task_id
    person_of_both = client_of(person("ida", VIEW, "punctual.view_scheduletask"))
    [path, task_path] = [f"{LIST}{job.id}/change/", f"/admin/punctual/scheduletask/{task}/change/"]

    for client, where, words in ((viewer, path, "no beat is alive"), (person_of_both, task_path, "not due until")):
        assert "Why is it not running?" in page(client, where)
        assert words not in page(client, where)
        assert words in page(client, where, why="1")


def test_an_instance_links_to_its_job():
    job = make(every=10)
    client = client_of(person("ida", VIEW, "punctual.view_scheduletask"))
    task = instances(job)[0]

    assert f'<a href="{LIST}{job.id}/change/">report</a>' in page(
        client, f"/admin/punctual/scheduletask/{task.id}/change/"
    )
    assert f"/admin/punctual/scheduletask/{task.id}/change/" in page(client, f"{LIST}{job.id}/change/")


def test_the_history_of_a_job_is_shown_by_day_with_a_way_to_each_instance():
    client = client_of(person("ida", VIEW, "punctual.view_scheduletask"))
    job = make(every=10, timezone="Asia/Tokyo")
    tasks = instances(job)[:4]
    ran(job, "ok", "ok", "die", "retry")
    day = datetime(2020, 3, 1, 16, tzinfo=UTC)  # the second of March there
    for n, (task, seconds) in enumerate(zip(tasks, (2, 4, 60, 9), strict=True)):
        at = day + timedelta(days=n // 3, minutes=n)
        ended = at + timedelta(seconds=seconds)
        ScheduleTask.objects.filter(id=task.id).update(fire_time=at, start_time=at, finish_time=ended)

    answer = client.get(f"{LIST}{job.id}/change/")
    text = " ".join(answer.content.decode().split())

    rows = {row.split("</th>")[0][-10:]: row for row in text.split("<tr>") if 'class="pu-cells"' in row}
    assert set(rows) == {"2020-03-02", "2020-03-03"}
    assert "2 succeeded, 1 gave up" in rows["2020-03-02"] and "1 failed, to be tried again" in rows["2020-03-03"]
    assert "<td>4 s</td> <td>60 s</td>" in rows["2020-03-02"]
    cell = f'<a class="pu-is-danger" href="/admin/punctual/scheduletask/{tasks[2].id}/change/"'
    assert f'{cell} title="2020-03-01 16:02:00 UTC: gave up, 60 s"' in rows["2020-03-02"]
    assert "Days are those of Asia/Tokyo." in text
    assert "Half of the runs of the last day took at most 9 s" in text
    assert answer.context["durations"].rows == [("2020-03-02", [4000.0, 60000.0]), ("2020-03-03", [9000.0, 9000.0])]


def test_of_a_busy_day_those_with_trouble_are_shown_and_a_day_that_was_cut_is_left_out(monkeypatch):
    monkeypatch.setattr("tasks_app.engine.watch.job_history.CELLS", 3)
    monkeypatch.setattr("tasks_app.engine.watch.job_history.LOOKED_AT", 6)
    job = make(every=10)
    at = datetime(2020, 3, 2, tzinfo=UTC)
    tasks = instances(job)[:6]
    ScheduleTask.objects.filter(job=job.id).update(fire_time=F("fire_time") + timedelta(days=900))
    for n, task in enumerate(tasks):
        when = at + timedelta(hours=n) if n else at - timedelta(hours=1)
        status = "CANCELLED" if n == 5 else "INIT"
        due = None if n == 5 else task.due_at
        ScheduleTask.objects.filter(id=task.id).update(fire_time=when, status=status, due_at=due)

    history = read_history(job.id, UTC)

    [day] = history.days
    assert history.cut
    assert (day.day, len(day.instances), day.left_out) == (at.date(), 5, 2)
    assert [one.task_id for one in day.cells] == [tasks[1].id, tasks[2].id, tasks[5].id]
    assert day.middle is None


def test_a_job_that_was_deleted_keeps_its_page_and_its_instances_lead_there(operator):
    client = client_of(person("ida", VIEW, "punctual.view_scheduletask"))
    job = make("gone", every=10)
    task = instances(job)[0]
    ran(job, "ok")
    verbs.delete(job.id, by(SCRIPT, "bob"))
    where = f"{LIST}{job.id}/change/"

    text = page(client, where)

    assert "gone, deleted" in text and "<strong><bdi>bob</bdi></strong>" in text and SCRIPT not in text
    assert f"/admin/punctual/scheduletask/{task.id}/change/" in text
    assert f'<a href="{where}">' in page(client, f"/admin/punctual/scheduletask/{task.id}/change/")
    assert "Edit" not in text
    assert "gone, deleted" in page(browser("viewer", "default"), where)
    page(browser("viewer", "acme"), where, 404)
    page(client, f"{LIST}{job.id + 1000}/change/", 404)
    page(operator, f"{LIST}{job.id}/edit/", 404)


def test_instances_are_called_by_their_job_and_firing():
    client = client_of(person("ida", VIEW, "punctual.view_scheduletask"))
    job = make("<b>nightly</b>", every=10)
    task = instances(job)[0]

    text = page(client, "/admin/punctual/scheduletask/", job=job.id)

    assert f'title="{task.biz_key}"><bdi>&lt;b&gt;nightly&lt;/b&gt;</bdi>, <time' in text


BULK = f"{LIST}bulk/"


def bulk(verb: str, *jobs: JobDefinition, **more) -> dict:
    return {"verb": verb, "ids": ",".join(str(job.id) for job in jobs), "confirmed": "True"} | order() | more


def test_several_jobs_are_paused_resumed_and_run_from_the_list_once_each(operator):
    one, two, three = (make(f"job {n}", every=3600) for n in range(3))
    text = page(operator, LIST)
    assert all(f'name="ids" value="{job.id}"' in text for job in (one, two, three))
    shown = operator.post(BULK, {"verb": "pause", "ids": [one.id, two.id]})
    assert shown.status_code == 200 and "Pause: 2 jobs" in shown.content.decode()
    assert shown.context["title"] == "Pause: job 0, job 1"
    assert not deeds().filter(verb="pause").exists()
    assert operator.post(BULK, bulk("pause", one, two, reason="")).status_code == 400

    given = bulk("pause", one, two)
    for _ in range(2):
        answer = operator.post(BULK, given, follow=True)

    assert "It was done when this form was sent first." in answer.content.decode()
    assert deeds().filter(verb="pause").count() == 2
    status = {job.name: job.status for job in JobDefinition.objects.all()}
    assert status == {"job 0": "PAUSED", "job 1": "PAUSED", "job 2": "ACTIVE"}

    refused = operator.post(BULK, bulk("trigger", two, three), follow=True).content.decode()
    assert refused.count("no beat is dispatching") == 2
    a_beat_is_alive()
    operator.post(BULK, bulk("resume", one, two))
    operator.post(BULK, bulk("trigger", *JobDefinition.objects.all()))
    assert deeds().filter(verb="trigger").count() == 3


def test_an_author_acts_on_their_own_jobs_of_the_list_and_on_no_others():
    author = browser("author", "default", "ada")
    own, others = make("own", every=3600), make("somebody else's", every=3600)
    JobDefinition.objects.filter(id=own.id).update(created_by="ada")
    foreign = make("foreign", every=3600, tenant="acme")

    author.post(BULK, bulk("pause", own, others, foreign))

    assert [job.name for job in JobDefinition.objects.filter(status="PAUSED")] == ["own"]
    assert [entry.subject for entry in deeds().filter(verb="pause")] == [f"job {own.id}"]
    text = page(author, LIST)
    assert f'name="ids" value="{own.id}"' in text and f'name="ids" value="{others.id}"' not in text
    assert "somebody else&#x27;s: " in author.post(BULK, bulk("resume", own, others), follow=True).content.decode()


@pytest.mark.parametrize("bad", [{"ids": "x"}, {"ids": ",".join(map(str, range(60)))}, {"verb": "delete"}])
def test_a_bad_order_for_several_jobs_is_refused(operator, bad):
    job = make(every=3600)

    assert operator.post(BULK, bulk("pause", job) | bad).status_code == 400
    assert operator.get(BULK).status_code == 405
    assert operator.post(BULK, {"verb": "pause"}).status_code == 302
    assert not deeds().filter(verb="pause").exists()


def test_who_may_only_look_acts_on_no_job_of_the_list(viewer):
    job = make(every=3600)

    assert viewer.post(BULK, bulk("pause", job)).status_code == 403
    assert "Act on the selected jobs" not in page(viewer, LIST)
    assert JobDefinition.objects.get().status == "ACTIVE"


def test_the_list_is_sorted_by_last_result_lateness_and_next_firing(viewer, monkeypatch):
    often, paused = make("a often", every=10), make("c paused", every=10)
    make("b seldom", every=86400)
    verbs.pause(paused.id, by())
    ran(often, "ok")
    make("d never", cron="0 3 1 1 *")
    died = make("e died", every=10)
    ran(died, "die")
    past = timezone.now() - timedelta(minutes=10)
    ScheduleTask.objects.filter(job=often.id, status="SUCCESS").update(
        claimed_due=past, start_time=past + timedelta(seconds=90)
    )

    def names(sort: str) -> list[str]:
        return [job.name[0] for job in viewer.get(LIST, {"sort": sort}).context["found"]]

    assert names("") == list("abcde")
    assert names("result")[0] == "e" and names("result")[1] == "a"
    assert names("lateness")[0] == "a"
    assert names("next")[-1] == "c" and names("next").index("d") > names("next").index("b") > names("next").index("a")
    monkeypatch.setattr("tasks_app.engine.watch.job_browse.MOST_SORTED", 2)
    text = page(viewer, LIST, sort="next")
    assert "Sorted among the first" in text and "d never" not in text
    assert "is not one of the available choices" in page(viewer, LIST, sort="color")


def test_a_duplicate_begins_as_the_job_is_and_changes_nothing_until_it_is_saved(operator):
    job = make("nightly", cron="0 3 * * *", timezone="Asia/Tokyo", payload={"n": 7}, max_retry=2)
    assert f"?like={job.id}" in page(operator, f"{LIST}{job.id}/change/")

    form = operator.get(f"{LIST}add/", {"like": job.id}).context["form"]

    given = {name: form[name].value() for name in form.fields}
    assert (given["name"], given["cron"], given["timezone"]) == ("nightly, a copy", "0 3 * * *", "Asia/Tokyo")
    assert json.loads(given["payload"]) == {"n": 7}
    assert JobDefinition.objects.count() == 1
    sent = {name: "" if value is None else value for name, value in given.items()} | {"reason": "a second one"}
    assert operator.post(f"{LIST}add/", sent).status_code == 302
    assert JobDefinition.objects.get(name="nightly, a copy").payload == {"n": 7}
    page(operator, f"{LIST}add/", 404, like=job.id + 1000)


def test_a_run_by_hand_begins_with_the_jobs_payload_to_be_edited(operator):
    a_beat_is_alive()
    job = make("nightly", every=3600, payload={"n": 7})
    assert "&quot;n&quot;: 7" in page(operator, order_path(job, "trigger"))

    for payload in ('{"n": 7}', '{"n": 8}'):
        assert operator.post(order_path(job, "trigger"), order(payload=payload)).status_code == 302

    made = [task for task in instances(job) if task.manual]
    assert sorted(task.payload["n"] for task in made) == [7, 8]


def test_a_script_is_shown_and_not_run(viewer, operator):
    job = make(SCRIPT, every=10, payload={"x": SCRIPT})
    verbs.pause(job.id, by(SCRIPT, SCRIPT))

    for client, path in (
        (viewer, LIST),
        (viewer, f"{LIST}{job.id}/change/"),
        (operator, f"{LIST}{job.id}/edit/"),
        (operator, order_path(job, "resume")),
    ):
        text = page(client, path)
        assert SCRIPT not in text
        assert "&lt;script&gt;" in text


def test_a_job_is_made_with_a_form(operator):
    answer = operator.post(f"{LIST}add/", form())

    job = JobDefinition.objects.get()
    assert answer.url == f"{LIST}{job.id}/change/"
    assert (job.cron, job.payload, job.backoff, job.timeout) == ("0 9 * * MON-FRI", {"n": 1}, [1, 5, 30], 20)
    entry = deeds().get()
    assert (entry.actor, entry.verb, entry.reason) == ("olga", "create", "wanted")


def test_the_next_times_can_be_seen_before_anything_is_saved(operator):
    answer = operator.post(f"{LIST}add/", form(preview="1", reason=""))

    assert answer.status_code == 200
    assert b"novalidate" in answer.content  # the browser doesn't ask for a reason first
    assert len(answer.context["times"]) == 10
    assert "09:00 CE" in answer.context["times"][0]
    assert not JobDefinition.objects.exists()
    refused = operator.post(f"{LIST}add/", form(preview="1", cron="0 0 30 2 *"))
    assert refused.status_code == 400
    assert b"never fires" in refused.content


BAD_JOBS = [
    ({"name": ""}, "name", "required"),
    ({"name": "x" * 10_000}, "name", "150"),
    ({"name": "a\0b"}, "name", "Null characters"),
    ({"name": "taken"}, "name", "already"),
    ({"reason": " "}, "reason", "why"),
    ({"cron": "0 0 30 2 *"}, "cron", "never fires"),
    ({"cron": "* * *"}, "cron", "3 fields"),
    ({"cron": "", "every": ""}, "cron", "exactly one"),
    ({"every": "60"}, "cron", "exactly one"),
    ({"cron": "", "every": "-5"}, "every", "whole number"),
    ({"timezone": "Mars/Olympus"}, "timezone", "not known"),
    ({"task_type": "T_QUIT"}, "task_type", "T_QUIET"),
    ({"payload": "{"}, "payload", "not JSON"),
    ({"payload": '{"a": "\\u0000"}'}, "payload", "NUL"),
    ({"backoff": "1; 2"}, "backoff", "1, 5, 30"),
    ({"backoff": "-1"}, "backoff", "0 seconds or more"),
    ({"backoff": "nan"}, "backoff", "0 seconds or more"),
    ({"timeout": "0"}, "timeout", "more than 0"),
    ({"timeout": "5", "task_type": "T_BATCH"}, "timeout", "one call for many"),
    ({"max_retry": "-1"}, "max_retry", "max_retry"),
    ({"jitter": "999999"}, "jitter", "jitter"),
    ({"catch_up": "maybe"}, "catch_up", "maybe"),
    ({"overlap": "maybe"}, "overlap", "maybe"),
    ({"start_at": "soon"}, "start_at", "is not a time"),
    ({"start_at": "9999-12-31T23:59"}, "start_at", "a hundred years ahead"),
    ({"start_at": "2090-01-02T00:00", "end_at": "2090-01-01T00:00"}, "end_at", "never fire"),
    ({"operation": "x"}, "operation", "UUID"),
    ({"tenant": "x" * 64}, "tenant", "63"),
]


def test_a_bad_job_is_refused_beside_the_field_and_nothing_is_written(operator):
    make("taken", cron="0 3 1 1 *")

    for bad, field, words in BAD_JOBS:
        answer = operator.post(f"{LIST}add/", form(**bad))

        assert answer.status_code == 400, bad
        assert words in " ".join(answer.context["form"].errors[field]), bad
        assert b'role="alert"' in answer.content, bad
        assert JobDefinition.objects.count() == deeds().count() == 1, bad


@pytest.mark.parametrize("payload", ["[]", '""', "0", "{}"])
def test_a_payload_that_says_little_is_kept(operator, payload):
    assert operator.post(f"{LIST}add/", form(payload=payload)).status_code == 302

    assert JobDefinition.objects.get().payload == json.loads(payload)


def test_an_edit_changes_what_was_changed_and_nothing_else(operator):
    job = make(every=60, start_at=None, payload={"n": 1, "m": [1, 2]})
    before = fire_times(job)
    shown = operator.get(f"{LIST}{job.id}/edit/").context["form"]
    given = {name: shown[name].value() for name in shown.fields}
    given = {name: "" if value is None else value for name, value in given.items()}
    given["payload"] = given["payload"].replace("\n", "\r\n")  # as browsers send it

    same = operator.post(f"{LIST}{job.id}/edit/", given | {"reason": "nothing"})
    assert b"nothing has changed, so" in same.content
    saved = operator.post(f"{LIST}{job.id}/edit/", given | {"reason": "louder", "lane": "high"})

    assert saved.status_code == 302
    job.refresh_from_db()
    assert (job.lane, job.every, job.payload, job.revision) == ("high", 60, {"n": 1, "m": [1, 2]}, 2)
    assert fire_times(job) == before
    entry = AuditEntry.objects.get(verb="edit")
    assert (entry.actor, entry.detail["before"]["lane"], entry.detail["after"]["lane"]) == ("olga", "default", "high")


def test_the_form_has_every_digit_of_a_delay(operator):
    job = make(every=60, backoff=[0.5, 30, 1_234_567.25, 2_592_000])

    answer = operator.get(f"{LIST}{job.id}/edit/")

    assert answer.context["form"]["backoff"].value() == "0.5, 30, 1234567.25, 2592000"


def test_an_edit_of_what_somebody_else_has_changed_is_refused(operator):
    job = make(every=60)
    given = form(tenant="", cron="", every="90", revision="1", backoff="", timeout="")
    verbs.edit(job.id, {"every": 70}, by())

    for revision in ("1", ""):
        answer = operator.post(f"{LIST}{job.id}/edit/", given | {"revision": revision, "operation": str(uuid4())})
        assert answer.status_code == 400
        assert b"somebody changed it" in answer.content
    assert JobDefinition.objects.get().every == 70


def test_a_job_is_paused_resumed_triggered_and_deleted_with_a_reason(operator):
    a_beat_is_alive()
    job = make(every=10)

    operator.post(order_path(job, "pause"), order(until="2090-01-01T09:00", on_resume="latest"))
    job.refresh_from_db()
    assert (job.status, job.pause_reason, job.paused_by, job.on_resume) == ("PAUSED", "it has to be", "olga", "latest")
    assert "Resume …" in page(operator, f"{LIST}{job.id}/change/")

    operator.post(order_path(job, "trigger"), order(payload='{"n": 9}'))
    [task] = instances(job)
    assert (task.payload, ":m:" in task.biz_key) == ({"n": 9}, True)

    operator.post(order_path(job, "resume"), order(on_resume="skip"))
    job.refresh_from_db()
    assert job.status == "ACTIVE"
    answer = operator.post(order_path(job, "delete"), order())

    assert answer.url == LIST
    assert not JobDefinition.objects.exists()
    verbs = deeds().order_by("id").values_list("verb", "actor")
    assert list(verbs)[1:] == [(verb, "olga") for verb in ("pause", "trigger", "resume", "delete")]


def test_a_jobs_page_says_what_it_does_about_overlap_and_a_trigger_may_do_otherwise(operator):
    a_beat_is_alive()
    job = make(every=3600, overlap="skip")

    assert "Skip the firing" in page(operator, f"{LIST}{job.id}/change/")
    assert "If another instance is under way" in page(operator, order_path(job, "trigger"))
    for given in ("", "allow"):
        operator.post(order_path(job, "trigger"), order(overlap=given))

    assert [task.status for task in instances(job)] == ["BLOCKED", "INIT"]


def test_an_order_that_is_sent_twice_acts_once(operator):
    a_beat_is_alive()
    job = make(every=3600)
    given, made = order(), form(name="twice")

    for _ in range(2):
        assert operator.post(order_path(job, "trigger"), given).status_code == 302
        assert operator.post(f"{LIST}add/", made).status_code == 302

    assert AuditEntry.objects.filter(verb="trigger").count() == 1
    assert ScheduleTask.objects.filter(biz_key__contains=":m:").count() == 1
    assert JobDefinition.objects.filter(name="twice").count() == 1


def test_a_trigger_while_nobody_dispatches_is_refused(operator):
    job = make(every=3600)

    answer = operator.post(order_path(job, "trigger"), order())

    assert answer.status_code == 400
    assert b"no beat is dispatching" in answer.content
    assert instances(job) == []


BAD_ORDERS = [
    ("pause", {"reason": ""}),
    ("pause", {"reason": "a\0b"}),
    ("pause", {"reason": "x" * 1001}),
    ("pause", {"operation": ""}),
    ("pause", {"until": "later"}),
    ("pause", {"until": "2000-01-01T00:00"}),
    ("pause", {"on_resume": "maybe"}),
    ("trigger", {"payload": "{"}),
    ("trigger", {"overlap": "maybe"}),
]


def test_a_bad_order_is_refused_and_changes_nothing(operator):
    a_beat_is_alive()
    job = make(every=10)
    before = fire_times(job)

    for verb, bad in BAD_ORDERS:
        answer = operator.post(order_path(job, verb), order() | bad)

        assert answer.status_code == 400, bad
        assert b'role="alert"' in answer.content, bad
        assert fire_times(job) == before, bad
        assert deeds().count() == 1, bad


@pytest.mark.parametrize(
    "path", ["999999/change/", "x/change/", "999999/edit/", "999999/order/pause/", "1/order/sing/"]
)
def test_what_is_not_there_is_not_found(operator, path):
    page(operator, LIST + path, code=404)


@pytest.mark.parametrize(
    "after", ["x", "2026-01-01T00:00:00~1", "2026-01-01T00:00:00+00:00~x", "~", "2~-1", "0001-01-01T00:00:00+23:59~1"]
)
def test_a_place_that_is_none_is_refused(viewer, after):
    page(viewer, f"{LIST}{make().id}/change/", code=400, after=after)


def test_a_name_with_a_nul_is_no_place_in_the_list(viewer):
    page(viewer, LIST, code=400, after="a\0")


# ---- rights ----


def test_without_the_right_to_view_there_is_nothing_to_see():
    job = make()
    for client in (client_of(person("sam")), client_of(person("tom", "punctual.view_scheduletask"))):
        for path in (LIST, f"{LIST}{job.id}/change/", f"{LIST}add/", f"{LIST}{job.id}/edit/", order_path(job, "pause")):
            page(client, path, code=403)
        assert "/jobdefinition/" not in page(client, "/admin/")


@pytest.mark.parametrize("who", [(VIEW,), (OPERATE,)], ids=["viewer", "operate alone"])
def test_who_may_not_operate_changes_nothing_even_by_hand(who):
    a_beat_is_alive()
    job = make(every=10)
    client, before = client_of(person("vera", *who)), fire_times(job)

    for verb in ("pause", "resume", "trigger", "delete"):
        assert client.post(order_path(job, verb), order()).status_code == 403
    assert client.post(f"{LIST}add/", form(name="mine")).status_code == 403
    assert client.post(f"{LIST}{job.id}/edit/", form(tenant="", revision="1")).status_code == 403
    client.post(f"{LIST}{job.id}/delete/", {"post": "yes"})

    assert fire_times(job) == before
    assert deeds().count() == 1


def test_who_may_only_look_is_offered_nothing_to_do(viewer, operator):
    job = make()
    for path in (LIST, f"{LIST}{job.id}/change/"):
        words = "New job" if path == LIST else "/order/pause/"
        assert words not in page(viewer, path)
        assert words in page(operator, path)


def test_an_order_needs_a_form_of_ours():
    client = client_of(person("olga", VIEW, OPERATE), enforce_csrf_checks=True)
    job = make(every=10)

    assert client.post(order_path(job, "pause"), order()).status_code == 403
    assert client.post(f"{LIST}add/", form()).status_code == 403
    assert JobDefinition.objects.get().status == "ACTIVE"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"[{' ' * 1_000_000}]",
            "It has 1,000,002 characters; at most 1,000,000 are allowed. Keep the data in a table",
        ),
        (f"[{'0,' * 300_000}0]", "It has 300,002 parts (values, lists and objects); at most 250,000 are allowed. Keep"),
    ],
    ids=["long", "many"],
)
def test_a_payload_beyond_the_limits_is_refused_before_it_is_read(text, told):
    field = JsonField()

    with pytest.raises(ValidationError, match=re.escape(told)):
        field.clean(text)
    assert field.has_changed("[]", text)
