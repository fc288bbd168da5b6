"""What may be declared as a handler: only what does its work when the scheduler calls it, in whatever shape."""

import functools

import pytest
from asgiref.sync import sync_to_async

from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import ASYNC_AT_ONCE, REGISTRY, Handler, handler


@pytest.fixture(autouse=True)
def _forget():
    yield
    for one in list(REGISTRY):
        if one.name.startswith("UNIT_"):
            REGISTRY.discard(one.name)


def declare(call, **options) -> Handler:
    assert handler("UNIT_CALL", **options)(call) is call
    return REGISTRY.get("UNIT_CALL")


def plain(task): ...


async def coroutine(task): ...


def generator(task):
    yield


async def async_generator(task):
    yield


def wrapped(call):
    """The usual decorator: sync, whatever it is put around."""

    @functools.wraps(call)
    def around(*args, **kwargs):
        return call(*args, **kwargs)

    return around


class Plain:
    def __call__(self, task): ...

    def method(self, task): ...

    async def async_method(self, task): ...

    @classmethod
    def of_class(cls, task): ...


class Async:
    async def __call__(self, task): ...


class Generator:
    def __call__(self, task):
        yield


class Static:
    @staticmethod
    async def __call__(task): ...


def with_more(prefix, task, *, loud=False): ...


async def async_with_more(prefix, task): ...


def generator_with_more(prefix, task):
    yield


SYNC = {
    "function": plain,
    "lambda": lambda task: None,
    "default arguments": lambda task, retries=3: None,
    "any arguments": lambda *args, **kwargs: None,
    "object": Plain(),
    "bound method": Plain().method,
    "class method": Plain.of_class,
    "static method": staticmethod(plain),
    "partial": functools.partial(with_more, "a", loud=True),
    "partial of a partial": functools.partial(functools.partial(with_more), "a"),
    "partial of an object": functools.partial(Plain()),
    "decorated": wrapped(plain),
    "decorator that adds an argument": functools.wraps(with_more)(lambda task: with_more("a", task)),
    "cached": functools.lru_cache(plain),
    "builtin": print,
}

ASYNC = {
    "function": coroutine,
    "bound method": Plain().async_method,
    "object": Async(),
    "object with a static call": Static(),
    "static method": staticmethod(coroutine),
    "partial": functools.partial(async_with_more, "a"),
    "partial of an object": functools.partial(Async()),
    "partial of a bound method": functools.partial(Plain().async_method),
    "sync_to_async": sync_to_async(plain),
}


@pytest.mark.parametrize("shape", SYNC)
def test_whatever_can_be_called_with_a_task_can_be_declared(shape):
    declared = declare(SYNC[shape])

    assert (declared.is_async, declared.concurrency) == (False, 1)
    assert declared.declared_at


@pytest.mark.parametrize("shape", ASYNC)
def test_an_async_handler_is_recognised_in_every_shape_and_runs_many_at_once(shape):
    declared = declare(ASYNC[shape])

    assert (declared.is_async, declared.concurrency) == (True, ASYNC_AT_ONCE)


def test_an_async_handler_runs_as_many_at_once_as_it_says_and_one_call_for_a_batch():
    assert declare(coroutine, concurrency=1).concurrency == 1
    assert declare(coroutine, concurrency=200).concurrency == 200
    assert declare(coroutine, batch=True).concurrency == 1


NEVER_RUN = {
    "generator function": (generator, "generator function"),
    "async generator function": (async_generator, "async generator function"),
    "object": (Generator(), "generator function"),
    "partial": (functools.partial(generator_with_more, "a"), "generator function"),
    "static method": (staticmethod(generator), "generator function"),
}


@pytest.mark.parametrize("shape", NEVER_RUN)
def test_a_generator_function_is_refused_since_calling_it_runs_nothing(shape):
    call, words = NEVER_RUN[shape]

    with pytest.raises(InvalidConfiguration, match=f"handler 'UNIT_CALL'.* is an? {words}.*yield"):
        declare(call)
    assert REGISTRY.get("UNIT_CALL") is None


@pytest.mark.parametrize("call", [None, "shop.tasks.run", 5, Static, Plain, dict, classmethod(plain)])
def test_what_can_not_be_called_or_is_a_class_is_refused(call):
    with pytest.raises(InvalidConfiguration, match=r"handler 'UNIT_CALL'.*(can't be called|is a class)"):
        declare(call)


NO_TASK = [lambda task, more: None, lambda *, task: None, lambda **kwargs: None, Plain.method]
NO_TASK += [functools.partial(with_more)]


@pytest.mark.parametrize("call", NO_TASK)
@pytest.mark.parametrize(("options", "given"), [({}, "the task"), ({"batch": True}, "the list of tasks")])
def test_a_handler_that_can_not_take_what_it_is_given_is_refused(call, options, given):
    with pytest.raises(InvalidConfiguration, match=f"is called with one argument, {given}, but takes "):
        declare(call, **options)


@pytest.mark.parametrize(
    ("apply", "words"),
    [
        (lambda task: None, "is called with two arguments, the task and the call's answer, but takes "),
        (5, "can't be called"),
        (Plain, "is a class"),
        (generator_with_more, "generator function"),
        (async_with_more, "is async, but .*transaction"),
    ],
)
def test_an_apply_that_can_not_run_is_refused(apply, words):
    with pytest.raises(InvalidConfiguration, match=f"handler 'UNIT_CALL': apply=.*{words}"):
        declare(plain, apply=apply)


def test_an_async_call_may_have_an_apply():
    assert declare(coroutine, apply=lambda task, answer: None).is_async


@pytest.mark.parametrize("call", ASYNC.values())
def test_an_async_handler_can_not_be_transactional(call):
    with pytest.raises(InvalidConfiguration, match=r"transactional=True.*one connection.*apply="):
        declare(call, transactional=True)


def test_handlers_without_a_name_of_their_own_are_told_apart_by_where_they_were_declared():
    first = declare(lambda task: None).declared_at
    assert __name__ in first

    for nameless in (lambda task: None, Plain(), functools.partial(plain)):
        with pytest.raises(InvalidConfiguration, match="declared twice"):
            declare_here(nameless)


def declare_here(call) -> None:
    handler("UNIT_CALL")(call)
