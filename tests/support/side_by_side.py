"""Runs several files of tests at a time: `pytest -p tests.support.side_by_side --side-by-side 4`.

Each file is run by one of so many processes. A process imports a file only when its turn has come: to import and
collect all of them would take each process half a minute.

Files whose tests mostly wait are run beside files whose tests mostly compute, so that the processor is always busy and
never has more waiting for it than it must; and all that use a browser by one process, which has one for all of them.
Another one takes its place when it is done.

No test may depend on which files were run before its own. `--shuffle 7` hands them out in another order, and a test
that fails says which files its process had run before.

A few that failed are run once more at the end, each alone. One that passes then is no failure, but it is named with
what it had failed by: it, or the code, depends on how fast the machine is.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO

import pytest

from tests.support.processor_time import of_family
from tests.support.room import with_room

END = -1  # in place of a file's number
MOST_AGAIN = 5  # files; if tests of more have failed, it is not for want of speed
# Never run again, since what they prove doesn't depend on it: how their names begin.
STRICT = ("tests/race/", "tests/unit/", "tests/attack/", "tests/architecture/")
# Which files have tests that use a browser, or that mostly wait or start processes: how their names begin.
BROWSING = ("tests/browser/", "tests/host/", "tests/package/test_shop.py")
WAITING = ("tests/process/", "tests/attack/", "tests/clients/", "tests/package/")
WAITING += ("tests/database/archive/test_leave.py", "tests/database/worker/test_transport.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--side-by-side", type=int, default=0, metavar="N", help="run N files of tests at a time")
    parser.addoption("--shuffle", type=int, default=None, metavar="SEED", help="hand the files out in another order")
    parser.addoption("--costliest", type=int, default=12, metavar="N", help="name the N files that took most")
    parser.addoption("--told-by", type=int, default=None, metavar="FD", help="of one of these processes: its pipe")
    parser.addoption("--again", default=None, metavar="TEST", help="of one of these processes: all that it runs")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("told_by") is not None:
        config.pluginmanager.register(_Runner(config), "side-by-side-runner")
    elif config.getoption("side_by_side"):
        config.pluginmanager.register(_Overseer(config), "side-by-side-overseer")


class _Runner:
    """In a process that runs tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._pipe = Connection(config.getoption("told_by"))
        os.set_inheritable(self._pipe.fileno(), False)
        self._cost = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """The files only, in order; nothing of them is imported."""
        again = self._config.getoption("again")
        self._files = session.perform_collect([again] if again else list(_files(self._config)), genitems=False)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        return with_room(lambda: self._run_files(session))

    def _run_files(self, session: pytest.Session) -> bool:
        hook = self._config.hook
        self._pipe.send(("files", [one.nodeid for one in self._files]))
        while (number := self._next()) != END:
            items = list(session.genitems(self._files[number]))
            hook.pytest_collection_modifyitems(session=session, config=self._config, items=items)
            session.items = items
            self._pipe.send(("collected", len(items)))
            # After the last of them everything of the file is torn down, and nothing of the session.
            for item, following in zip(items, [*items[1:], session], strict=False):
                self._pipe.send(("running", item.nodeid))
                hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldfail or session.shouldstop:
                    return True
            self._pipe.send(("cost", (self._files[number].nodeid, self._spent())))
        return True

    def _spent(self) -> float:
        """The processor time since the last file, with that of all servers and processes that were started."""
        before, self._cost = self._cost, of_family(os.getpid())
        return max(self._cost - before, 0.0)

    def _next(self) -> int:
        self._pipe.send(("idle", None))
        return self._pipe.recv()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # That a test was set up and torn down well need not be told, and those are two of three reports.
        if report.when == "call" or not report.passed or report.sections or self._config.option.durations is not None:
            self._send("report", report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._send("not collected", report)

    def _send(self, what: str, report: pytest.TestReport | pytest.CollectReport) -> None:
        told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._pipe.send((what, told))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._pipe.send(("over", None))


ENDED_WELL = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class _Process:
    """One of them, as the overseer sees it."""

    def __init__(self, config: pytest.Config, place: int, *more: str) -> None:
        self.place = place
        self.pipe, theirs = Pipe()
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        with theirs:
            command = [
                sys.executable,
                "-m",
                "pytest",
                *config.invocation_params.args,
                *more,
                "--told-by",
                str(theirs.fileno()),
            ]
            self.popen = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=self.log)
        self.running = ""  # the test
        self.files: list[str] = []  # those it has run, and this one
        self.over = False

    def last_words(self) -> str:
        """The end of what it printed; what it has to say about a test is in the test's report."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-4000:]


class _Overseer:
    """In the process that was started: hands the files out, and reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._files: _Files | None = None
        self._begun, self._ends = time.monotonic(), []
        self._costs: dict[str, float] = {}
        self._failed: dict[str, list[pytest.TestReport]] = {}  # not told yet: they may be run again
        self._only_alone: list[pytest.TestReport] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._only_alone:
            terminalreporter.section("failed beside others and passed alone: to be mended all the same")
            for report in self._only_alone:
                terminalreporter.write_line(f"{report.nodeid} ({report.when})")
                terminalreporter.write_line(report.longreprtext)
        # If one ended long before the others, the processor may have had too little to do.
        ends = ", ".join(f"{seconds:.0f}" for seconds in self._ends)
        terminalreporter.write_line(f"The processes ended after {ends} s.")
        costliest = sorted(self._costs.items(), key=lambda one: -one[1])[: self._config.getoption("costliest")]
        named = ", ".join(f"{name.removeprefix('tests/')} {seconds:.0f}" for name, seconds in costliest)
        total = sum(self._costs.values())
        terminalreporter.write_line(f"The files took {total:.0f} s of processor time; most of it: {named}.")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        number = self._config.getoption("side_by_side")
        processes = [_Process(self._config, place) for place in range(number)]
        talking = {process.pipe: process for process in processes}
        try:
            while talking:
                for pipe in wait(list(talking)):
                    try:
                        self._listen(session, talking[pipe], *pipe.recv())
                    except EOFError:
                        done = talking.pop(pipe)
                        well, stopping = self._ended(done), session.shouldfail or session.shouldstop
                        if well and self._files.left and not stopping:
                            another = _Process(self._config, done.place + number)
                            processes.append(another)
                            talking[another.pipe] = another
        except BaseException:
            self._tell_failed(again=False)
            raise
        finally:
            for process in processes:
                process.pipe.close()
                process.popen.wait()
                process.log.close()
        self._tell_failed(again=len({nodeid.partition("::")[0] for nodeid in self._failed}) <= MOST_AGAIN)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True

    def _tell_failed(self, *, again: bool) -> None:
        for nodeid, reports in self._failed.items():
            second = self._run_alone(nodeid) if again else []
            if any(one.when == "call" and one.passed for one in second) and not any(one.failed for one in second):
                self._only_alone += reports
                reports = second
            for report in reports:
                self._config.hook.pytest_runtest_logreport(report=report)

    def _run_alone(self, nodeid: str) -> list[pytest.TestReport]:
        process, left = _Process(self._config, 0, "--again", str(self._config.rootpath / nodeid)), [0]
        reports = []
        try:
            while True:
                what, told = process.pipe.recv()
                if what == "idle":
                    process.pipe.send(left.pop() if left else END)
                elif what == "report":
                    reports.append(self._report_in(told))
        except EOFError:
            return reports
        finally:
            process.pipe.close()
            process.popen.wait()
            process.log.close()

    def _report_in(self, told: object) -> pytest.TestReport:
        return self._config.hook.pytest_report_from_serializable(config=self._config, data=told)

    @property
    def _runs_again(self) -> bool:
        """Not if it is to stop at a failure, nor if nothing ran beside it."""
        return self._config.getoption("side_by_side") > 1 and not self._config.getoption("maxfail")

    def _listen(self, session: pytest.Session, process: _Process, what: str, told: object) -> None:
        hook = self._config.hook
        if what == "files":
            alone, seed = self._config.getoption("side_by_side") == 1, self._config.getoption("shuffle")
            self._files = self._files or _Files(told, alone, seed)
        elif what == "idle":
            process.running = ""
            stopping = session.shouldfail or session.shouldstop
            process.pipe.send(END if stopping else self._files.next(process.place))
        elif what == "collected":
            session.testscollected += told
        elif what == "running":
            process.running = told
            file = told.partition("::")[0]
            if file not in process.files[-1:]:
                process.files.append(file)
        elif what == "cost":
            name, seconds = told
            self._costs[name] = seconds
        elif what == "over":
            process.over = True
        else:
            report = self._report_in(told)
            if report.failed and process.files[:-1]:
                report.sections.append(("files that its process had run before", " ".join(process.files[:-1])))
            if report.failed and what == "report" and self._runs_again and not report.nodeid.startswith(STRICT):
                self._failed.setdefault(report.nodeid, []).append(report)
                return
            tell = hook.pytest_runtest_logreport if what == "report" else hook.pytest_collectreport
            tell(report=report)

    def _ended(self, process: _Process) -> bool:
        """Whether all was well. If it died, its test fails; what else it had to run of that file is not run."""
        self._ends.append(time.monotonic() - self._begun)
        status = process.popen.wait()
        if process.over and status in ENDED_WELL:
            return True
        if self._files is not None:
            self._files.lose(process.place)
        where = process.running or "between two tests"
        report = pytest.TestReport(
            nodeid=where,
            location=(where.partition("::")[0], None, where),
            keywords={},
            outcome="failed",
            longrepr=f"The process that ran it ended with status {status}. It had said:\n{process.last_words()}",
            when="call",
        )
        self._config.hook.pytest_runtest_logreport(report=report)
        return False


