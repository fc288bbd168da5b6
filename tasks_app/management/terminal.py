"""What our commands print: stored text is others' text, and a terminal obeys its control characters."""

import getpass
import os
import socket
import sys
from typing import TextIO

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import InterfaceError, OperationalError

from tasks_app import __version__
from tasks_app.conf import CHECKS
from tasks_app.core.text import visible
from tasks_app.lifecycle.audit import acting_from

UNUSABLE = 2  # the exit code if there is no database


def account() -> str:
    """Whose command this is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"  # a container may run as one that has no name


class Screen(OutputWrapper):
    def write(self, msg: str = "", style_func=None, ending: str | None = None) -> None:
        super().write(visible(msg, lines=True), style_func, ending)

    def steer(self, text: str) -> None:
        """Our own control characters, and nothing of others': to draw over a line, say."""
        self._out.write(text)


def _unusable(error: OperationalError | InterfaceError) -> bool:
    """Not so if a lock was not let go of, or a statement took too long: then PostgreSQL says what it was."""
    code = getattr(error.__cause__, "sqlstate", None)
    return code is None or code.startswith(("08", "53", "57P"))


class TerminalCommand(BaseCommand):
    """A command whose output has no control character but breaks of lines, whatever it prints."""

    requires_system_checks = (CHECKS,)  # not those of addresses and pages, which would be imported for them

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **colours: bool) -> None:
        super().__init__(stdout, stderr, **colours)
        self._print_to(stdout or sys.stdout, stderr or sys.stderr)

    def get_version(self) -> str:
        """What `--version` says; without it, it would be Django's."""
        return f"Punctual {__version__}"

    def execute(self, *args, **options):
        # Given by call_command, and taken here: Django would put wrappers of its own around them.
        self._print_to(options.pop("stdout", None), options.pop("stderr", None))
        try:
            with acting_from(f"the command line of {account()} on {socket.gethostname()}"):
                return super().execute(*args, **options)
        except (OperationalError, InterfaceError) as error:  # a command that can say more has done so
            if not _unusable(error):
                raise
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be used: {words}", returncode=UNUSABLE) from error

    def _print_to(self, stdout: TextIO | None, stderr: TextIO | None) -> None:
        if stdout:
            self.stdout = Screen(stdout)
        if stderr:
            style, self.stderr = self.stderr.style_func, Screen(stderr)
            self.stderr.style_func = style
