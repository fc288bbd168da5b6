"""`manage.py api_token issue NAME --tenant T [--right R] [--types A,B] [--lanes default,low] [--days N]`, `list`,
`change ID` and `revoke ID`: keys to the REST API. `issue NAME --metrics` makes one that reads /metrics and nothing
else."""

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.roles import USUAL_LANES, Right
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.core.text import visible
from tasks_app.engine.operations import api_tokens
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import ApiToken


class Command(TerminalCommand):
    help = "Issues, lists and revokes tokens of the REST API. A token is shown once, when it is issued."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        issue = verbs.add_parser("issue", help="a new token")
        issue.add_argument("name", help="who will use it")
        whose = issue.add_mutually_exclusive_group(required=True)
        whose.add_argument("--tenant", help="the tenant whose tasks and jobs it sees and changes")
        whose.add_argument("--metrics", action="store_true", help="it reads /metrics, of all tenants, and nothing else")
        issue.add_argument("--internal", action="store_true", help=f"yes, I mean tenant {INTERNAL_TENANT!r}")
        may = issue.add_mutually_exclusive_group()
        may.add_argument("--write", action="store_true", help="it may change everything of the tenant: --right operate")
        may.add_argument(
            "--right", choices=[one.value for one in Right], help="the highest it has, which includes those before it"
        )
        issue.add_argument(
            "--decrypt", action="store_true", help="it may see what is encrypted of the tasks it may use"
        )
        issue.add_argument(
            "--types", type=api_tokens.listed, help="all it may see and use; default: all open to its tenant"
        )
        issue.add_argument(
            "--lanes",
            type=api_tokens.listed,
            default=USUAL_LANES,
            help=f"default: {','.join(USUAL_LANES)}",
        )
        issue.add_argument("--days", type=float, help="expire it after this many days")
        verbs.add_parser("list", help="all tokens, without their text")
        change = verbs.add_parser("change", help="other rights, types or lanes, from the next call on")
        change.add_argument("id", type=int)
        change.add_argument(
            "--right", choices=[one.value for one in Right], help="the highest it has, which includes those before it"
        )
        change.add_argument("--types", type=api_tokens.listed, default=SUPPRESS, help="all it may see and use")
        change.add_argument("--all-types", action="store_true", help="all types that are open to its tenant")
        change.add_argument("--lanes", type=api_tokens.listed, help="that it may use")
        revoke = verbs.add_parser("revoke", help="stop it from working, for good")
        revoke.add_argument("id", type=int)
        for verb in (issue, change, revoke):
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except (InvalidTask, NotThere) as error:
            raise CommandError(str(error)) from None

    def _issue(self, options: dict[str, Any]) -> None:
        if options["metrics"]:
            self._issue_for_metrics(options)
            return
        how = {"can_write": options["write"], "rights": options["right"] and [options["right"]]}
        how["can_decrypt"] = options["decrypt"]
        how |= {name: options[name] for name in ("days", "types", "lanes", "internal")}
        token, text = api_tokens.issue(options["name"], options["tenant"], _operator(options), **how)
        self.stdout.write(text)
        if options["internal"]:
            self.stderr.write("Careful: it reaches the scheduler's own tasks and those of its apps.")
        self.stderr.write(f"Token {token.id} of tenant {token.tenant!r}. Keep it: it won't be shown again.")

    def _issue_for_metrics(self, options: dict[str, Any]) -> None:
        usual: dict[str, Any] = {"internal": False, "write": False, "right": None, "decrypt": False, "types": None}
        usual["lanes"] = USUAL_LANES
        for name, value in usual.items():
            if options[name] != value:
                raise CommandError(
                    f"--{name} means nothing beside --metrics: such a token reads /metrics. Leave it out."
                )
        token, text = api_tokens.issue_for_metrics(options["name"], _operator(options), days=options["days"])
        self.stdout.write(text)
        self.stderr.write(f"Token {token.id} reads /metrics and nothing else. Keep it: it won't be shown again.")

    def _list(self, options: dict[str, Any]) -> None:
        for token in ApiToken.objects.order_by("id"):
            state = "revoked" if token.revoked_at else f"until {token.expires_at:%Y-%m-%d}" if token.expires_at else ""
            rights = api_tokens.rights_of(token)
            used = f"used {token.last_used_at:%Y-%m-%d}" if token.last_used_at else "never used"
            types, lanes = ", ".join(token.types or ["all open types"]), ", ".join(token.lanes or ["all lanes"])
            if token.metrics:
                types, lanes = "figures", "all lanes"
            about = f"{token.hint}…  {token.tenant:20} {rights:7}  {types} in {lanes}  {used:15}  {token.name}  {state}"
            self.stdout.write(visible(f"{token.id:6}  {about}"))

    def _change(self, options: dict[str, Any]) -> None:
        types = {"types": options["types"]} if "types" in options else {}
        types |= {"types": None} if options["all_types"] else {}
        rights = options["right"] and [options["right"]]
        how = {"rights": rights, "lanes": options["lanes"]} | types
        token, changed = api_tokens.change(options["id"], _operator(options), **how)
        words = f"may {api_tokens.rights_of(token)} now" if changed else "is so already; nothing was changed"
        self.stdout.write(visible(f"Token {token.id} ({token.name}) {words}."))

    def _revoke(self, options: dict[str, Any]) -> None:
        if not api_tokens.revoke(options["id"], _operator(options)):
            raise CommandError(f"there is no token {options['id']} to revoke; see `api_token list`.")
        self.stdout.write(f"Token {options['id']} no longer works.")


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])
