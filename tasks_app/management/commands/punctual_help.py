"""`manage.py punctual_help [PAGE]`: the documentation, without a network."""

import pydoc
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import nearest
from tasks_app.documentation import Page, pages
from tasks_app.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Prints a page of the documentation. Without a name, it lists all pages."
    requires_system_checks: Sequence[str] = ()  # it may explain what they report

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("page", nargs="?", help="such as deploy or moving/rq")
        parser.add_argument("--json", action="store_true", help="the list as JSON")

    def handle(self, *args: Any, page: str | None, **options: Any) -> None:
        known = {one.name: one for one in pages()}
        if options["json"]:
            self.write_json([{"page": one.name, "about": one.about} for one in known.values()])
        elif page is None:
            self._list(list(known.values()))
        else:
            name = page.partition("#")[0].removesuffix(".md").removeprefix("docs/")
            if name not in known:
                words = f"There is no page {page!r}.{nearest(name, known)}"
                raise CommandError(f"{words} `manage.py punctual_help` lists all pages.", returncode=2)
            self._print(known[name].file.read_text())

    def _list(self, known: list[Page]) -> None:
        width = max((len(one.name) for one in known), default=0)
        self._print("".join(f"{one.name:{width}}  {one.about}\n" for one in known))

    def _print(self, text: str) -> None:
        if self.stdout.isatty():
            pydoc.pager(text)
        else:
            self.stdout.write(text, ending="")
