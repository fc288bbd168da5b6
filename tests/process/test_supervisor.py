"""Facts about the supervisor below `make up`, told with real processes."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest

from scheduler_project.supervisor import OWN_LABEL, Printer, ProcessSpec, Supervisor, Watch, run_to_end
from tests.support.embedded_stack import alive
from tests.support.wait import wait_until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Dead:
    """A process that is never alive."""

    alive, exit_status = False, 1


def shell(name: str, script: str) -> ProcessSpec:
    return ProcessSpec(name, ["/bin/sh", "-c", script])


def test_every_line_carries_the_name_of_its_process():
    out = io.StringIO()
    assert run_to_end(shell("web", "echo one; echo two >&2; exit 7"), out=out) == 7
    assert out.getvalue() == "web    | one\nweb    | two\n"


def test_labels_are_coloured_on_a_terminal_unless_no_color_is_set(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = Terminal(), Terminal()
    Printer(coloured).say("web", "line")
    monkeypatch.setenv("NO_COLOR", "1")
    Printer(plain).say("web", "line")
    assert coloured.getvalue() == "\033[36mweb    |\033[0m line\n"
    assert plain.getvalue() == "web    | line\n"


def test_a_process_that_dies_is_started_again_and_its_exit_status_is_told():
    out = io.StringIO()
    supervisor = Supervisor([shell("web", "echo here; exit 3"), shell("beat", "exec sleep 60")], out=out)
    supervisor.start()
    beat = supervisor.pid("beat")
    try:
        wait_until(lambda: supervisor.run_once() or out.getvalue().count("here") > 1, describe=out.getvalue)
    finally:
        supervisor.stop()
    assert "up     | web ended (exit status 3); starting again in 0.25 s\n" in out.getvalue()
    assert not alive(beat)


def test_a_process_that_keeps_dying_is_started_ever_later_but_every_5_seconds_at_least():
    out, starts = io.StringIO(), []
    watch = Watch("web", Dead(), lambda: starts.append(now), Printer(out))
    for tenth in range(250):
        now = tenth / 10
        watch.look(now)
    pauses = [line.split()[-2] for line in out.getvalue().splitlines()]
    assert pauses[:7] == ["0.25", "0.5", "1", "2", "4", "5", "5"]
    assert max(later - earlier for earlier, later in pairwise(starts)) < 5.5


def test_stop_ends_what_the_processes_started_too():
    out = io.StringIO()
    supervisor = Supervisor([shell("web", "sleep 60 & echo $!; wait")], out=out)
    supervisor.start()
    wait_until(lambda: out.getvalue().endswith("\n"), describe="the pid of the grandchild")
    grandchild = int(out.getvalue().split()[-1])
    assert alive(grandchild)
    supervisor.stop()
    wait_until(lambda: not alive(grandchild), describe="the end of the grandchild")
    assert supervisor.pid("web") is None


@pytest.mark.parametrize(("stop_seconds", "requests"), [(0.2, 1), (60, 2)])
def test_a_process_that_ignores_sigterm_is_killed_after_the_limit_or_at_the_second_request(stop_seconds, requests):
    out = io.StringIO()
    stubborn = shell("web", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    supervisor = Supervisor([stubborn], out=out, stop_seconds=stop_seconds)
    supervisor.start()
    pid = supervisor.pid("web")
    wait_until(lambda: "ready" in out.getvalue(), describe="ready")
    for _ in range(requests):
        supervisor.request_stop()
    supervisor.run_until_stopped()
    assert not alive(pid)
    assert f"{OWN_LABEL:<6} | web doesn't stop; killing it\n" in out.getvalue()
