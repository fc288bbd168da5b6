"""`manage.py stock import FILE.csv` and `manage.py stock coverage [--json]`.

Exit code 0: all is well. 1: some lines were not imported, or the coverage has a problem. 2: no database, or no file.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from django.db import OperationalError, connection

from django_punctual.settings import figure
from django_punctual.terminal import TerminalCommand
from inventory_app.conf import CHECKS
from inventory_app.coverage import Coverage, read_coverage
from inventory_app.csv_file import BadLine, read_products
from inventory_app.errors import InvalidProduct
from inventory_app.lifecycle import Imported, NewProduct, import_products

CHUNK = 5_000  # products in one transaction
BAR = 30
Chunk = tuple[list[NewProduct], list[BadLine]]


class Command(TerminalCommand):
    help = "Imports products from a CSV file, and says how much of the catalogue is synced."
    reads = ("coverage",)
    requires_system_checks = (*TerminalCommand.requires_system_checks, CHECKS)

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        importing = verbs.add_parser(
            "import", help="add or rename the products in a CSV file: code,name[,quantity,synced_at]"
        )
        importing.add_argument("file", help="the file, in UTF-8; - for standard input")
        coverage = verbs.add_parser("coverage", help="the share synced within the window, and what is to come")
        coverage.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            connection.ensure_connection()
        except OperationalError as error:
            self._give_up(f"The database does not answer: {str(error).strip().splitlines()[0]}")
        if options["verb"] == "import":
            self._import(options["file"])
        else:
            self._coverage(as_json=options["json"])

    def _coverage(self, *, as_json: bool) -> None:
        coverage = read_coverage()
        if as_json:
            self.write_json(coverage.as_dict())
        else:
            self.stdout.write(as_page(coverage))
        if coverage.problems():
            sys.exit(1)

    def _import(self, name: str) -> None:
        started, total, bad = time.monotonic(), Imported(0, 0), 0
        try:
            with _opened(name) as (file, size):
                lines = _Counted(file)
                bar = _Bar(self.stderr, size)
                for products, wrong in _ahead(_chunks(read_products(lines))):
                    done = import_products(products)
                    total = Imported(total.added + done.added, total.known + done.known)
                    bar.clear()
                    for line in wrong:
                        self.stderr.write(f"line {line.number}: {line.reason}")
                    bad += len(wrong)
                    bar.show(lines.characters, sum(total))
                bar.clear()
        except (OSError, InvalidProduct) as error:
            self._give_up(f"{name}: {error}")
        except OperationalError as error:
            words = str(error).strip().splitlines()[0]
            self._give_up(f"The database went away after {sum(total):,} products: {words}. Import the file again.")
        seconds = time.monotonic() - started
        self.stdout.write(
            f"{total.added:,} added, {total.known:,} already known, {bad:,} bad line{'' if bad == 1 else 's'}, "
            f"in {seconds:.1f} s."
        )
        if bad:
            sys.exit(1)

    def _give_up(self, words: str) -> None:
        self.stderr.write(words)
        sys.exit(2)


def _chunks(lines: Iterator[NewProduct | BadLine]) -> Iterator[Chunk]:
    while chunk := list(islice(lines, CHUNK)):
        bad = [line for line in chunk if isinstance(line, BadLine)]
        yield [line for line in chunk if not isinstance(line, BadLine)], bad


def _ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Reads the next chunk while the database writes this one."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, chunks, None)
        while (chunk := following.result()) is not None:
            following = reader.submit(next, chunks, None)
            yield chunk


@contextmanager
def _opened(name: str) -> Iterator[tuple[TextIO, int | None]]:
    source = sys.stdin.fileno() if name == "-" else name
    # What is no UTF-8 is for the reader to tell, with the number of its line.
    with open(source, encoding="utf-8", errors="surrogateescape", newline="", closefd=name != "-") as file:
        yield file, None if name == "-" else Path(name).stat().st_size


class _Counted:
    """Lines, and about how many bytes they were: telling the file's place would turn off its reading ahead."""

    def __init__(self, file: TextIO) -> None:
        self._file, self.characters = file, 0

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.characters += len(line)
            yield line


class _Bar:
    """On a terminal only; elsewhere it would fill a log."""

    def __init__(self, out: Any, size: int | None) -> None:
        self._out, self._size, self._shown = out, size, hasattr(out, "isatty") and out.isatty()

    def show(self, done: int, products: int) -> None:
        if self._shown:
            share = min(1.0, done / self._size) if self._size else 0.0
            bar = f"[{'#' * int(share * BAR):<{BAR}}] {share:4.0%}  " if self._size else ""
            self._out.steer(f"\r{bar}{products:,} products")
            self._out.flush()

    def clear(self) -> None:
        if self._shown:
            self._out.steer("\r\033[K")


def as_page(coverage: Coverage) -> str:
    now_due, later = coverage.outlook.due, coverage.outlook.waiting - coverage.outlook.due
    of_all = f"{coverage.fresh:,} of {coverage.products:,} products ({coverage.share_words})"
    lines = [
        f"{of_all} synced within {coverage.window}.",
        f"  never synced      {coverage.never:,}",
        f"  oldest            {coverage.oldest.isoformat(timespec='seconds') if coverage.oldest else '-'}",
        f"  due, to come      {now_due:,}, {later:,}",
        f"  busiest {_words(coverage.step):9} {coverage.busiest:,}",
        f"  rate, allowed     {figure(coverage.scheduled_rate, 3)} a second, {coverage.rate_words} a second",
    ]
    if coverage.timer:
        lines.append(f"  timer             {coverage.timer_words}")
        lines.append(f"  a sync in         {coverage.interval}")
    lines += [f"  failing           {count:,} {code}" for code, count in coverage.outlook.failing.items()]
    return "\n".join(lines + [f"! {problem}" for problem in coverage.problems()])


def _words(step: timedelta) -> str:
    return "hour" if step == timedelta(hours=1) else str(step)
