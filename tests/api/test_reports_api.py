"""What is reported of tasks that somebody else has: by a signed address, or with a token of the API."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from django_punctual import cancel
from tasks_app.core.away import Addresses, Run
from tasks_app.engine.addresses import addresses
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import ApiToken, AwayTask
from tests.support.api import Answer, Api
from tests.support.audit import deeds
from tests.support.engine import row
from tests.support.moves import AWAY, TYPE, away, claim_one, ids_of, settled, start, started, state

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _address(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": "https://scheduler.example.com/api/v1"}


def nobody() -> Api:
    """Who has no token."""
    api = Api(token="none")
    api.token = ""
    return api


def run_of(task: int) -> Run:
    found = row(task)
    return Run(found.tenant, found.token, found.id, found.batch_no or found.ran_in)


def paths(about: Run) -> Addresses:
    """Its signed addresses, from the API's root on."""
    return Addresses(*(one.removeprefix("https://scheduler.example.com/api/v1") for one in addresses(about)))


def handed_over(**options: object) -> tuple[int, Addresses]:
    [task] = ids_of(away("a", **options))
    return task, paths(run_of(task))


def ending(answer: Answer) -> tuple:
    return answer.status, answer.body.get("code"), answer.body.get("task")


@pytest.mark.parametrize("task_type", [TYPE, "T_CLOSED"])
def test_whoever_has_the_address_reports_without_a_token(task_type):
    task, to = handed_over(task_type=task_type, tenant="acme")

    progress = nobody().post(to.progress, {"lease": 60})
    done = nobody().post(to.complete, {"result": {"pages": 40}})

    assert progress.status == 200 and progress.body["task"] == task
    assert done.status == 200
    assert done.body == {"task": task, "outcome": "complete", "status": "SUCCESS", "due_at": None}
    assert (row(task).status, row(task).result) == ("SUCCESS", {"pages": 40})
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("verb", ["complete", "fail", "progress"])
def test_the_body_may_be_left_out(verb):
    _, to = handed_over()

    assert nobody().call("POST", getattr(to, verb)).status == 200


def test_a_failure_says_what_it_is():
    task, to = handed_over()
    body = {"code": "NO_FILE", "message": "film-7.mov is not there", "retryable": False, "tags": ["films"]}

    answer = nobody().post(to.fail, body)

    assert (answer.status, answer.body["status"], row(task).error_code) == (200, "DEAD", "NO_FILE")


def test_the_same_again_has_the_same_answer_to_the_letter_and_another_outcome_is_told_the_truth():
    task, to = handed_over()

    first = nobody().post(to.fail, {"code": "BUSY", "retry_after": 600})
    second = nobody().post(to.fail, {"retry_after": 600, "code": "BUSY"})
    other = nobody().post(to.complete)

    assert (first.status, first.body) == (second.status, second.body)
    there = {"id": task, "status": "FAIL", "live": True}
    assert ending(other) == (409, "SCH_409_NOT_AWAY", there)
    assert "fail. That one counts" in other.body["detail"]


def test_an_address_of_an_earlier_attempt_can_never_settle_a_later_one():
    task, earlier = handed_over()
    nobody().post(earlier.fail, {"retry_after": 0})
    settled(start(claim_one(), "worker"), AWAY)
    assert row(task).attempt == 1

    for verb in ("complete", "progress"):
        assert nobody().post(getattr(earlier, verb)).code == "SCH_409_NOT_AWAY"
    # What it may not do with its own address, it can't do by changing it either.
    later = run_of(task)
    for changed in ("run", "task", "tenant"):
        query = dict(part.split("=") for part in urlsplit(earlier.complete).query.split("&"))
        query[changed] = str({"run": later.run, "task": task + 1, "tenant": "acme"}[changed])
        url = earlier.complete.partition("?")[0] + "?" + "&".join(f"{name}={value}" for name, value in query.items())
        assert nobody().post(url).code == "SCH_401_UNAUTHENTICATED"

    assert state(task).status == "AWAY"
    assert nobody().post(paths(later).complete).status == 200


