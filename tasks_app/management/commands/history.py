"""`manage.py history`: finds tasks, live and over, the newest first; for a terminal, for scripts, or as a file.

`--unit TYPE KEY` tells everything about one unit, in order of time. Exit code 0: something was found. 1: nothing was.
2: it makes no sense, or database, archive or file can't be used.
"""

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, shown
from tasks_app.core.phrases import counted
from tasks_app.core.text import visible
from tasks_app.engine.watch.browse import STATES, Filter
from tasks_app.engine.watch.export import as_json, csv_lines, refuse_parquet, write_parquet
from tasks_app.engine.watch.listing import ArchiveUnreachable, refuse_cold, units_of_key, walk_archive, walk_tasks
from tasks_app.engine.watch.unit_story import story
from tasks_app.lifecycle.tries import error_of
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models import AnyTask

LONGEST_STORY = 20_000  # tasks: they are told in order of time, and so all of them are in memory
SHOWN = 100  # on a terminal, unless --limit says otherwise
NOTHING, UNUSABLE = 1, 2  # exit codes
_WHERE_ELSE = " Older tasks are in the archive: --cold."


class Command(TerminalCommand):
    help = "Finds tasks, live and over, the newest first; exports them; or tells everything about one unit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--unit", nargs=2, metavar=("TYPE", "KEY"), help="all that happened to it, oldest first")
        parser.add_argument("--type", dest="task_type", metavar="TYPE")
        parser.add_argument("--key", help="all tasks of this key, of whatever type")
        parser.add_argument("--tenant")
        parser.add_argument("--job", type=int, help="its instances, by the job's id")
        parser.add_argument("--state", choices=STATES, metavar="STATE", help=", ".join(STATES))
        parser.add_argument("--since", type=an_instant, help="last changed then or later, in UTC: 2026-11-01T09:00")
        parser.add_argument("--until", type=an_instant, help="last changed before")
        parser.add_argument("--cold", action="store_true", help="the archive too: slower; needs --key or --since")
        parser.add_argument("--limit", type=_limit, help=f"at most so many tasks; {SHOWN} unless they are exported")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object a line")
        form.add_argument("--csv", metavar="FILE", help="a table with a line of names; - for standard output")
        form.add_argument("--parquet", metavar="FILE", help="needs the extra [archive]")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = self._unit(options) if options["unit"] else self._tasks(options)
        except (InvalidTask, ArchiveUnreachable) as error:
            raise CommandError(str(error), returncode=UNUSABLE) from None
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be read: {words}", returncode=UNUSABLE) from None
        except BrokenPipeError:  # whoever read it has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            found = True
        except OSError as error:
            raise CommandError(f"The file can't be written: {error}", returncode=UNUSABLE) from None
        if not found:
            self.stderr.write("Nothing matches." + (_WHERE_ELSE if conf().ARCHIVE_URL and not options["cold"] else ""))
            sys.exit(NOTHING)

    def _tasks(self, options: dict[str, Any]) -> int:
        tasks, limit = _found(options), options["limit"]
        if options["csv"]:
            return self._csv(islice(tasks, limit), options["csv"])
        if options["parquet"]:
            refuse_parquet()
            with _beside(options["parquet"]) as name, open(name, "wb") as file:
                count = write_parquet(islice(tasks, limit), file)
            self.stderr.write(f"{counted(count, 'task')} written to {options['parquet']}.")
            return count
        if options["json"]:
            return self._print(islice(tasks, limit), as_json)
        limit = limit or SHOWN
        count = self._print(islice(tasks, limit), _line)
        if count == limit and next(tasks, None) is not None:
            self.stderr.write(f"There are more than {limit:,}: give --limit, a narrower filter, or export them.")
        return count

    def _print(self, tasks: Iterable[AnyTask], told: Callable[[AnyTask], str]) -> int:
        counting = _Counted(tasks)
        for task in counting:
            self.stdout.write(told(task))
        return counting.count

    def _csv(self, tasks: Iterable[AnyTask], name: str) -> int:
        counting = _Counted(tasks)
        if name == "-":
            for line in csv_lines(counting):
                self.stdout.write(line.removesuffix("\r\n"))
            return counting.count
        with _beside(name) as other, open(other, "w", encoding="utf-8", newline="") as file:
            file.writelines(csv_lines(counting))
        self.stderr.write(f"{counted(counting.count, 'task')} written to {name}.")
        return counting.count

    def _unit(self, options: dict[str, Any]) -> int:
        for name in ("task_type", "key", "job", "state", "csv", "parquet", "limit"):
            if options[name] is not None:
                raise InvalidTask(f"--unit tells everything; --{name.removeprefix('task_')} can't narrow or export it.")
        task_type, key = options["unit"]
        tasks = list(islice(_found(options | {"task_type": task_type, "key": key}), LONGEST_STORY + 1))
        if len(tasks) > LONGEST_STORY:
            raise InvalidTask(f"The unit has more than {LONGEST_STORY:,} tasks; narrow it with --since and --until.")
        for one in story(sorted(tasks, key=lambda task: task.id)):
            if options["json"]:
                told = json.dumps(one._asdict() | {"at": one.at.isoformat()}, ensure_ascii=False)
            else:
                told = visible(f"{one.at.isoformat(timespec='milliseconds')}  task {one.task_id}  {one.words}")
            self.stdout.write(told)
        return len(tasks)


def _found(options: dict[str, Any]) -> Iterator[AnyTask]:
    wanted = Filter(
        tenant=options["tenant"],
        task_type=options["task_type"],
        key=options["key"],
        job=options["job"],
        state=options["state"],
        changed_from=options["since"],
        changed_to=options["until"],
    )
    if options["cold"]:
        refuse_cold(wanted)
    if wanted.key is None:
        return walk_tasks(wanted, cold=options["cold"])
    hot = chain.from_iterable(walk_tasks(one) for one in units_of_key(wanted))
    return chain(hot, walk_archive(wanted)) if options["cold"] else hot


def _line(task: AnyTask) -> str:
    when = task.due_at or task.finish_time or task.updated_at
    error, state = error_of(task), "Queued" if task.queued else task.status
    told = (
        f"{task.id:>12}  {when.isoformat(timespec='seconds')}  {state:<9}  {task.tenant}  {task.task_type}  "
        f"{task.biz_key}  {error.code}"
    )
    return visible(told.rstrip())


class _Counted:
    def __init__(self, tasks: Iterable[AnyTask]) -> None:
        self._tasks, self.count = tasks, 0

    def __iter__(self) -> Iterator[AnyTask]:
        for task in self._tasks:
            self.count += 1
            yield task


@contextmanager
def _beside(name: str) -> Iterator[Path]:
    """A file beside the wanted one, which takes its name when it is whole: half an export is never mistaken for one."""
    whole = Path(name)
    part = whole.with_name(f".{whole.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)


def an_instant(text: str) -> datetime:
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"{shown(text)} is no time; write it as 2026-11-01 or 2026-11-01T09:00, in UTC."
        ) from None
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 13 and int(text)):
        raise ArgumentTypeError(f"{shown(text)} is no number of tasks; give 1 or more.")
    return int(text)
