"""Every verb that only reads says so: a standby answers it while nobody takes writes."""

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.core.management import get_commands, load_command_class

from tasks_app.engine.watch.answering import Answering
from tasks_app.management.terminal import TerminalCommand

READ = {"list", "show", "status", "groups", "report", "history", "use", "export", "coverage"}
NO_DATABASE = {("backup", "list")}  # it looks at the places alone, also when the database is lost for good


def _commands() -> Iterator[tuple[str, TerminalCommand]]:
    for name, app in get_commands().items():
        if app == "tasks_app":
            yield name, load_command_class(app, name)


def _verbs(parser: ArgumentParser) -> Iterator[tuple[str, str]]:
    """(dest, verb)"""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            yield from ((action.dest, verb) for verb in action.choices)


def test_a_verb_that_reads_by_its_name_can_be_answered_by_a_standby():
    found = {
        (name, verb): command.only_reads({dest: verb})
        for name, command in _commands()
        for dest, verb in _verbs(command.create_parser("manage.py", name))
        if verb in READ
    }
    assert len(found) > 20
    assert {verb for verb, reads in found.items() if not reads} == NO_DATABASE


@pytest.mark.parametrize(
    "verb", ["pause", "resume", "activate", "enter", "replay", "start", "apply", "archive", "issue"]
)
def test_a_verb_that_writes_is_not_answered_by_a_standby(verb):
    for name, command in _commands():
        for dest, known in _verbs(command.create_parser("manage.py", name)):
            if known == verb:
                assert not command.only_reads({dest: verb, "dry_run": False}), name


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            (True, datetime(2027, 3, 1, 7, 56, 11, tzinfo=UTC), 14.2, 0),
            "committed 14 s ago, at 2027-03-01 07:56:11 UTC.",
        ),
        (
            (True, datetime(2027, 3, 1, tzinfo=UTC), 180.0, 9),
            "UTC; 9 bytes of the log that it has got are not applied yet.",
        ),
        ((True, None, None, None), "takes writes. How old its last change is can't be told."),
        (
            (False, None, None, None),
            "Read from db2:5432, which another server was promoted past, since no other one answers",
        ),
    ],
)
def test_a_server_is_named_with_the_age_of_what_it_knows(known, words):
    assert words in str(Answering("db2:5432", *known))
