"""`manage.py secrets key`, `status` and `rotate`: the keys that stored secrets are sealed with."""

from django.core.management.base import CommandError

from tasks_app.core.errors import PunctualError
from tasks_app.core.keyring import new_key
from tasks_app.engine.operations import secrets
from tasks_app.management.terminal import TerminalCommand
from tasks_app.sealing import keyring, keys_are_named


class Command(TerminalCommand):
    help = "Makes a key, says which keys the stored secrets are sealed with, and seals them with the first one."

    def add_arguments(self, parser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("key", help='a new key for PUNCTUAL["SECRET_KEYS"]')
        verbs.add_parser("status", help="how many secrets are sealed with which key")
        verbs.add_parser("rotate", help="seal all secrets with the first key; then the others can be taken out")

    def handle(self, *args, **options) -> None:
        try:
            getattr(self, f"_{options['verb']}")()
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _key(self) -> None:
        self.stdout.write(new_key())
        self.stderr.write('Put it first in PUNCTUAL["SECRET_KEYS"] of every process, then run `secrets rotate`.')

    def _status(self) -> None:
        first = keyring().first_id
        source = "named in PUNCTUAL" if keys_are_named() else "made from SECRET_KEY"
        in_use = secrets.keys_in_use()
        self.stdout.write(f"{first}  {in_use.pop(first, 0):6,} secrets  the key that seals, {source}")
        for key, number in sorted(in_use.items()):
            known = "an older key" if key in keyring() else "a key that is missing here: they can't be opened"
            self.stdout.write(f"{key}  {number:6,} secrets  {known}")

    def _rotate(self) -> None:
        done = secrets.rotate()
        self.stdout.write(f"{done.rewrapped:,} secrets are now sealed with the key {keyring().first_id}.")
        for words in done.unopened:
            self.stderr.write(words)
        if done.unopened:
            raise CommandError(f"{len(done.unopened):,} secrets could not be opened, and stay as they are.")
