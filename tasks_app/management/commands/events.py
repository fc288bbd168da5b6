"""`manage.py events`: which events there are, which of them are kept, and what each carries."""

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from tasks_app.conf import conf
from tasks_app.core.events import KINDS, OWN_NOUNS, Kind, schema_of
from tasks_app.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Lists the events that there are, those of your apps included, and says which are kept."

    def add_arguments(self, parser: CommandParser) -> None:
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="the JSON schema of each, by its name")
        form.add_argument("--page", action="store_true", help="as the part of docs/events.md that lists them")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({name: schema_of(kind) for name, kind in KINDS.items()}, indent=2))
        elif options["page"]:
            self.stdout.write(page_of(KINDS.values()))
        else:
            kept = conf().kept_events
            for kind in KINDS.values():
                self.stdout.write(f"{'kept' if kind.name in kept else '-':5} {kind.name:30} {kind.sentence}")


def page_of(kinds: Iterable[Kind]) -> str:
    """The scheduler's own first, then those of the apps by name: in whatever order they were loaded."""
    kinds = list(kinds)
    own = [kind for kind in kinds if _noun(kind) in OWN_NOUNS]
    apps = sorted(kind for kind in kinds if _noun(kind) not in OWN_NOUNS)
    return "\n\n".join(_section(kind) for kind in [*own, *apps])


def _noun(kind: Kind) -> str:
    return kind.name.partition(".")[0]


def _section(kind: Kind) -> str:
    state = f" The task is then `{kind.state}`." if kind.state else ""
    run = " It tells of a run: `attempt` and `worker` are set." if kind.run else ""
    parts = [f"### {kind.name}", f"{kind.sentence}{state}{run}"]
    if kind.data == {"type": "null"}:
        parts.append("Its `data` is `null`.")
    else:
        parts.append(f"```json\n{_compact(kind.data)}\n```")
        parts.append(f"For example `{json.dumps(kind.example)}`")
    return "\n\n".join(parts)


def _compact(schema: dict[str, Any]) -> str:
    """One field a line."""
    if "properties" not in schema:
        return json.dumps(schema)
    rest = json.dumps({name: value for name, value in schema.items() if name != "properties"})
    fields = ",\n".join(f"  {json.dumps(name)}: {json.dumps(field)}" for name, field in schema["properties"].items())
    return f'{rest[:-1]}, "properties": {{\n{fields}\n}}}}'
