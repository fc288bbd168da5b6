"""Uses of tasks_app that are wrong: mypy says so on each line that ends with `# wrong`, and on no other."""

from datetime import datetime, timedelta

from django_punctual import Backoff, Operator, Task, find, handler, schedule
from django_punctual.jobs import JobRequest, create_job
from django_punctual.rolling import outlook
from django_punctual.testing import assert_scheduled, fake_task, frozen_clock, run_due
from tests.typecheck.example_app import Mail, expire, index, remind, send, ship


def wrong(at: datetime) -> None:
    send.schedule("5")  # wrong: a string for a number
    send.schedule(order=5)  # wrong: no such parameter
    send.schedule()  # wrong: an argument is missing
    remind.schedule(5, at="tomorrow")  # wrong: no datetime
    remind.schedule("5", at=at)  # wrong: a string for a number, with an option
    remind.schedule(5, att=at)  # wrong: no such option
    send.options(dellay=60).schedule(5)  # wrong: no such option
    send.options(delay=60).schedule(5, at_most=1.5)  # wrong: a float for a Decimal
    remind.schedule_many([5])  # wrong: no arguments of remind
    remind.schedule_many([Mail.args("a@b")])  # wrong: arguments of another handler
    Mail.schedule(5)  # wrong: a number for a string
    Mail.options(at=at).schedule("a@b", cc="c@d")  # wrong: no such parameter
    ship(5)  # wrong: a direct call takes the task
    expire.schedule(at=at)  # wrong: no key
    index(fake_task())  # wrong: a list of tasks
    schedule("EXAMPLE_SEND", 5.5)  # wrong: a float is no key
    schedule("EXAMPLE_SEND", 5, delay="60")  # wrong: a string is no delay
    print(find("EXAMPLE_SEND", 5).status)  # noqa: T201  # wrong: it may be None
    create_job(JobRequest(task_type="EXAMPLE_SEND"), Operator("me", "why"))  # wrong: a job has a name
    outlook("EXAMPLE_SEND", 3600, 24)  # wrong: a timedelta
    run_due(retry=True)  # wrong: no such option
    assert_scheduled(5)  # wrong: no handler
    frozen_clock("2027-03-01").__enter__()  # wrong: no datetime


@handler("WRONG_TIMEOUT", timeout="10")  # wrong: a string for seconds
def timeout(task: Task) -> None: ...


@handler("WRONG_OPTION", time_out=10)  # wrong: no such option
def option(task: Task) -> None: ...


@handler("WRONG_BACKOFF", backoff=Backoff(base="1"), timeout=timedelta(1))  # wrong: a string for seconds
def backoff(task: Task) -> None: ...
