"""`manage.py secrets key`, `status` and `rotate`: the keys that stored secrets are sealed with. `set`, `make`, `list`,
`withdraw` and `delete`: the secrets that callbacks refer to by name."""

import getpass
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import PunctualError
from tasks_app.core.keyring import new_key
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.text import visible
from tasks_app.engine.operations import secrets
from tasks_app.lifecycle import secret_verbs
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Secret
from tasks_app.sealing import keyring, keys_are_named


class Command(TerminalCommand):
    help = "The secrets of callbacks, and the keys that all stored secrets are sealed with."
    reads = ("status", "list")

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("key", help='a new key for PUNCTUAL["SECRET_KEYS"]')
        verbs.add_parser("status", help="how many secrets are sealed with which key")
        rotate = verbs.add_parser(
            "rotate", help="seal all secrets with the first key; then the others can be taken out"
        )
        given = verbs.add_parser("set", help="a secret of callbacks; its value is read from the standard input")
        made = verbs.add_parser("make", help="make a secret that signs callbacks, and print it this once")
        for verb in (given, made):
            verb.add_argument(
                "--host", action="append", dest="hosts", help="the only host it may be sent to; repeatable"
            )
            verb.add_argument("--keep-old", action="store_true", help="the old value signs, too, until it is withdrawn")
        withdraw = verbs.add_parser("withdraw", help="only the newest value of a secret is valid from now on")
        delete = verbs.add_parser("delete", help="forget a secret; what refers to it fails")
        for verb in (given, made, withdraw, delete):
            verb.add_argument("name", help="by which callbacks refer to it, such as billing-token")
            verb.add_argument("--tenant", default=DEFAULT_TENANT, help=f"whose it is; default: {DEFAULT_TENANT}")
        for verb in (rotate, given, made, withdraw, delete):
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
        verbs.add_parser("list", help="the secrets of callbacks, without their values")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _key(self, options: dict[str, Any]) -> None:
        self.stdout.write(new_key())
        self.stderr.write('Put it first in PUNCTUAL["SECRET_KEYS"] of every process, then run `secrets rotate`.')

    def _status(self, options: dict[str, Any]) -> None:
        first = keyring().first_id
        source = "named in PUNCTUAL" if keys_are_named() else "made from SECRET_KEY"
        in_use = secrets.keys_in_use()
        self.stdout.write(f"{first}  {in_use.pop(first, 0):6,} secrets  the key that seals, {source}")
        for key, number in sorted(in_use.items()):
            known = "an older key" if key in keyring() else "a key that is missing here: they can't be opened"
            self.stdout.write(f"{key}  {number:6,} secrets  {known}")

    def _rotate(self, options: dict[str, Any]) -> None:
        done = secrets.rotate()
        detail = {"key": keyring().first_id, "rewrapped": done.rewrapped, "unopened": len(done.unopened)}
        audit(_operator(options), "rotate", [Entry("stored secrets", "rotated", detail=detail)])
        self.stdout.write(f"{done.rewrapped:,} secrets are now sealed with the key {keyring().first_id}.")
        for words in done.unopened:
            self.stderr.write(words)
        if done.unopened:
            raise CommandError(f"{len(done.unopened):,} secrets could not be opened, and stay as they are.")

    def _set(self, options: dict[str, Any]) -> None:
        value = getpass.getpass("Its value: ") if sys.stdin.isatty() else sys.stdin.read().rstrip("\r\n")
        row = self._kept(options, value).row
        self.stdout.write(f"Secret {row.name!r} of tenant {row.tenant!r} is set.")

    def _make(self, options: dict[str, Any]) -> None:
        kept = self._kept(options, None)
        self.stdout.write(kept.made or "")
        self.stderr.write(
            f"Secret {kept.row.name!r} of tenant {kept.row.tenant!r}. Give it to the receiver now: ", ending=""
        )
        self.stderr.write("it won't be shown again.")

    def _kept(self, options: dict[str, Any], value: str | None) -> secret_verbs.Kept:
        how = {name: options[name] for name in ("tenant", "hosts", "keep_old")}
        return secret_verbs.set_secret(options["name"], _operator(options), value=value, **how)

    def _withdraw(self, options: dict[str, Any]) -> None:
        done = secret_verbs.withdraw(options["name"], _operator(options), tenant=options["tenant"])
        self.stdout.write(f"{counted(done, 'old value')} of {options['name']!r} withdrawn.")

    def _delete(self, options: dict[str, Any]) -> None:
        secret_verbs.delete(options["name"], _operator(options), tenant=options["tenant"])
        self.stdout.write(f"Secret {options['name']!r} of tenant {options['tenant']!r} is deleted.")

    def _list(self, options: dict[str, Any]) -> None:
        for row in Secret.objects.defer("values").order_by("tenant", "name"):
            what = "signs" if row.signs else "is sent"
            where = f" to {', '.join(row.hosts)}" if row.hosts else ""
            self.stdout.write(
                visible(f"{row.tenant:20}  {row.name:30}  {what}{where}  {row.updated_at:%Y-%m-%d %H:%M}")
            )


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])
