"""The language of the pages: what the browser asks for, what somebody has chosen, and what stays English."""

import re

import pytest
from django.test import RequestFactory

from tasks_app.core.schedule import in_zone
from tasks_app.engine.operations.jobs import pause_job
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.models import Campaign, SafeguardIncident, ScheduleTask
from tasks_app.pages.language import language_of
from tests.database.admin.test_job_pages import LIST, OPERATE, VIEW
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import by, make
from tests.support.moves import MONDAY, dead, scheduled

pytestmark = pytest.mark.django_db
TASKS = "/admin/punctual/scheduletask/"
RIGHTS = ("punctual.view_scheduletask", "punctual.operate_scheduletask")
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}


@pytest.fixture
def olga():
    return client_of(person("olga", VIEW, OPERATE, *RIGHTS))


def seen(client, path: str, headers: dict | None = None) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    assert "Accept-Language" in answer["Vary"]
    return answer.content.decode()


@pytest.mark.parametrize(
    ("asked", "cookie", "speaks"),
    [
        ("", "", "en-us"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh-hans"),
        ("zh-Hans-SG", "", "zh-hans"),
        ("en;q=0.5, zh;q=0.9", "", "zh-hans"),
        ("en-GB,zh;q=0.9", "", "en-us"),
        ("de,fr;q=0.9,zh;q=0.1", "", "zh-hans"),
        ("zh-TW", "", "en-us"),
        ("zh;q=0", "", "en-us"),
        ("zh;q=high", "", "en-us"),
        ("zh-CN", "en", "en-us"),
        ("en", "zh-hans", "zh-hans"),
        ("zh-CN", "tlh", "zh-hans"),
    ],
)
def test_a_page_speaks_the_first_language_of_the_browser_that_it_knows(asked, cookie, speaks):
    request = RequestFactory().get("/", headers={"Accept-Language": asked} if asked else {})
    if cookie:
        request.COOKIES["django_language"] = cookie

    assert language_of(request) == speaks


def test_a_project_decides_which_languages_there_are(settings):
    request = RequestFactory().get("/", headers=CHINESE)
    settings.LANGUAGES = [("en", "English"), ("de", "German")]
    assert language_of(request) == "en-us"

    settings.LANGUAGES = [("de", "German"), ("zh-hans", "Simplified Chinese")]
    settings.LANGUAGE_CODE = "de"
    assert language_of(request) == "zh-hans"
    assert language_of(RequestFactory().get("/")) == "en"
    settings.LANGUAGE_CODE = "zh-hans"
    assert language_of(RequestFactory().get("/")) == "zh-hans"


def test_the_pages_speak_chinese_to_a_browser_that_asks_for_it(olga):
    overview, tasks, jobs = (seen(olga, path, CHINESE) for path in ("/admin/", TASKS, LIST))

    assert 'lang="zh-hans"' in overview and "当前到期" in overview and "概览" in overview
    assert ">查询</button>" in tasks and "当前到期" in tasks  # the form's choices, too
    assert "任务定义" in jobs and "新建任务" in jobs
    assert "负载预测" in seen(olga, f"{LIST}forecast/", CHINESE)
    english = seen(olga, TASKS)
    assert ">Find</button>" in english and "查询" not in english


def test_what_is_wrong_is_said_in_the_language_of_the_page_and_leads_to_its_page(olga):
    dead("a", "b")
    status = read_status()

    chinese, english = seen(olga, "/admin/", CHINESE), seen(olga, "/admin/")

    assert "有 2 个任务成为死信。" in chinese and "tasks are dead" not in chinese
    assert "没有任务被分派：没有存活的调度节点。请启动" in chinese
    assert "没有告警规则涉及以下情况" in chinese and "Nobody is told" not in chinese
    assert re.search(r'<a href="/admin/punctual/dlqentry/">死信</a>', chinese)
    assert [str(one) for one in status.found if one.rule == "dead_tasks"] == [
        "2 tasks are dead. The page Dead letters says why they gave up, by cause; replay or discard them there."
    ]
    assert "2 tasks are dead. The page Dead letters" in english


def test_why_something_does_not_run_and_what_stands_above_every_page_is_said_in_chinese(olga):
    [task] = scheduled("later", at=MONDAY)
    job = make("stopped", every=300)
    pause_job(job.id, by("it is broken"))
    SafeguardIncident.objects.create(name="delay", sentence="Late.", figures={}, actions=[], stage=1, dry=True)
    at = in_zone(MONDAY, "UTC")

    chinese = seen(olga, f"{TASKS}{task}/change/?why=1", CHINESE)
    assert f"要到 {at} 才到期。" in chinese
    assert "保护规则 delay 已生效" in chinese and "Late. 按设置，它只提示而不采取行动。" in chinese
    assert "暂停：it is broken。" in seen(olga, f"{LIST}{job.id}/change/?why=1", CHINESE)
    english = seen(olga, f"{TASKS}{task}/change/?why=1")
    assert f"It is not due until {at}." in english and "Safeguard delay has been on for" in english
    assert str(why_task(ScheduleTask.objects.get(id=task)).words) == f"It is not due until {at}."


def test_what_is_said_to_one_person_is_not_said_to_the_next(olga):
    seen(olga, TASKS, CHINESE)

    assert ">Find</button>" in seen(olga, TASKS)
    gone = olga.get(f"{TASKS}12345/change/").content.decode()
    assert "There is no task" in gone and "data-topics" not in gone  # nor does it say later that it has gone
    assert "任务 &#x27;12345&#x27; 不存在" in olga.get(f"{TASKS}12345/change/", headers=CHINESE).content.decode()


def test_somebody_chooses_a_language_and_it_stays(olga):
    page = seen(olga, TASKS, CHINESE)
    assert 'action="/admin/language/"' in page and "English" in page

    answer = olga.post("/admin/language/", {"language": "en", "next": TASKS}, headers=CHINESE)

    assert answer.status_code == 302 and answer["Location"] == TASKS
    assert ">Find</button>" in seen(olga, TASKS, CHINESE)


def test_what_is_stored_is_english(olga):
    dead("a")
    given = {"verb": "retry", "scope": "matching", "filter": "state=DEAD"}

    shown = olga.post(f"{TASKS}order/", given, headers=CHINESE)
    hidden = {field.name: field.value() or "" for field in shown.context["form"].hidden_fields()}
    answer = olga.post(f"{TASKS}order/run/", hidden | {"reason": "all of them", "rate": "50"}, headers=CHINESE)

    assert shown.context["button"] == "立即重试 1 个任务"
    assert answer.status_code == 302
    assert Campaign.objects.get().selection == "State: Dead"


def test_a_schedule_is_told_by_its_cron_string_where_there_are_no_words_for_it(olga):
    make("cron", cron="0 9 * * 1-5", timezone="Asia/Shanghai")
    make("often", every=300)

    chinese, english = seen(olga, f"{LIST}?tenant=default", CHINESE), seen(olga, f"{LIST}?tenant=default")

    assert "Cron 0 9 * * 1-5，时区 Asia/Shanghai" in chinese and "每 300 秒" in chinese
    assert "Every 5 minutes" in english and "Cron" not in english


def test_the_api_speaks_english_whatever_the_browser_asks_for(olga):
    answer = olga.get("/api/v1/jobs/999999", headers=CHINESE)

    assert answer.status_code == 404
    assert answer.content.isascii()
