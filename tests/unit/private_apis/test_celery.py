"""What we use of Celery and billiard that they never promised."""

import inspect
import os
import pickle
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

from billiard.pool import Pool
from billiard.sharedctypes import RawValue
from celery import Celery, beat, concurrency
from celery.app.defaults import NAMESPACES, SETTING_KEYS
from celery.concurrency.asynpool import AsynPool
from celery.concurrency.prefork import TaskPool
from celery.worker import WorkController, components
from celery.worker.consumer import Consumer
from celery.worker.consumer.consumer import Evloop

from tasks_app.engine.celery_app import app
from tasks_app.engine.worker.consumer import watch_again


def test_celery_leaves_the_intervals_of_reconnecting_to_the_connection():
    asked = {}
    consumer = Consumer.__new__(Consumer)
    consumer.first_connection_attempt = False
    consumer.app = Celery(set_as_current=False)

    consumer.ensure_connected(SimpleNamespace(ensure_connection=lambda *args, **options: asked.update(options)))

    assert set(asked) == {"callback"}


def test_celery_asks_for_its_arguments_when_its_loop_begins():
    begun = []
    consumer = SimpleNamespace(
        loop_args=lambda: ("a", "b"), loop=lambda *args: begun.append(args), qos=SimpleNamespace()
    )

    Evloop.start(Evloop.__new__(Evloop), consumer)

    assert begun == [("a", "b")]


def test_celery_watches_a_child_again_without_its_note():
    reading, writing = os.pipe()
    child = SimpleNamespace(_popen=SimpleNamespace(sentinel=reading))
    watched = []
    hub = SimpleNamespace(add_reader=lambda fd, *_: watched.append(fd), remove=lambda fd: watched.remove(fd))
    pool = AsynPool.__new__(AsynPool)

    pool._track_child_process(child, hub)
    pool._untrack_child_process(child, hub)
    assert (child._sentinel_poll, watched) == (None, [])
    watch_again(SimpleNamespace(_pool=SimpleNamespace(_pool=[child])))
    pool._track_child_process(child, hub)
    assert watched == [child._sentinel_poll]

    for fd in (reading, writing, child._sentinel_poll):
        os.close(fd)


def test_celery_has_a_pool_of_billiard_with_its_children():
    assert "_pool" in TaskPool.on_start.__code__.co_names
    assert issubclass(AsynPool, Pool)
    assert "self._pool = []" in inspect.getsource(Pool.__init__)


def test_celery_pickles_its_app_for_a_child_that_is_spawned():
    """That it works is shown by the corners of `make matrix` that spawn."""
    assert "initargs=(w.app, w.hostname)" in inspect.getsource(components.Pool.create)
    assert pickle.loads(pickle.dumps(app)) is app
    assert RawValue("b", 1).value == 1


def test_celery_takes_its_consumer_from_the_settings():
    assert "consumer" in NAMESPACES["worker"]
    assert "worker_consumer" in WorkController.setup_defaults.__code__.co_consts


def test_celery_names_a_pool_by_its_module():
    names = [concurrency.get_implementation(name).__module__.rpartition(".")[2] for name in ("prefork", "solo")]

    assert names == ["prefork", "solo"]
    assert "pool_cls" in WorkController.setup_defaults.__code__.co_names


def test_celery_tells_its_slots_and_queues():
    app = Celery(set_as_current=False)
    app.amqp.queues.select(["a", "b"])

    assert sorted(app.amqp.queues.consume_from) == ["a", "b"]
    assert TaskPool.num_processes.fget(SimpleNamespace(_pool=SimpleNamespace(_processes=3))) == 3


def test_celery_makes_a_message_of_headers_and_body():
    made = Celery(set_as_current=False).amqp.as_task_v2("id", "name", ignore_result=True)
    args, kwargs, options = made.body

    assert (made.headers["task"], made.headers["id"], made.headers["ignore_result"]) == ("name", "id", True)
    assert (list(args), kwargs, any(options.values())) == ([], {}, False)
    assert {"root_id", "argsrepr", "kwargsrepr"} <= made.headers.keys()


def test_celery_beat_sets_up_ticks_and_closes(monkeypatch):
    life, ours, sleep = [], threading.current_thread(), time.sleep

    def wait(seconds: float) -> None:
        assert threading.current_thread() is not ours, "it waits by itself"
        sleep(seconds)

    monkeypatch.setattr(beat.time, "sleep", wait)

    class Scheduler(beat.Scheduler):
        def setup_schedule(self) -> None:
            life.append("set up")

        def tick(self) -> float:
            life.append("tick")
            if life.count("tick") == 2:
                raise SystemExit(0)
            return 0.0

        def close(self) -> None:
            life.append("close")

    beat.Service(Celery(set_as_current=False), scheduler_cls=Scheduler).start()

    assert life == ["set up", "tick", "tick", "close"]


LOOK_FOR_APP = """
from celery.app import app_or_default
ours = Celery("ours", set_as_current=False, fixups=[])
assert app_or_default() is not ours and app_or_default().main == "default"
theirs = Celery("theirs")
assert app_or_default() is theirs
"""


def test_celery_tells_the_app_that_a_project_made():
    """In a process of its own: what is current stays so."""
    subprocess.run([sys.executable, "-c", "from celery import Celery" + LOOK_FOR_APP], check=True)


SEND = """
from celery import Celery, current_app, shared_task
theirs, ours = Celery("theirs"), Celery("ours", set_as_current=False, fixups=[])

@shared_task(name="a")
def a(): ...

ours.set_current(), ours.set_default()  # as a worker does
assert a.app is ours
theirs.set_current(), theirs.set_default()
assert a.app is theirs
from threading import Thread
found = []
thread = Thread(target=lambda: found.append(a.app))
thread.start(), thread.join()
assert found == [theirs]
"""


def test_celery_sends_shared_tasks_with_the_default_app():
    subprocess.run([sys.executable, "-c", SEND], check=True)


def test_celery_lists_its_options():
    assert {"task_acks_late", "worker_max_memory_per_child", "beat_scheduler", "broker_url"} <= SETTING_KEYS
