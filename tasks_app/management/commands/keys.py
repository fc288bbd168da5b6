"""`manage.py keys show|on|off|rotate|reencrypt|stop|resume|destroy|decrypt`: the keys of tenants.

The installation's own, which these are sealed with, are the business of `manage.py secrets`.
"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.core.text import visible
from tasks_app.engine.operations.reveal import reveal
from tasks_app.engine.watch.keys import KeyView, keys_of, walk_view
from tasks_app.lifecycle import key_walk, tenant_keys, tenants
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account

AFTERWARDS = (
    "Backups that were taken before have the keys in them, sealed with the installation's: to make those worthless, "
    "too, put a new key first in SECRET_KEYS, run `manage.py secrets rotate`, and throw the old one away."
)


class Command(TerminalCommand):
    help = "The keys of tenants: shows, rotates and destroys them, and encrypts stored data anew."
    reads = ("show",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        show = verbs.add_parser("show", help="the keys there are, and how far stored data is under the newest of them")
        show.add_argument("tenant", nargs="?", help="of this tenant alone")
        show.add_argument("--json", action="store_true", dest="as_json", help="for programs")
        on = verbs.add_parser("on", help="encrypt all of a tenant's payloads, results, errors and secrets")
        off = verbs.add_parser("off", help="what is new is stored in the clear; what is encrypted stays so")
        rotate = verbs.add_parser("rotate", help="a new key for a tenant; stored data is brought under it by the beats")
        destroy = verbs.add_parser("destroy", help="all keys of a tenant, for good: nothing of it can be read again")
        for verb in (on, off, rotate, destroy):
            verb.add_argument("tenant")
        destroy.add_argument("--yes", action="store_true", help="without being asked")
        again = verbs.add_parser("reencrypt", help="bring all that is stored under the newest keys, from the beginning")
        stop = verbs.add_parser("stop", help="stop that; nothing is lost")
        resume = verbs.add_parser("resume", help="go on with it where it was stopped")
        decrypt = verbs.add_parser("decrypt", help="print what is encrypted of a task; the look is audited")
        decrypt.add_argument("task", type=int)
        for verb in (on, off, rotate, destroy, again, stop, resume, decrypt):
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
            if verb in (destroy, decrypt):
                verb.add_argument("--reason", required=True, help="why, for the audit")
            else:
                verb.add_argument("--reason", default="no reason was given", help="why, for the audit")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _show(self, options: dict[str, Any]) -> None:
        found, walk = keys_of(options["tenant"]), walk_view()
        if options["as_json"]:
            told = {"keys": [_as_json(one) for one in found], "walk": walk and walk.words}
            self.write_json(told, indent=2)
            return
        for one in found:
            self.stdout.write(visible(f"{one.tenant:30}  {one.words}"))
        if not found:
            self.stdout.write("No tenant has a key: nothing was encrypted yet.")
        if walk is not None:
            self.stdout.write(walk.words)

    def _on(self, options: dict[str, Any]) -> None:
        tenants.know([tenants.checked_tenant(options["tenant"])])
        done = tenants.edit(options["tenant"], {"encrypted": True}, _operator(options))
        words = "is encrypted from now on, and what is stored is being brought under its key"
        words = words if done.changed else "was encrypted already"
        self.stdout.write(f"What is written of tenant {options['tenant']!r} {words}.")

    def _off(self, options: dict[str, Any]) -> None:
        done = tenants.edit(options["tenant"], {"encrypted": False}, _operator(options))
        words = "is in the clear from now on; what is encrypted stays so"
        words = words if done.changed else "was in the clear already"
        self.stdout.write(f"What is written of tenant {options['tenant']!r} {words}.")

    def _rotate(self, options: dict[str, Any]) -> None:
        made = tenant_keys.rotate(tenants.checked_tenant(options["tenant"]), _operator(options))
        self.stdout.write(
            f"Key {made.id} encrypts what is written of tenant {made.tenant!r} from now on. The beats bring what is "
            "stored under it: `manage.py keys show` says how far they are."
        )

    def _destroy(self, options: dict[str, Any]) -> None:
        tenant = options["tenant"]
        if not options["yes"]:
            self.stdout.write(
                f"Nothing that was encrypted for tenant {tenant!r} can be read again, by anybody: neither what is "
                "live, nor its past, nor the archive. Its tasks fail."
            )
            if input("Type the name of the tenant to destroy its keys: ") != tenant:
                raise CommandError("That is not its name. Nothing was changed.")
        done = tenant_keys.destroy(tenant, _operator(options))
        self.stdout.write(f"{counted(done, 'key')} of tenant {tenant!r} destroyed.")
        self.stdout.write(AFTERWARDS)

    def _reencrypt(self, options: dict[str, Any]) -> None:
        key_walk.begin_walk(_operator(options))
        self.stdout.write(
            "The beats bring what is stored under the newest keys; `manage.py keys show` says how far they are."
        )

    def _stop(self, options: dict[str, Any]) -> None:
        key_walk.stop_walk(_operator(options))
        self.stdout.write("Stopped. `manage.py keys resume` goes on where it was.")

    def _resume(self, options: dict[str, Any]) -> None:
        key_walk.resume_walk(_operator(options))
        self.stdout.write("It goes on.")

    def _decrypt(self, options: dict[str, Any]) -> None:
        row = task_by_id(options["task"])
        if row is None:
            raise CommandError(f"There is no task {options['task']}; what is in the archive has to be restored first.")
        for part in reveal(row, _operator(options)):
            self.stdout.write(f"{part.title}:\n{part.text}")


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])


def _as_json(one: KeyView) -> dict[str, object]:
    times = {name: getattr(one, name) and getattr(one, name).isoformat() for name in ("created_at", "destroyed_at")}
    return one._asdict() | times
