"""Control characters: refused where a key, a name or a reason comes in, and never sent to a terminal or a log."""

import io
import logging
from argparse import Action, ArgumentParser
from logging.config import DictConfigurator
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command, load_command_class
from django.db import transaction

from django_punctual import InvalidTask, Operator, cancel, emit, ensure, find, reschedule, schedule, schedule_many
from django_punctual.jobs import JobRequest, create_job, trigger_job
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.operations.lanes import pause
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models import ApiToken, JobDefinition, LanePause, Node, ScheduleTask
from tests.support.api import JOB, Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import by, make

pytestmark = pytest.mark.django_db

CLEAR = "\x1b[2J"  # empties a terminal
# Those that act on a terminal, end a line or turn the text round.
BAD = [CLEAR, "\a", "a\nb", "\x9b2J", "\u202e", "\u2028"]
ROOT = Path(__file__).resolve().parents[3]
COMMANDS = [
    (path.parts[-4], path.stem) for path in ROOT.glob("*_app/management/commands/*.py") if path.stem != "__init__"
]


def doors(bad: str) -> dict:
    job = JobRequest(name="j", task_type="T_QUIET", every=60)
    return {
        "key": lambda: schedule("T_QUIET", bad),
        "keys": lambda: schedule_many("T_QUIET", [{"key": "a"}, {"key": bad}]),
        "moved key": lambda: reschedule("T_QUIET", bad, delay=1),
        "ensured key": lambda: ensure("T_QUIET", bad, delay=1),
        "idem_key": lambda: schedule("T_QUIET", "a", idem_key=bad),
        "tenant": lambda: schedule("T_QUIET", "a", tenant=bad),
        "by": lambda: cancel("T_QUIET", "a", by=bad),
        "operator": lambda: Operator(bad, "a test"),
        "job": lambda: create_job(JobRequest(name=bad, task_type="T_QUIET", every=60), by()),
        "job's tenant": lambda: create_job(job, by(), tenant=bad),
        "trigger": lambda: trigger_job(make("t").id, bad, by()),
        "event": lambda: emit(bad, {}),
        "token": lambda: issue(bad, "acme", by()),
        "token's tenant": lambda: issue("ci", bad, by()),
        "who pauses": lambda: pause("low", reason="a test", by=bad),
    }


@pytest.mark.parametrize("door", doors(""))
def test_no_door_takes_one_in_a_name(door):
    for bad in BAD:
        with pytest.raises(InvalidTask, match=r"control character '\\") as refused, transaction.atomic():
            doors(bad)[door]()

        assert str(refused.value).isprintable()


@pytest.mark.parametrize("bad", [CLEAR, "a\rb", "\x9b", "\u202e"])
def test_a_reason_may_have_lines_and_nothing_else(bad):
    for reason in ("one\ntwo", "one\r\ntwo\tthree"):
        Operator("olga", reason)
        cancel("T_QUIET", "a", reason=reason)
    for door in (lambda: Operator("olga", bad), lambda: cancel("T_QUIET", "a", reason=bad)):
        with pytest.raises(InvalidTask, match=r"control character '\\"):
            door()


def test_the_api_and_the_admin_refuse_them_too():
    api = Api()
    task = schedule("T_QUIET", "a", delay=3600).task_id

    assert api.post("/tasks", {"task_type": "T_QUIET", "key": CLEAR}).status == 422
    assert api.post("/jobs", JOB | {"name": CLEAR}).status == 422
    assert api.post(f"/tasks/{task}/cancel", {"reason": CLEAR}).status == 422
    rights = ("punctual.view_scheduletask", "punctual.operate_scheduletask")
    olga = client_of(person("olga", *rights))
    refused = olga.post("/admin/punctual/node/lane/low/", {"reason": CLEAR, "verb": "pause"})
    assert (refused.status_code, b"control character" in refused.content) == (400, True)
    assert ScheduleTask.objects.get().status == "INIT"