class _Files:
    """Those that nobody has begun, by their numbers. The first process browses, of the others every second waits."""

    def __init__(self, names: list[str], alone: bool, seed: int | None = None) -> None:
        self._browsing: deque[int] = deque()
        self._waiting: deque[int] = deque()
        self._computing: deque[int] = deque()
        for number, name in enumerate(names):
            self._kind_of(name).append(number)
        if seed is not None:
            for kind in (self._browsing, self._waiting, self._computing):
                random.Random(seed).shuffle(kind)
        self._alone = alone
        self._browser, self._has_browsed = 0, False

    def next(self, place: int) -> int:
        """For the process at this place."""
        mine, others = (self._waiting, self._computing) if place % 2 else (self._computing, self._waiting)
        rest = mine or others
        if place == self._browser and self._browsing and not (self._alone and rest):
            self._has_browsed = True
            return self._browsing.popleft()
        # Playwright leaves an event loop running in its thread, in which nobody else can run one.
        over = not rest or (place == self._browser and self._has_browsed)
        return END if over else rest.popleft()

    @property
    def left(self) -> bool:
        """Whether there is something for a process that has browsed nothing."""
        return bool(self._waiting or self._computing)

    def lose(self, place: int) -> None:
        """The process there has died. The next one browses, if it did."""
        if place == self._browser:
            self._browser, self._has_browsed = place + 1, False

    def _kind_of(self, name: str) -> deque[int]:
        if name.startswith(BROWSING):
            return self._browsing
        return self._waiting if name.startswith(WAITING) else self._computing


def _files(config: pytest.Config) -> Iterator[str]:
    for given in config.args:
        path = Path(config.invocation_params.dir, given)
        yield from map(str, sorted(path.rglob("test_*.py"))) if path.is_dir() else [given]