def test_an_address_is_good_for_nothing_else():
    task, to = handed_over()
    query = "?" + to.complete.partition("?")[2]

    for path in (f"/tasks/{task}", f"/tasks/{task}/cancel", "/tasks"):
        method = "POST" if path.endswith("cancel") else "GET"
        assert nobody().call(method, path + query).code == "SCH_401_UNAUTHENTICATED"


def test_after_a_cancel_the_answer_says_so():
    task, to = handed_over()
    cancel(TYPE, "a", reason="the order was withdrawn", by="olga")

    answer = nobody().post(to.complete)

    assert ending(answer) == (409, "SCH_409_NOT_AWAY", {"id": task, "status": "CANCELLED", "live": False})
    assert "cancelled by olga: the order was withdrawn" in answer.body["detail"]


def test_a_report_that_comes_before_the_worker_has_settled_is_taken():
    batch = started("a")
    [task] = ids_of(batch)

    answer = nobody().post(paths(run_of(task)).complete)
    settled(batch, AWAY)

    assert (answer.status, answer.body["status"], state(task).status) == (200, "RUNNING", "SUCCESS")


def test_a_token_of_the_tenant_reports_too_if_the_type_is_open_to_it(api):
    task, to = handed_over()
    unsigned = to.complete.partition("&signature=")[0].replace("&tenant=default", "")

    reader = Api(can_write=False)
    narrow = Api(token=issue("narrow", "default", Operator("olga", "test"), can_write=True, types=["T_PLAIN"])[1])
    assert nobody().post(unsigned).code == "SCH_401_UNAUTHENTICATED"
    assert reader.post(unsigned).code == "SCH_403_FORBIDDEN"
    assert narrow.post(unsigned).code == "SCH_404_NOT_FOUND"
    assert Api("acme").post(unsigned).code == "SCH_404_NOT_FOUND"
    assert api.post(unsigned + "&tenant=acme").code == "SCH_404_NOT_FOUND"
    assert api.post(unsigned).status == 200
    assert api.post(unsigned).status == 200
    [deed] = deeds().filter(task_id=task)
    assert (deed.actor, deed.verb, deed.outcome, deed.task_type) == ("token of default", "complete", "SUCCESS", TYPE)
    closed, to = handed_over(task_type="T_CLOSED")
    assert api.post(to.complete.partition("&signature=")[0]).code == "SCH_403_TYPE_CLOSED"
    assert state(closed).status == "AWAY"


@pytest.mark.parametrize(
    ("verb", "body", "words"),
    [
        ("complete", {"result": "x" * 5000}, "more than 4,096 bytes"),
        ("complete", {"reslut": 1}, "reslut"),
        ("fail", {"code": ""}, "code"),
        ("fail", {"tags": ["No Tag"]}, "the tag 'No Tag' won't do"),
        ("fail", {"retryable": "maybe"}, "retryable"),
        ("progress", {"lease": 40 * 86_400}, "lease"),
        ("progress", {"lease": True}, "lease"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(verb, body, words):
    task, to = handed_over()

    answer = nobody().post(getattr(to, verb), body)

    assert answer.code == "SCH_422_INVALID" and words in answer.body["detail"]
    assert state(task).status == "AWAY"


def test_a_task_that_is_away_tells_since_when_and_until_when(api):
    task, to = handed_over()
    nobody().post(to.progress, {"lease": 60})

    told = api.get(f"/tasks/{task}").body

    held = AwayTask.objects.get()
    assert (told["status"], told["live"], told["finish_time"], told["batch"]) == ("AWAY", True, None, str(held.run))
    assert told["away"]["until"] == held.until.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert held.until - timezone.now() <= timedelta(minutes=1)
    assert [one["id"] for one in api.get("/tasks?status=AWAY").body["items"]] == [task]
    assert api.get(f"/tasks/{task}/why").body["rule"] == "away"


def test_a_browser_that_is_logged_in_somewhere_needs_no_csrf_token_for_a_signed_address():
    _, to = handed_over()

    answer = Client(enforce_csrf_checks=True).post("/api/v1" + to.complete, content_type="application/json")

    assert answer.status_code == 200
