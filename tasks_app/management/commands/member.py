"""`manage.py member list|grant|revoke`: who is what in which tenant."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import PunctualError
from tasks_app.core.roles import Role
from tasks_app.core.text import visible
from tasks_app.engine.operations import members
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Membership


class Command(TerminalCommand):
    help = "Lists the members of tenants, gives a user a role in one, or takes it away."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listed = verbs.add_parser("list", help="who is what, in all tenants or one")
        listed.add_argument("--tenant", help="of this one only")
        grant = verbs.add_parser("grant", help="give a user a role in a tenant, in place of the one they have there")
        revoke = verbs.add_parser("revoke", help="a user has no role in the tenant any more")
        for verb in (grant, revoke):
            verb.add_argument("user", help="the user name")
            verb.add_argument("--tenant", required=True)
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
        grant.add_argument("--role", required=True, help=", ".join(Role))
        for verb in (listed, grant, revoke):
            verb.add_argument("--json", action="store_true", dest="as_json", help="for programs")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _list(self, options: dict[str, Any]) -> None:
        rows = Membership.objects.order_by("tenant", "username")
        found = list(rows.filter(tenant=options["tenant"]) if options["tenant"] else rows)
        if options["as_json"]:
            self._tell([_as_dict(row) for row in found])
            return
        for row in found:
            kept = f", kept by {row.source}" if row.source else ""
            about = f"{row.tenant:30}  {row.role:8}  {row.username}  granted by {row.granted_by}{kept}"
            self.stdout.write(visible(about))
        if not found:
            self.stdout.write("There are no members: whoever has Django's permissions works in all tenants.")

    def _grant(self, options: dict[str, Any]) -> None:
        tenant, user = options["tenant"], options["user"]
        done = members.grant(tenant, user, options["role"], _operator(options))
        if options["as_json"]:
            self._tell(_as_dict(done.row) | {"before": done.before})
            return
        was = f", was {done.before}" if done.before and done.changed else "" if done.changed else " already"
        self.stdout.write(visible(f"{user} is {done.row.role} in tenant {tenant!r}{was}."))
        if not members.user_named(user).is_staff:
            self.stderr.write(f"They can't enter the console yet: set is_staff of user {user!r}.")

    def _revoke(self, options: dict[str, Any]) -> None:
        before = members.revoke(options["tenant"], options["user"], _operator(options))
        if options["as_json"]:
            self._tell({"tenant": options["tenant"], "user": options["user"], "before": before, "role": None})
            return
        self.stdout.write(visible(f"{options['user']} has no role in tenant {options['tenant']!r} any more."))

    def _tell(self, what: object) -> None:
        self.stdout.write(json.dumps(what, indent=2))


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])


def _as_dict(row: Membership) -> dict[str, object]:
    return {
        "tenant": row.tenant,
        "user": row.username,
        "role": row.role,
        "source": row.source,
        "granted_by": row.granted_by,
        "since": row.updated_at.isoformat(),
    }
