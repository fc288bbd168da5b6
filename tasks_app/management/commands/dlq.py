"""`manage.py dlq list|groups|show|replay|discard|tag`: dead letters for a terminal and for scripts.

Exit code 0: something was found, or done. 1: nothing matches. 2: it makes no sense, or the database can't be used.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.core.campaigns import CAP
from tasks_app.core.errors import InvalidTask, NothingToDo, PunctualError
from tasks_app.core.phrases import counted, first_line
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.operations.letters import Foreseen, change_tags, deal_with, foresee
from tasks_app.engine.watch.letters import Cause, LetterFilter, causes, page_of_letters
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE
from tasks_app.lifecycle.operate import Verb
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Campaign, DlqEntry

from .history import an_instant

SHOWN = 100  # letters or causes, unless --limit says otherwise
PAGE = 500
NOTHING, UNUSABLE = 1, 2  # exit codes
_PAST = {Verb.REPLAY: "replayed", Verb.DISCARD: "discarded"}
_DOES = {Verb.REPLAY: "replays", Verb.DISCARD: "discards"}


class Command(TerminalCommand):
    help = "Lists dead letters and their causes, shows one, and replays or discards one, some, or all that match."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="open dead letters, the latest first")
        groups = verbs.add_parser("groups", help="their causes, the largest first")
        show = verbs.add_parser("show", help="one letter with its payload and stack")
        replay = verbs.add_parser("replay", help="run their tasks again, as a campaign")
        discard = verbs.add_parser("discard", help="give their tasks up for good, as a campaign")
        tag = verbs.add_parser("tag", help="add and remove tags of a letter")
        for one in (show, tag):
            one.add_argument("id", type=int, help="of the letter, as `dlq list` shows it")
        tag.add_argument("--add", action="append", default=[], metavar="TAG")
        tag.add_argument("--remove", action="append", default=[], metavar="TAG")
        replay.add_argument("--lane", default=LANE, help=f"in which they wait for their turn; {LANE} unless told")
        for one in (listing, groups, replay, discard):
            _add_filter(one)
        for one in (listing, groups):
            one.add_argument("--limit", type=int, default=SHOWN, help=f"at most so many; {SHOWN} unless told")
        for one in (replay, discard):
            one.add_argument("ids", type=int, nargs="*", help="letters, by their ids; or give a filter")
            one.add_argument("--all", action="store_true", dest="everything", help="yes, all of them")
            one.add_argument("--limit", type=int, default=CAP, help=f"no more letters than this; {CAP:,} unless told")
            one.add_argument("--rate", type=float, help="tasks a second; no limit unless told")
            one.add_argument("--dry-run", action="store_true", help="only say how many there are")
        for one in (replay, discard, tag):
            one.add_argument("--by", default=account(), help="who does this; default: the system user")
            one.add_argument("--reason", default="no reason was given", help="why, for the audit")
        for one in verbs.choices.values():
            one.add_argument("--json", action="store_true", help="one JSON object a line")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] in ("list", "groups", "show") or bool(options.get("dry_run"))

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = getattr(self, f"_{options['verb']}")(options)
        except NothingToDo:
            found = 0
        except PunctualError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from None
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be used: {words}", returncode=UNUSABLE) from None
        if not found:
            self.stderr.write("Nothing matches.")
            sys.exit(NOTHING)

    def _list(self, options: dict[str, Any]) -> int:
        letters, limit, count = _walk(_wanted(options)), _positive(options["limit"]), 0
        for letter in islice(letters, limit):
            count += 1
            self.stdout.write(json.dumps(_as_json(letter), ensure_ascii=False) if options["json"] else _line(letter))
        if count == limit and not options["json"] and next(letters, None) is not None:
            self.stderr.write(f"There are more than {limit:,}: give --limit or a narrower filter, or see `dlq groups`.")
        return count

    def _groups(self, options: dict[str, Any]) -> int:
        found = causes(_wanted(options), _positive(options["limit"]))
        for one in found.causes:
            self.stdout.write(json.dumps(_cause_as_json(one), ensure_ascii=False) if options["json"] else _cause(one))
        if not found.complete:
            self.stderr.write("There are more causes than were looked at: give a narrower filter.")
        return len(found.causes)

    def _show(self, options: dict[str, Any]) -> int:
        letter = _letter(options["id"])
        if letter is None:
            return 0
        task = task_by_id(letter.task_id)
        about = {"key": task and task.biz_key, "payload": task and task.payload, "traceback": letter.traceback}
        told = _as_json(letter) | about
        if options["json"]:
            self.write_json(told, ensure_ascii=False)
            return 1
        for name, value in told.items():
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
            self.stdout.write(f"{name:12} {'-' if shown in (None, '') else shown}")
        return 1

    def _replay(self, options: dict[str, Any]) -> int:
        return self._order(Verb.REPLAY, options)

    def _discard(self, options: dict[str, Any]) -> int:
        return self._order(Verb.DISCARD, options)

    def _order(self, verb: Verb, options: dict[str, Any]) -> int:
        wanted, ids, campaign = _wanted(options), options["ids"] or None, None
        _refuse_unclear(wanted, options)
        pace = Pace(_positive(options["limit"]), options["rate"], options.get("lane") or LANE)
        foreseen = foresee(wanted, pace.cap, ids)
        if not foreseen.letters:
            return 0
        if not options["dry_run"]:
            campaign = deal_with(verb, wanted, Operator(options["by"], options["reason"]), pace, letters=ids)
        if options["json"]:
            self.write_json(_ordered(foreseen, campaign))
        else:
            self.stdout.write(_said(verb, foreseen, campaign))
        return foreseen.letters

    def _tag(self, options: dict[str, Any]) -> int:
        letter, operator = _letter(options["id"]), Operator(options["by"], options["reason"])
        if letter is None:
            return 0
        tags = change_tags(letter, operator, add=options["add"], remove=options["remove"])
        if tags is None:
            return 0
        self.stdout.write(json.dumps({"id": letter.id, "tags": tags}) if options["json"] else ", ".join(tags) or "-")
        return 1


def _add_filter(parser: ArgumentParser) -> None:
    parser.add_argument("--tag")
    parser.add_argument("--fingerprint", help="the cause, as `dlq groups` shows it")
    parser.add_argument("--type", dest="task_type", metavar="TYPE")
    parser.add_argument("--tenant")
    parser.add_argument("--job", type=int, help="of which they are instances, by its id")
    parser.add_argument("--since", type=an_instant, help="died then or later, in UTC: 2026-11-01T09:00")
    parser.add_argument("--until", type=an_instant, help="died before")


def _wanted(options: dict[str, Any]) -> LetterFilter:
    names = ("tag", "fingerprint", "task_type", "tenant", "job", "since", "until")
    return LetterFilter(**{name: options[name] for name in names})


def _refuse_unclear(wanted: LetterFilter, options: dict[str, Any]) -> None:
    narrowed = wanted.narrowed or wanted.tenant is not None
    if options["ids"] and (narrowed or options["everything"]):
        raise InvalidTask("give either the ids of letters or a filter, not both.")
    if options["everything"] and narrowed:
        raise InvalidTask("--all and a filter contradict each other. Leave one of the two out.")
    if not options["ids"] and not narrowed and not options["everything"]:
        raise InvalidTask("which letters? Give their ids, a filter such as --fingerprint or --tag, or --all.")


def _positive(limit: int) -> int:
    if limit < 1:
        raise InvalidTask(f"--limit {limit}: it must be 1 or more.")
    return limit


def _letter(letter_id: int) -> DlqEntry | None:
    return DlqEntry.objects.filter(id=letter_id).first() if 0 < letter_id < 2**63 else None


def _walk(wanted: LetterFilter) -> Iterator[DlqEntry]:
    after = None
    while True:
        page = page_of_letters(wanted, after, PAGE)
        yield from page.letters
        after = page.next
        if after is None:
            return


def _line(letter: DlqEntry) -> str:
    tags = f" [{', '.join(letter.tags)}]" if letter.tags else ""
    about = f"{letter.task_type} {letter.error_code}: {first_line(letter.error_msg)}{tags}"
    return f"{letter.id:8}  {_moment(letter.created_at)}  {letter.fingerprint}  task {letter.task_id}  {about}"


def _cause(one: Cause) -> str:
    many = f"{one.letters:,}{'' if one.complete else '+'}"
    about = f"{one.task_type} {one.error_code}: {first_line(one.error_msg)}"
    return f"{many:>8}  {one.fingerprint}  {_moment(one.first_at)} to {_moment(one.last_at)}  {about}"


def _said(verb: Verb, foreseen: Foreseen, campaign: Campaign | None) -> str:
    found = f"{counted(foreseen.letters, 'dead letter')}{'' if foreseen.complete else ' or more'}"
    if campaign is None:
        taken = f", {foreseen.taken:,} of them because of --limit" if foreseen.taken < foreseen.letters else ""
        return f"{found} would be {_PAST[verb]}{taken}. Nothing was changed."
    return f"Campaign {campaign.id} {_DOES[verb]} {counted(campaign.total, 'task')}, of {found} found."


def _ordered(foreseen: Foreseen, campaign: Campaign | None) -> dict[str, Any]:
    return {
        "letters": foreseen.letters,
        "complete": foreseen.complete,
        "taken": campaign.total if campaign else foreseen.taken,
        "campaign": campaign and campaign.id,
    }


def _as_json(letter: DlqEntry) -> dict[str, Any]:
    names = ("id", "task_id", "tenant", "task_type", "fingerprint", "tags", "error_code", "error_msg", "frame", "job")
    closed = {"closed_at": letter.closed_at and letter.closed_at.isoformat(), "closed_by": letter.closed_by}
    told = {name: getattr(letter, name) for name in names}
    return told | {"status": letter.replay_status, "created_at": letter.created_at.isoformat()} | closed


def _cause_as_json(one: Cause) -> dict[str, Any]:
    names = ("fingerprint", "task_type", "error_code", "frame", "letters")
    told = {name: getattr(one, name) for name in names} | {"error_msg": first_line(one.error_msg)}
    times = {"first_at": one.first_at.isoformat(), "last_at": one.last_at.isoformat()}
    return told | times | {"exact": one.complete, "sample": one.letter}


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
