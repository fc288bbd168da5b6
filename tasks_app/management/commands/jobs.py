"""`manage.py jobs apply|export|list|release`: jobs as code, from a YAML or Python file in your repository.

Exit code 0: applied, or nothing to do. 1: with --check, something would change. 2: the file or the order is wrong, and
nothing was changed. 3: what the file would change was changed by hand, so nothing was changed.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from tasks_app.core.errors import Conflicting, PunctualError
from tasks_app.core.phrases import counted
from tasks_app.engine.operations.declared_jobs.apply import apply, release
from tasks_app.engine.operations.declared_jobs.document import BadFile
from tasks_app.engine.operations.declared_jobs.export import few_enough, file_of, jobs_of
from tasks_app.engine.operations.declared_jobs.plan import ALL, CHANGES, Action, Plan, Step, Wanted, plan
from tasks_app.engine.operations.declared_jobs.reading import read, yaml
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.declared import drift, records_of
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.jobs.view import schedule_in_words
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import JobDefinition

CHANGED, BAD, DRIFTED = 1, 2, 3
_MARKS = {Action.CREATE: "+", Action.CHANGE: "~", Action.PRUNE: "-", Action.LEFT: "?"}
_DONE = {Action.CREATE: "created", Action.CHANGE: "changed", Action.PRUNE: "deleted"}
_TO_DO = {Action.CREATE: "to create", Action.CHANGE: "to change", Action.PRUNE: "to delete"}
_WORDS = {
    Action.ADOPT: "is as the file says, and declared by it from now on",
    Action.FORGET: "is gone, and no longer in the file either",
    Action.LEFT: "is no longer in the file; --prune deletes it",
    Action.KEEP: "stays as it is",
}


class Command(TerminalCommand):
    help = "Applies a file of jobs, shows what it would change, and writes the jobs that are there as such a file."
    reads = ("list", "export")

    def add_arguments(self, parser: ArgumentParser) -> None:
        orders = parser.add_subparsers(dest="verb", required=True)
        applied = orders.add_parser("apply", help="make the jobs what a file says")
        applied.add_argument(
            "file", help="a .yaml, .yml or .py file; `manage.py punctual_help jobs-as-code` says what is in it"
        )
        applied.add_argument("--prune", action="store_true", help="delete the jobs that the file no longer has")
        applied.add_argument("--dry-run", action="store_true", help="only say what would be done")
        applied.add_argument("--check", action="store_true", help="a dry run; ends with 1 if there is a change")
        applied.add_argument(
            "--overwrite",
            action="append",
            default=[],
            metavar="NAME",
            help="undo what was done to it by hand; or `all`",
        )
        applied.add_argument(
            "--keep", action="append", default=[], metavar="NAME", help="leave what was done to it by hand; or `all`"
        )
        applied.add_argument("--source", help="what the file is called; default: its `source:`, else its name")
        applied.add_argument("--reason", help="why, for the audit; default: the name of the file")
        written = orders.add_parser("export", help="write the jobs that are there as a YAML file")
        listed = orders.add_parser("list", help="the jobs that are there, and which file declares each")
        for one in (written, listed):
            one.add_argument("--tenant", help="only this tenant's")
            one.add_argument("--source", help="only those that this file declares")
            one.add_argument("--undeclared", action="store_true", help="only those that no file declares")
        listed.add_argument("--limit", type=int, default=1000, help="at most so many; default: 1000")
        freed = orders.add_parser("release", help="let a file's jobs be nobody's: they stay as they are")
        freed.add_argument("source", help="what the file is called, as `jobs list` shows it")
        freed.add_argument("names", nargs="*", metavar="NAME", help="these jobs; default: all of the file's")
        freed.add_argument("--reason", required=True, help="why, for the audit")
        for one in (applied, freed):
            one.add_argument("--by", default=account(), help="who does this; default: the system user")
        for one in (applied, listed):
            one.add_argument("--json", action="store_true", help="as JSON: one object for apply, one a line for list")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return super().only_reads(options) or bool(options.get("dry_run") or options.get("check"))

    def for_programs(self, options: Mapping[str, Any]) -> bool:
        return super().for_programs(options) or options["verb"] == "export"

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except BadFile as error:
            raise CommandError(f"{error}\nNothing was changed.", returncode=BAD) from None
        except Conflicting as error:
            raise CommandError(str(error), returncode=DRIFTED) from None
        except PunctualError as error:
            raise CommandError(str(error), returncode=BAD) from None

    def _apply(self, options: dict[str, Any]) -> None:
        dry = options["dry_run"] or options["check"]
        file = read(options["file"], options["source"])
        wanted = Wanted(options["prune"], options["overwrite"], options["keep"])
        reason = options["reason"] or f"applied from {file.source}"
        operator = Operator(options["by"], reason)
        decided = plan(file, wanted) if dry else apply(file, wanted, operator)
        if options["json"]:
            self.write_json(_as_json(decided, dry), indent=2)
        else:
            self.stdout.write("\n".join([*_lines(decided), *_summary(decided, dry)]))
        if decided.refused:
            sys.exit(DRIFTED)
        if options["check"] and decided.changes:
            sys.exit(CHANGED)

    def _export(self, options: dict[str, Any]) -> None:
        found = few_enough(_rows(options))
        self.stdout.write(yaml().write(file_of(found, options["source"])), ending="")

    def _list(self, options: dict[str, Any]) -> None:
        if options["limit"] < 1:
            raise CommandError(f"--limit is {options['limit']}; it must be 1 or more.", returncode=BAD)
        found = list(_rows(options)[: options["limit"] + 1])
        more, found = len(found) > options["limit"], found[: options["limit"]]
        records = records_of(found)
        for job in found:
            record = records.get(job.id)
            changed = [one.field for one in drift(record, job)] if record else []
            if options["json"]:
                declared = record and {"source": record.source, "applied_at": record.applied_at, "drift": changed}
                told = {
                    name: getattr(job, name) for name in ("id", "tenant", "name", "task_type", "status", "revision")
                }
                schedule = {"schedule": schedule_in_words(job), "declared": declared}
                self.stdout.write(json.dumps(told | schedule, default=str))
                continue
            where = record.source if record else "-"
            by_hand = f"; changed by hand: {', '.join(changed)}" if changed else ""
            self.stdout.write(f"{job.id:<6} {job.tenant}  {job.name}  {job.status}  {where}{by_hand}")
            self.stdout.write(f"       {job.task_type}: {schedule_in_words(job)}")
        if not options["json"] and (more or not found):
            self.stdout.write("There are more; --limit shows them." if more else "No job.")

    def _release(self, options: dict[str, Any]) -> None:
        records = release(options["source"], options["names"], Operator(options["by"], options["reason"]))
        for one in records:
            self.stdout.write(f"= {one.name}: no longer declared by {one.source}; it stays as it is")


def _rows(options: dict[str, Any]) -> QuerySet[JobDefinition]:
    if options["source"] and options["undeclared"]:
        raise CommandError("--source and --undeclared exclude each other; give the one you mean.", returncode=BAD)
    return jobs_of(options["tenant"], options["source"], undeclared=options["undeclared"])


def _lines(decided: Plan) -> list[str]:
    several = len({step.tenant for step in decided.steps}) > 1
    lines: list[str] = []
    for step in decided.steps:
        who = f"{step.tenant}/{step.name}" if several else step.name
        if step.by_hand:
            what = {Action.KEEP: "; it stays", Action.PRUNE: "; pruned"}.get(step.action, "; overwritten")
            lines.append(f"! {who}: {step.by_hand}{'' if step.refused else what}")
            lines += [f"!   {one}" for one in step.drift]
        if step.refused or step.action is Action.SAME or (step.by_hand and step.action is Action.KEEP):
            continue
        if step.action is Action.CHANGE:
            lines += [f"~ {who}: {one}" for one in step.changes]
        elif step.action in CHANGES:
            lines.append(f"{_MARKS[step.action]} {who}{_detail(step)}")
        else:
            lines.append(f"{_MARKS.get(step.action, '=')} {who} {_WORDS[step.action]}")
    return lines


def _detail(step: Step) -> str:
    if step.placed is None:
        return ""
    request = step.placed.declaration.request
    return f": {request.task_type}, {_when(request)}"


def _when(request: JobRequest) -> str:
    if request.parents:
        few, more = ", ".join(map(repr, request.parents[:3])), len(request.parents) - 3
        return f"after {few}{f' and {more:,} more' if more > 0 else ''}"
    return request.cron or (f"every {request.every} s" if request.every else f"at {request.at}")


def _summary(decided: Plan, dry: bool) -> list[str]:
    if decided.refused:
        names = " ".join(f"--overwrite {step.name!r}" for step in decided.refused[:3])
        more = " …" if len(decided.refused) > 3 else ""
        way = f"Put it into {decided.file.name}, or undo it: {names}{more} (or --overwrite {ALL}); --keep leaves it."
        subject = counted(len(decided.refused), "job")
        return [f"{subject} would lose what was done by hand. {way}", "Nothing was changed."]
    counts = {action: sum(step.action is action for step in decided.steps) for action in CHANGES}
    words = _TO_DO if dry else _DONE
    done = ", ".join(f"{count:,} {words[action]}" for action, count in counts.items() if count)
    kept = sum(step.action is Action.KEEP for step in decided.steps)
    left = f" {counted(kept, 'job')} left as made by hand." if kept else ""
    if not done:
        adopted = any(step.action is Action.ADOPT for step in decided.steps)
        return [f"Nothing to change.{left}" if adopted or kept else "Nothing to do."]
    return [f"Dry run: {done}.{left}" if dry else f"Applied {decided.file.source}: {done}.{left}"]


def _as_json(decided: Plan, dry: bool) -> dict[str, Any]:
    shown = [step for step in decided.steps if step.action is not Action.SAME]
    return {
        "file": decided.file.name,
        "source": decided.file.source,
        "dry_run": dry,
        "applied": not dry and not decided.refused,
        "changes": 0 if decided.refused else decided.changes,
        "refused": len(decided.refused),
        "unchanged": len(decided.steps) - len(shown),
        "jobs": [
            {
                "tenant": step.tenant,
                "name": step.name,
                "job": step.job and step.job.id,
                "action": str(step.action),
                "refused": step.refused,
                "by_hand": step.by_hand,
                "changes": [one.plain for one in step.changes],
                "drift": [one.plain for one in step.drift],
            }
            for step in shown
        ],
    }
