"""`manage.py scale --systemd` starts and stops units as they are wanted; systemctl is a script that keeps files."""

import signal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tasks_app.engine import nodes
from tests.support.marks import commits

pytestmark = commits

# It keeps the units that run as files beside it, and writes down what it was asked. It ends who asks when the second
# worker was started, and when the last was stopped.
SYSTEMCTL = """#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/asked"
for unit; do :; done
case "$1" in
    start) {start} ;;
    stop) rm "$here/units/$unit"; ls "$here/units" | grep -q worker || kill -TERM $PPID ;;
    list-units)
        for one in "$here"/units/$unit; do
            [ ! -e "$one" ] || echo "$(basename "$one") loaded active running Punctual spare worker"
        done ;;
esac
"""
STARTED = 'touch "$here/units/$unit"; [ ! -e "$here/units/punctual-spare-worker@2.service" ] || kill -TERM $PPID'
REFUSED = "echo 'Access denied' >&2; kill -TERM $PPID; exit 4"


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """A folder that is first on PATH, for a systemctl; afterwards signals do what they did before."""
    (tmp_path / "units").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield tmp_path
    for number, handler in before.items():
        signal.signal(number, handler)


def systemctl(folder: Path, start: str = STARTED) -> None:
    (folder / "systemctl").write_text(SYSTEMCTL.replace("{start}", start))
    (folder / "systemctl").chmod(0o755)


def scaled(**options) -> tuple[list[str], str]:
    """What it said, and what was wrong."""
    out, wrong = StringIO(), StringIO()
    usual = {"systemd": True, "workers": "0-2", "beats": "0-0", "slots": 2, "every": 0.01, "calm": 0.0, "settle": 0.0}
    call_command("scale", **usual | options, stdout=out, stderr=wrong)
    return out.getvalue().splitlines(), wrong.getvalue()


def test_units_are_started_and_stopped_within_bounds(systemd):
    systemctl(systemd)
    somebodys = systemd / "units" / "punctual-spare-worker@web.service"
    somebodys.touch()

    assert scaled() == (["started worker 1", "started worker 2"], "")  # nobody serves anything

    somebodys.unlink()
    nodes.report_worker(nodes.new_node_id(), "elsewhere", 10, ["default"])
    assert scaled() == (["stopped worker 2", "stopped worker 1"], "")
    asked = (systemd / "asked").read_text().splitlines()
    assert "start punctual-spare-worker@1.service" in asked and "stop punctual-spare-worker@2.service" in asked
    assert not any(line.startswith(("start", "stop")) and "beat" in line for line in asked)


def test_what_systemd_refuses_is_told_and_it_goes_on(systemd):
    systemctl(systemd, REFUSED)

    said, wrong = scaled(workers="1-1")

    assert (said, wrong.strip()) == ([], "`systemctl start punctual-spare-worker@1.service` failed: Access denied")


def test_without_systemctl_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(CommandError, match="there is no systemctl on PATH"):
        call_command("scale", systemd=True)
