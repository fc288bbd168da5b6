"""`manage.py compensate_articles`: compare articles with their tasks, and repair what was lost.

The scan itself is in `articles_app/compensation.py`. A beat runs it once a minute.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command

from django_punctual.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Finds articles whose audit, publish or offline task is missing or wrong, and repairs them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what is wrong, without repairing it")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def handle(self, *args: Any, **options: Any) -> None:
        flags = {"dry_run": options["dry_run"], "json": options["json"]}
        call_command("compensate", "articles", **flags, stdout=self.stdout, stderr=self.stderr)