def test_what_was_stored_before_can_still_be_found_and_cancelled():
    task = schedule("T_QUIET", "a", delay=3600).task_id
    ScheduleTask.objects.update(biz_key=CLEAR)

    assert find("T_QUIET", CLEAR).id == task
    assert cancel("T_QUIET", CLEAR).cancelled


# ---- rows of before, on a terminal ----


def printed(*command: str) -> str:
    out, errors = io.StringIO(), io.StringIO()
    try:
        call_command(*command, stdout=out, stderr=errors)
    except (CommandError, SystemExit) as error:
        errors.write(str(error))
    return out.getvalue() + errors.getvalue()


@pytest.fixture
def rows_of_before() -> tuple[str, str]:
    """Every text that a command prints, with what would clear the terminal."""
    job, task = make(), schedule("T_QUIET", "a", delay=3600).task_id
    ScheduleTask.objects.update(status="CANCELLED", due_at=None, cancelled_by=f"by{CLEAR}", error_msg=f"why{CLEAR}")
    paused = {"status": "PAUSED", "pause_reason": f"why{CLEAR}", "paused_by": f"by{CLEAR}"}
    JobDefinition.objects.update(name=f"name{CLEAR}", **paused)
    LanePause.objects.create(lane="low", reason=f"why{CLEAR}\nAll is well.", paused_by=f"by{CLEAR}")
    issue("ci", "acme", by())
    ApiToken.objects.update(name=f"name{CLEAR}", tenant=f"t{CLEAR}")
    Node.objects.create(node_id="1" * 32, kind="WORKER", name=f"w{CLEAR}", slots=1, lanes=["low"])
    return str(task), str(job.id)


def test_no_command_sends_them_to_a_terminal(rows_of_before):
    task, job = rows_of_before
    told = [
        printed("why", task),
        printed("why", job, "--job"),
        printed("plan", "--preview", job),
        printed("plan", "--preview", CLEAR),
        printed("lane", "list"),
        printed("api_token", "list"),
        printed("scheduler_status"),
    ]

    for text in told:
        assert "\\x1b[2J" in text, text
        assert text.replace("\n", "").isprintable(), text
        assert "\nAll is well." not in text


def test_every_command_is_one_that_escapes_them():
    for app, name in COMMANDS:
        assert isinstance(load_command_class(app, name), TerminalCommand), name


@pytest.mark.parametrize(("app", "name"), COMMANDS)
def test_what_can_be_chosen_is_a_few_plain_words(app, name):
    """argparse prints the `repr` of each of them when something else is given."""
    command = load_command_class(app, name).create_parser("manage.py", name)
    parsers = [command, *(one for action in command._actions for one in _own_parsers(action))]
    chosen = [action.choices for parser in parsers for action in parser._actions if not _own_parsers(action)]

    for words in filter(None, chosen):
        assert len(words) <= 30 and {type(word) for word in words} <= {str, int}, words


def _own_parsers(action: Action) -> list[ArgumentParser]:
    return list(action.choices.values()) if isinstance(action.choices, dict) else []


def test_such_a_command_escapes_all_it_prints():
    class Loud(TerminalCommand):
        requires_system_checks = ()

        def handle(self, *args, **options) -> str:
            self.stdout.write(CLEAR)
            self.stderr.write(CLEAR)
            return f"one\ntwo{CLEAR}"

    out, errors = io.StringIO(), io.StringIO()
    call_command(Loud(), stdout=out, stderr=errors)
    assert (out.getvalue(), errors.getvalue()) == ("\\x1b[2J\none\ntwo\\x1b[2J\n", "\\x1b[2J\n")


def test_a_line_of_the_log_is_one_line_without_them():
    formatter = django_settings.LOGGING["formatters"]["text"]
    made = DictConfigurator({}).configure_formatter(dict(formatter))
    record = logging.LogRecord("x", logging.INFO, "", 0, "key=%s", (f"a{CLEAR}\n2027-01-01 forged",), None)

    assert made.format(record).endswith(r"key=a\x1b[2J\n2027-01-01 forged")
