"""Owns `make demo`: a finite proof on temporary data with the real stack; exit code 0 only if all of it came true."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tasks_app import embedded

from .demo_editor import NAME as EDITOR
from .demo_editor import DemoEditor
from .supervisor import Supervisor
from .temporary import TemporaryStack, temporary_stack
from .up import HOST, answers, processes

DEADLINE_SECONDS = 45.0
# Short leases, so that a killed worker's task comes back while you watch.
LEASES = {
    "PUNCTUAL_DISPATCH_LEASE_SECONDS": "4",
    "PUNCTUAL_RUN_LEASE_SECONDS": "4",
    "PUNCTUAL_HEARTBEAT_SECONDS": "1",
    "PUNCTUAL_SHUTDOWN_SECONDS": "2",
}


@dataclass
class Scene:
    """One promise: how it begins, how it goes on (called until it is done), and what its task should come to."""

    promise: str
    task_type: str
    key: str
    begin: Callable[[], None]
    expected: str
    go_on: Callable[[Scene], None] | None = None
    note: str = ""

    def state(self):
        from django_punctual import find

        return find(self.task_type, self.key)

    def is_true(self) -> bool:
        return self.has_come_to(self.state())

    def has_come_to(self, task) -> bool:
        return task is not None and task.status == self.expected and (self.go_on is None or bool(self.note))


def main() -> int:
    started = time.monotonic()
    with ExitStack() as ending:
        try:
            print("Starting PostgreSQL, Valkey, the admin, a beat and a worker on temporary data …", flush=True)
            stack, port = (
                ending.enter_context(temporary_stack("demo", "scheduler_project.settings", DEMO="1", **LEASES)),
                _free_port(),
            )
            scenes = play(start_processes(stack, port, ending), DemoEditor(f"http://{HOST}:{port}"))
        except embedded.EmbeddedError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nStopped.")
            return 130
        failed = [scene for scene in scenes if not scene.is_true()]
        if failed:
            print(_reason(failed, stack.folder / "processes.log"), file=sys.stderr)
            return 1
    print(
        f"\nAll {len(scenes)} promises held, in {time.monotonic() - started:.0f} s. "
        "`make up` starts it and keeps it running."
    )
    return 0


def start_processes(stack: TemporaryStack, port: int, ending: ExitStack) -> Supervisor:
    """The same processes as `make up`; articles are judged by the local rule list."""
    log = ending.enter_context((stack.folder / "processes.log").open("w"))
    supervisor = Supervisor(processes(port, stack.env), out=log)
    ending.callback(supervisor.stop)
    supervisor.start()
    _wait_for_fleet(supervisor, port)
    return supervisor


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def _wait_for_fleet(supervisor: Supervisor, port: int) -> None:
    from tasks_app.engine.watch.status import read_status

    deadline = time.monotonic() + 20
    while (read_status().problems() or not answers(port)) and time.monotonic() < deadline:
        supervisor.run_once()
        time.sleep(0.1)


def play(supervisor: Supervisor, editor: DemoEditor) -> list[Scene]:
    """Begin every scene, draw the table while they go on, and stop when all came true or time is up."""
    scenes = [article_scene(editor), *all_scenes(supervisor)]
    for scene in scenes:
        scene.begin()
    table = Table(scenes)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline and not all(scene.is_true() for scene in scenes):
        supervisor.run_once()
        for scene in scenes:
            if scene.go_on is not None and not scene.note:
                scene.go_on(scene)
        table.draw()
        time.sleep(0.1)
    table.draw(last=True)
    return scenes


def all_scenes(supervisor: Supervisor) -> list[Scene]:
    from django_punctual import cancel, reschedule, schedule

    def begin_cancelled() -> None:
        schedule("DEMO_HELLO", "cancelled", delay=30)
        cancel("DEMO_HELLO", "cancelled", reason="changed my mind", by="demo")

    def begin_moved() -> None:
        schedule("DEMO_HELLO", "moved", delay=3600)

    def move(scene: Scene) -> None:
        scene.note = f"{reschedule('DEMO_HELLO', 'moved', delay=2).outcome}: same task, new time"

    def move_running(scene: Scene) -> None:
        if _is_running("DEMO_SLOW", "moved-while-running"):
            answer = reschedule("DEMO_SLOW", "moved-while-running", delay=1, payload={"seconds": 0})
            scene.note = f"{answer.outcome}: the running attempt can't settle any more"

    def kill_worker(scene: Scene) -> None:
        if _is_running("DEMO_SLOW", "survivor"):
            pid = supervisor.pid("worker")
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                scene.note = f"kill -9 of worker {pid}; its lease ran out, another took over"

    return [
        Scene(
            "a task runs on time",
            "DEMO_HELLO",
            "on-time",
            lambda: schedule("DEMO_HELLO", "on-time", delay=2),
            "SUCCESS",
        ),
        Scene(
            "a task is retried, and succeeds at last",
            "DEMO_FLAKY",
            "flaky",
            lambda: schedule("DEMO_FLAKY", "flaky", payload={"failures": 2}),
            "SUCCESS",
        ),
        Scene("a task fails for good", "DEMO_BROKEN", "hopeless", lambda: schedule("DEMO_BROKEN", "hopeless"), "DEAD"),
        Scene("a task is cancelled", "DEMO_HELLO", "cancelled", begin_cancelled, "CANCELLED"),
        Scene("a task is moved before it runs", "DEMO_HELLO", "moved", begin_moved, "SUCCESS", move),
        Scene(
            "a task is moved while it runs",
            "DEMO_SLOW",
            "moved-while-running",
            lambda: schedule("DEMO_SLOW", "moved-while-running", payload={"seconds": 3}),
            "SUCCESS",
            move_running,
        ),
        Scene(
            "a task survives the death of its worker",
            "DEMO_SLOW",
            "survivor",
            lambda: schedule("DEMO_SLOW", "survivor", payload={"seconds": 1}, delay=6),
            "SUCCESS",
            kill_worker,
        ),
    ]


def article_scene(editor: DemoEditor) -> Scene:
    """In the real admin: an article is submitted, audited, moved by its editor, and goes live."""

    def begin() -> None:
        from django.contrib.auth import get_user_model

        password = secrets.token_urlsafe()
        get_user_model().objects.create_superuser(EDITOR, password=password)
        editor.log_in(password)
        editor.submit_an_article()
        scene.key = editor.article

    def go_on(scene: Scene) -> None:
        scene.note = editor.go_on()

    scene = Scene("an article goes live when its editor says", "ARTICLE_PUBLISH", "-", begin, "SUCCESS", go_on)
    return scene


def _is_running(task_type: str, key: str) -> bool:
    from django_punctual import find
    from tasks_app.models import TaskBatch

    task = find(task_type, key)
    return (
        task is not None
        and TaskBatch.objects.filter(
            ids__contains=[task.id], started_at__isnull=False, finished_at__isnull=True
        ).exists()
    )


class Table:
    """Redraws itself on a terminal; elsewhere it prints a line whenever a task changes its state."""

    def __init__(self, scenes: list[Scene]) -> None:
        self._scenes = scenes
        self._live = sys.stdout.isatty()
        self._drawn = 0
        self._said: dict[str, str] = {}

    def draw(self, last: bool = False) -> None:
        if self._live:
            lines = [self._line(scene) for scene in self._scenes]
            up = f"\x1b[{self._drawn}F" if self._drawn else "\n"
            print(up + "\n".join(f"\x1b[2K{line}" for line in lines), flush=True)
            self._drawn = len(lines)
            return
        for scene in self._scenes:
            line = self._line(scene)
            if self._said.get(scene.key) != line:
                self._said[scene.key] = line
                print(line, flush=True)

    def _line(self, scene: Scene) -> str:
        task = scene.state()
        status = "-" if task is None else str(task.status)
        mark = "ok" if scene.has_come_to(task) else ".."
        return f" {mark}  {scene.promise:41} {status:10} {_detail(task, scene)}".rstrip()


def _detail(task, scene: Scene) -> str:
    parts = [scene.note] if scene.note else []
    if task is not None and task.status == "SUCCESS" and scene.key == "on-time":
        parts.append(f"{_late_ms(task.id):.1f} ms late")
    if task is not None and task.retry_count:
        parts.append(f"{task.retry_count} failed " + ("try" if task.retry_count == 1 else "tries"))
    if task is not None and task.status == "DEAD":
        parts.append(task.error_msg)
    return "; ".join(parts)


def _late_ms(task_id: int) -> float:
    from tasks_app.models import ScheduleTask

    task = ScheduleTask.objects.get(id=task_id)
    return (task.start_time - task.execute_time).total_seconds() * 1000


def _reason(failed: list[Scene], log: Path) -> str:
    lines = [f"After {DEADLINE_SECONDS:.0f} s these promises had not come true:"]
    for scene in failed:
        task = scene.state()
        seen = "no task" if task is None else f"{task.status} {task.error_msg}".strip()
        lines.append(f"  {scene.promise}: expected {scene.expected}, found {seen}")
    lines += ["The processes said at the end:", *log.read_text(errors="replace").splitlines()[-15:]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
