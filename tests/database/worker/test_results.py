"""What a handler returns is kept with its task, in every mode; and whatever it returns, the task has succeeded."""

import logging
from dataclasses import dataclass

import pytest

from django_punctual import BaseHandler, Result, Task, find, handler, schedule, schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.result import DEEPEST, LONGEST
from tasks_app.engine.worker import results
from tasks_app.models import AnyTask
from tests.support.engine import make_due, row, run_due

pytestmark = pytest.mark.django_db(transaction=True)

TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
PER_TASK = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_WRITE"]
BATCHES = ["T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]
EVERY_MODE = [*PER_TASK, *BATCHES, *TWO_PHASES]


def mixed(task_type: str, *payloads: dict) -> list[int]:
    """One batch with these payloads; returns the ids in order."""
    return [p.task_id for p in schedule_many(task_type, [{"key": n, "payload": p} for n, p in enumerate(payloads)])]


def ended(ids: list[int]) -> list[tuple[str, object]]:
    return [(row(i).status, row(i).result) for i in ids]


@pytest.fixture
def declare():
    """Declares a handler and returns its type."""
    declared = []

    def declare(call, **options) -> str:
        declared.append(f"T_RETURNS_{len(declared)}")
        handler(declared[-1], timeout=30, backoff=[60], **options)(call)
        return declared[-1]

    yield declare
    for name in declared:
        REGISTRY.discard(name)


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_each_task_keeps_what_its_own_handler_returned(task_type):
    ids = mixed(task_type, {"return": {"pages": 3}}, {}, {"return": 0}, {"return": [1, "é\\u0000"]}, {})

    run_due()

    assert ended(ids) == [
        ("SUCCESS", {"pages": 3}),
        ("SUCCESS", None),
        ("SUCCESS", 0),
        ("SUCCESS", [1, "é\\u0000"]),
        ("SUCCESS", None),
    ]


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_what_did_not_succeed_has_no_result_and_takes_nobody_elses(task_type):
    ids = mixed(
        task_type,
        {"do": "retry", "return": "r"},
        {"return": "first"},
        {"do": "die", "return": "d"},
        {"do": "skip", "return": "s"},
        {"return": "last"},
    )

    run_due()

    assert ended(ids) == [
        ("FAIL", None),
        ("SUCCESS", "first"),
        ("DEAD", None),
        ("CANCELLED", None),
        ("SUCCESS", "last"),
    ]


@pytest.mark.parametrize("task_type", TWO_PHASES)
def test_the_answer_of_a_first_phase_is_no_result(task_type):
    (task_id,) = mixed(task_type, {"answer": "for apply alone"})

    run_due()

    assert ended([task_id]) == [("SUCCESS", None)]


def test_typed_handlers_and_classes_return_results_too(declare):
    def double(n: int) -> int:
        return 2 * n

    async def double_async(n: int) -> int:
        return 2 * n

    class Half(BaseHandler):
        type = "T_HALF"

        def run(self, n: int) -> float:
            return n / 2

    class Applied(BaseHandler):
        type = "T_APPLIED"

        def run(self, n: int) -> int:
            return n + 1

        def apply(self, answer: int) -> dict[str, int]:
            return {"applied": answer}

    types = [declare(double), declare(double_async), Half.type, Applied.type]
    try:
        ids = [schedule(one, "a", payload={"n": 3}).task_id for one in types]
        run_due()
    finally:
        REGISTRY.discard(Half.type)
        REGISTRY.discard(Applied.type)

    assert [row(i).result for i in ids] == [6, 6, 1.5, {"applied": 4}]


@dataclass
class Odd:
    name: str = "odd"


def nested(depth: int) -> list:
    return [nested(depth - 1)] if depth else []


def endless() -> list:
    itself: list = []
    itself += [itself, itself]
    return itself


class Treacherous(dict):
    def keys(self):
        raise RuntimeError("not with me")


UNKEPT = {
    "an object": Odd(),
    "an object inside": {"odd": [Odd()]},
    "bytes": b"abc",
    "a set": {1},
    "a key that is no text": {(1, 2): 3},
    "NaN": float("nan"),
    "a NUL": ["a\0b"],
    "a NUL in a key": {"a\0b": 1},
    "half a surrogate pair": "\ud83d",
    "an endless number": 10**5000,
    "too long": "x" * LONGEST,
    "too long in bytes": "é" * (LONGEST // 2),
    "a million rows": range(1_000_000),
    "a million numbers": list(range(1_000_000)),
    "too deep": nested(DEEPEST + 1),
    "itself": endless(),
    "an exception": ValueError("returned, not raised"),
    "a class": Odd,
    "a trap": Treacherous(a=1),
}


@pytest.mark.parametrize("options", [{}, {"concurrency": 4}, {"transactional": True}], ids=str)
def test_what_cannot_be_kept_is_not_and_the_task_succeeds_all_the_same(declare, options):
    returned = [*UNKEPT.values(), "fine"]
    ids = mixed(declare(lambda task: returned[int(task.key)], **options), *[{}] * len(returned))

    run_due()

    kept = dict(zip([*UNKEPT, "fine"], ended(ids), strict=True))
    assert kept == dict.fromkeys(UNKEPT, ("SUCCESS", None)) | {"fine": ("SUCCESS", "fine")}


KEPT = {"long": "x" * (LONGEST - 2), "deep": nested(DEEPEST), "plain": [True, None, -0.5, 10**20, {"a": {"b": []}}]}


@pytest.mark.parametrize("value", KEPT.values(), ids=KEPT)
def test_what_just_fits_is_kept(declare, value):
    (task_id,) = mixed(declare(lambda task: value), {})

    run_due()

    assert ended([task_id]) == [("SUCCESS", value)]


def test_what_is_not_kept_is_told_once_a_type_and_not_once_a_task(declare, caplog, monkeypatch):
    monkeypatch.setattr(results, "_told_at", {})
    one, other = declare(lambda task: Odd()), declare(lambda task: Odd())
    mixed(one, {}, {}, {})
    mixed(other, {}, {})

    with caplog.at_level(logging.WARNING):
        run_due()

    lines = [entry.getMessage() for entry in caplog.records if entry.name == results.__name__]
    assert sorted(lines) == [f"task.result_not_kept type={name} why='a Odd is no JSON'" for name in (one, other)]


@pytest.mark.parametrize("options", [{}, {"transactional": True}], ids=str)
@pytest.mark.parametrize("said", ["an error, as text", None, 5, {"a": 1}, ValueError, True])
def test_a_batch_handler_that_says_something_unclear_about_a_task_fails(declare, said, options):
    def unclear(tasks: list[Task]) -> object:
        return {task.id: said for task in tasks}

    (task_id,) = mixed(declare(unclear, batch=True, **options), {})

    run_due()

    assert (row(task_id).status, row(task_id).error_code, row(task_id).result) == ("FAIL", "TypeError", None)


def test_a_batch_whose_call_is_done_again_task_by_task_keeps_the_results_of_the_second_go(declare):
    calls = []

    def once_more(tasks: list[Task]) -> dict[int, Result]:
        calls.append(len(tasks))
        if len(tasks) > 1:
            raise KeyError("a bug for many")
        return {task.id: Result(len(calls)) for task in tasks}

    ids = mixed(declare(once_more, batch=True, transactional=True), {}, {})

    run_due()

    assert ended(ids) == [("SUCCESS", 2), ("SUCCESS", 3)]


def test_the_go_that_is_rolled_back_leaves_no_result(declare):
    goes: dict[str, int] = {}

    def differently(task: Task) -> object:
        goes[task.key] = goes.get(task.key, 0) + 1
        if task.key == "1" and goes[task.key] == 1:
            raise KeyError("rolls all back")
        return None if goes[task.key] > 1 else "rolled back"

    ids = mixed(declare(differently, transactional=True), {}, {})

    run_due()

    assert ended(ids) == [("SUCCESS", None), ("SUCCESS", None)]


def test_a_rolling_task_keeps_what_its_last_successful_run_returned(declare):
    returned: list[object] = [1, 2, KeyError("fails"), None]

    def roll(task: Task) -> object:
        answer = returned.pop(0)
        if isinstance(answer, KeyError):
            raise answer
        return answer

    task_type = declare(roll)
    task_id = schedule(task_type, "a", repeat_after=3600).task_id
    kept = []
    for _ in range(4):
        make_due(task_id)
        run_due()
        kept.append((row(task_id).status, row(task_id).result))

    assert kept == [("SUCCESS", 1), ("SUCCESS", 2), ("FAIL", 2), ("SUCCESS", None)]


def test_the_result_goes_to_the_past_with_its_task(settings):
    from tasks_app.lifecycle.past import move_batches

    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}
    (task_id,) = mixed("T_QUIET", {"return": {"pages": 3}})
    run_due()
    assert find("T_QUIET", "0").result == {"pages": 3}

    assert move_batches().tasks == 1

    assert AnyTask.objects.get(id=task_id).result == {"pages": 3}
    assert find("T_QUIET", "0").result == {"pages": 3}
