"""How a `make up` ends that can't work: at once, with one sentence. By Ctrl-C while it starts: test_up.py."""

from __future__ import annotations

import signal

import pytest

from scheduler_project import up
from tests.support.embedded_up import FOREIGN, occupied


@pytest.fixture
def own_signals():
    """`make up` has handlers of its own."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_up_has_spare_workers_started_if_that_was_asked_for():
    """What `manage.py scale` then does is in test_scale.py."""
    started = {one.name: one.command[2:] for one in up.processes(8000, up.choose_spare("1-3"))}
    assert started["scale"] == ["scale", "--workers", "1-3"]
    assert "scale" not in {one.name for one in up.processes(8000, up.choose_spare(""))}


@pytest.mark.parametrize(
    ("argument", "status", "said"),
    [("--help", 0, "PUNCTUAL_SPARE_WORKERS    how few"), ("--port=1", 2, "unrecognized arguments: --port=1")],
)
def test_an_argument_starts_nothing(argument, status, said, capsys):
    with pytest.raises(SystemExit) as ended:
        up.main([argument])
    assert ended.value.code == status
    assert said in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"DATABASE_URL": "postgresql://me:s3cret@127.0.0.1:1/app"},
            "postgresql://127.0.0.1:1/app, which can't be used",
        ),
        ({"DATABASE_URL": "postgresql://me:s3c/ret@127.0.0.1/app"}, "DATABASE_URL isn't a usable URL"),
        ({"DATABASE_URL": "mysql://me:s3cret@127.0.0.1/app"}, "must look like postgresql://user:password@host"),
        ({"DATABASE_URL": "me:s3cret@127.0.0.1/app"}, "must look like postgresql://user:password@host"),
        ({"REDIS_URL": "redis://:s3cret@127.0.0.1:1/0"}, "redis://127.0.0.1:1/0, which can't be used"),
        ({"REDIS_URL": "unix:///nowhere/valkey.sock"}, "unix:///nowhere/valkey.sock, which can't be used"),
        ({"PUNCTUAL_HOME": "/dev/null/home"}, "PUNCTUAL_HOME is /dev/null/home, which can't be used"),
        ({"PORT": "80a"}, "PORT is '80a'; it must be a number from 1 to 65535."),
        ({"PUNCTUAL_SPARE_WORKERS": "3"}, "PUNCTUAL_SPARE_WORKERS is '3'; give how few and how many, such as 0-3"),
        ({"PORT": "8000"}, "PORT is 8000, but 127.0.0.1:8000 is in use"),
    ],
)
def test_a_setting_that_leads_nowhere_gives_one_sentence_and_exit_status_1(
    tmp_path, settings, sentence, monkeypatch, capsys, own_signals
):
    """In this process: that the status is the process's own, the refusal of a second `make up` shows, in test_up.py."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"PUNCTUAL_HOME": str(tmp_path / "home")} | settings).items():
        monkeypatch.setenv(name, value)

    with occupied(8000):
        assert up.main() == 1

    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and sentence in said.err
    assert "s3c" not in said.out + said.err
    assert not (tmp_path / "home" / "servers").exists()
