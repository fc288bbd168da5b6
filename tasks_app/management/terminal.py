"""What our commands print: stored text is others' text, and a terminal obeys its control characters."""

import getpass
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError

from tasks_app import __version__
from tasks_app.conf import CHECKS
from tasks_app.core.text import visible
from tasks_app.engine.watch.answering import Answering, read_answering
from tasks_app.engine.web.standby import REFUSED, STANDBY
from tasks_app.libraries.django_commands import Output
from tasks_app.lifecycle.audit import acting_from
from tasks_app.scope import acting_as
from tasks_app.sql import NotMigrated, explained

UNUSABLE = 2  # the exit code if there is no database
_FOR_PROGRAMS = ("json", "as_json", "csv", "parquet")  # options by which the output is no page
_READ_ONLY = "25006"  # what PostgreSQL answers to a write there


def account() -> str:
    """Whose command this is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"  # a container may run as one that has no name


class Screen(Output):
    def write(self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None) -> None:
        super().write(visible(msg, lines=True), style_func, ending)

    def steer(self, text: str) -> None:
        """Our own control characters, and nothing of others': to draw over a line, say."""
        self.write_raw(text)


def _unusable(error: OperationalError | InterfaceError) -> bool:
    """Not so if a lock was not let go of, or a statement took too long: then PostgreSQL says what it was."""
    code = getattr(error.__cause__, "sqlstate", None)
    return code is None or code.startswith(("08", "53", "57P"))


class TerminalCommand(BaseCommand):
    """A command whose output has no control character but breaks of lines, whatever it prints."""

    stdout: Screen
    stderr: Screen
    # Not those of addresses and pages, which would be imported for them.
    requires_system_checks: Sequence[str] = (CHECKS,)
    reads: tuple[str, ...] = ()  # the verbs that change nothing, so that a standby can answer them

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **colours: bool) -> None:
        super().__init__(stdout, stderr, **colours)
        self.answering: Answering | None = None  # in place of the primary
        self._print_to(stdout or sys.stdout, stderr or sys.stderr)

    def get_version(self) -> str:
        """What `--version` says; without it, it would be Django's."""
        return f"Punctual {__version__}"

    def execute(self, *args: Any, **options: Any) -> Any:  # what Django's does
        # Given by call_command, and taken here: Django would put wrappers of its own around them.
        self._print_to(options.pop("stdout", None), options.pop("stderr", None))
        try:
            with acting_from(f"the command line of {account()} on {socket.gethostname()}"):
                if self.only_reads(options):
                    self.connect()
                    self.tell_answering(options)
                if by := None if self.only_reads(options) else options.get("by"):
                    with acting_as(str(by)):
                        return super().execute(*args, **options)
                return super().execute(*args, **options)
        except InternalError as error:  # it is no command that only reads, or no dry run that a standby can do
            if not STANDBY.reading or getattr(error.__cause__, "sqlstate", None) != _READ_ONLY:
                raise
            raise CommandError(REFUSED, returncode=UNUSABLE) from error
        except ProgrammingError as error:
            found = explained(error)
            if not isinstance(found, NotMigrated):
                raise
            raise CommandError(str(found), returncode=UNUSABLE) from error
        except (OperationalError, InterfaceError) as error:  # a command that can say more has done so
            if not _unusable(error):
                raise
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be used: {words}", returncode=UNUSABLE) from error

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        """Whether a standby can answer, if nobody takes writes."""
        return options.get("verb") in self.reads

    def for_programs(self, options: Mapping[str, Any]) -> bool:
        """Whether a sentence for people would spoil the output."""
        return any(options.get(name) for name in _FOR_PROGRAMS)

    def connect(self) -> None:
        """To the primary; else to a standby."""
        error = STANDBY.connect()
        if error is not None:
            raise error
        self.answering = read_answering() if STANDBY.reading else None

    def tell_answering(self, options: Mapping[str, Any]) -> None:
        """The first line, if it is not the primary that answers."""
        if self.answering is not None:
            (self.stderr if self.for_programs(options) else self.stdout).write(str(self.answering))

    def write_json(self, told: Mapping[str, Any] | list[Any], **how: Any) -> None:
        """An object says itself that it was read from a standby."""
        if self.answering is not None and isinstance(told, Mapping):
            told = {**told, "read_from": self.answering.as_json()}
        self.stdout.write(json.dumps(told, **how))

    def _print_to(self, stdout: TextIO | None, stderr: TextIO | None) -> None:
        if stdout:
            self.stdout = Screen(stdout)
        if stderr:
            self.stderr = Screen(stderr).styled_as(self.stderr)
