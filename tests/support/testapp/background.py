"""Tasks as Django declares them. Not named `tasks`: a worker has to find this module by itself."""

from django_punctual.tasks import task
from tests.support.testapp.limited.tasks import slowly
from tests.support.testapp.models import Counter

SEEN: list[object] = []


class Declined(Exception):
    """Raised by a task."""


@task
def add(a: int, b: int = 0) -> int:
    SEEN.append((a, b))
    return a + b


@task()
async def add_later(a: int, b: int = 0) -> int:
    await Counter.objects.acount()
    return a + b


@task
def echo(*args, **kwargs):
    return {"args": args, "kwargs": kwargs}


@task(max_retry=0)
def fail(message: str) -> None:
    raise Declined(message)


@task(max_retry=0)
def leave(message: str) -> None:
    raise SystemExit(message)


@task(max_retry=0)
def fail_in_a_lambda() -> None:
    raise ValueError(ValueError("This task failed"))


@task(backoff=[60])
def fail_once(name: str) -> str:
    SEEN.append(name)
    if SEEN.count(name) == 1:
        raise ConnectionError(f"{name} is away")
    return name


@task
def give_a_function():
    return lambda: True


@task
def give(size: int) -> str:
    return "x" * size


@task(takes_context=True)
def know(context, attempt: int) -> str:
    assert context.attempt == attempt
    assert context.task.key
    return context.task_result.id


@task(takes_context=True)
async def know_later(context, attempt: int) -> str:
    assert context.attempt == attempt
    return context.task_result.id


@task(key="order")
def remind(order: int, text: str = "") -> None: ...


@task(key=("shop", "order"))
def ship(order: int, shop: str = "main", note: str = "") -> None: ...


@task(transactional=True)
def count(name: str) -> None:
    Counter.objects.create(name=name)


@task(encrypted=True)
def hush(secret: str) -> str:
    return f"{secret}!"


DECLARED = [
    *(add, add_later, echo, fail, leave, fail_in_a_lambda, fail_once, give_a_function, give, know, know_later, remind),
    *(ship, count, slowly, hush),
]
