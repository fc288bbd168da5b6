"""`manage.py database roles [--dry-run] [--login NAME]`: the roles of PostgreSQL that keep tenants apart."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from tasks_app.core.phrases import counted
from tasks_app.management.terminal import TerminalCommand
from tasks_app.storage.isolation import can_set_up, facts, missing_steps, set_up, unknown_logins


class Command(TerminalCommand):
    help = "The roles, policies and rights of PostgreSQL by which a request sees the rows of its tenant alone."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        roles = verbs.add_parser("roles", help="make what is missing; `manage.py punctual_help isolation` explains it")
        roles.add_argument("--dry-run", action="store_true", help="print it as SQL, for whoever may run it")
        roles.add_argument(
            "--login", action="append", default=[], help="a login of web processes, beats or workers; may be repeated"
        )

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return bool(options["dry_run"])

    def for_programs(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            self._roles(options["login"], dry_run=options["dry_run"])
        except DatabaseError as error:
            raise CommandError(f"The database refused it: {str(error).strip()}") from None

    def _roles(self, logins: list[str], *, dry_run: bool) -> None:
        known = facts()
        if known is None:
            raise CommandError("Punctual's tables are not in this database. Run `manage.py migrate` first.")
        if strangers := unknown_logins(logins):
            raise CommandError(
                f"--login {strangers[0]}: the server has no such role. Make it first (CREATE ROLE ... LOGIN)."
            )
        if dry_run:
            for step in missing_steps(logins, all_roles=True):
                self.stdout.write(f"BEGIN; {'; '.join(step)}; COMMIT;" if len(step) > 1 else f"{step[0]};")
            return
        if not can_set_up():
            raise CommandError(
                f"{known.login} may not do this: it takes {known.owner}, which owns the tables, with the right to make "
                "roles (CREATEROLE), or a superuser. --dry-run prints the statements for them."
            )
        done = set_up(logins)
        self.stdout.write(f"{counted(len(done), 'statement')} run." if done else "Nothing was missing.")
        if done:
            self.stdout.write("Restart the web processes: those that run know of no roles.")
