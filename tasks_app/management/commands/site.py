"""`manage.py site show|activate|standby`: which site works; another one takes over, or none works.

Exit code 0: done. 1: it was refused, and nothing was changed; or the old site could not be shut out yet. 2: the
database can't be used.
"""

import time
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.phrases import counted, span
from tasks_app.core.schedule import in_zone
from tasks_app.documentation import page
from tasks_app.engine.operations import site as orders
from tasks_app.engine.watch.site_status import SitesView, SiteView, read_sites
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.installation import look
from tasks_app.management.terminal import TerminalCommand, account

WAIT_SECONDS = 120.0
PAUSE_SECONDS = 0.5


class Command(TerminalCommand):
    help = (
        "Shows which site works and which stand by; activates another one, or lets all of them stand by. "
        f"{page('site')} explains how to run a second site."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        show = verbs.add_parser("show", help="the active site, and who is alive at each")
        activate = verbs.add_parser("activate", help="this site works from now on, and no other")
        standby = verbs.add_parser("standby", help="no site works, until one is activated")
        activate.add_argument("site", nargs="?", help="its name; default: the site of this process")
        activate.add_argument("--anyway", action="store_true", help="even if none of its beats is alive")
        activate.add_argument(
            "--wait",
            type=float,
            nargs="?",
            const=WAIT_SECONDS,
            default=0.0,
            metavar="SECONDS",
            help=f"until all lanes go on, at most so long; {WAIT_SECONDS:g} if no number is given",
        )
        for verb in (activate, standby):
            verb.add_argument("--dry-run", action="store_true", help="only say what it would do")
            verb.add_argument("--reason", help="why, for the audit")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
        for verb in (show, activate, standby):
            verb.add_argument("--json", action="store_true", help="one JSON object, for programs")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] == "show" or bool(options.get("dry_run"))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _show(self, options: dict[str, Any]) -> None:
        if self.answering is None:
            look()  # as a beat would: the installation may have no row yet
        self._told(read_sites(), options)

    def _activate(self, options: dict[str, Any]) -> None:
        site = options["site"] or conf().site
        if options["dry_run"]:
            self._foreseen(site, options)
            return
        begun = time.monotonic()
        orders.activate(site, self._operator(options), anyway=options["anyway"])
        took = time.monotonic() - begun
        if not options["json"]:
            self.stdout.write(f"Site {site!r} works since {took:.1f} s after the order, and no other one does.")
        deadline = begun + options["wait"]
        while (seen := read_sites()).resuming and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
        self._told(seen, options, seconds=round(took, 3))

    def _standby(self, options: dict[str, Any]) -> None:
        if options["dry_run"]:
            self._foreseen(None, options)
            return
        orders.stand_by(self._operator(options))
        self._told(read_sites(), options)

    def _foreseen(self, site: str | None, options: dict[str, Any]) -> None:
        seen = orders.preview(site)
        if options["json"]:
            self.write_json(asdict(seen) | {"words": str(seen)})
        else:
            self.stdout.write(f"Nothing was changed. {seen}")

    def _told(self, seen: SitesView, options: dict[str, Any], **more: object) -> None:
        if options["json"]:
            self.write_json(asdict(seen) | more, cls=DjangoJSONEncoder)
            return
        since = f", since {in_zone(seen.since, 'UTC')}" if seen.since and seen.epoch else ""
        if seen.chosen:
            self.stdout.write(f"Site {seen.chosen!r} is being opened{since}.")
        elif seen.active is None:
            self.stdout.write(f"All sites stand by{since}: nothing is started.")
        else:
            self.stdout.write(f"Active: {seen.active}{since}.")
        for one in seen.sites:
            here = "   (here)" if one.name == seen.own else ""
            self.stdout.write(
                f"  {one.name:12} {one.state:12} {counted(one.beats, 'beat'):>8} {counted(one.workers, 'worker'):>10} "
                f"{counted(one.slots, 'slot'):>8}   {_last_beat(one)}{here}"
            )
        for standby in seen.standbys:
            self.stdout.write(f"Standby of the database: {standby}.")
        if seen.resuming:
            self.stdout.write(f"Lanes go on one after the other: `manage.py recover --report {seen.resuming!r}`.")

    def _operator(self, options: dict[str, Any]) -> Operator:
        if not options["reason"]:
            raise InvalidTask("--reason is missing; say briefly why, for whoever reads it later.")
        return Operator(options["by"], options["reason"])


def _last_beat(one: SiteView) -> str:
    if one.seen_seconds_ago is None:
        return "no beat known"
    return f"last beat {span(timedelta(seconds=max(1, round(one.seen_seconds_ago))))} ago"
