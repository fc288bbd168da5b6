"""Checks the tests of this folder: each wrong version of the code (`mutants/`) must make one of them fail.

`python -m tests.requirements.mutate [--only TEXT] [--jobs N]` works in copies of the working tree. The tests of the
mutant's section come first, since most mutants fail there; exit code 1 if one survives or can't be made.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue

from tests.support.memory_folder import use_memory
from tests.support.servers import ROOT, TEMPLATE, Servers, Template

from .mutants import Mutant

HERE = Path(__file__).parent
SECONDS = 600  # a mutant that keeps the tests busy for longer was noticed, too
NOTHING_SELECTED = 5  # pytest's exit code


def all_mutants() -> list[Mutant]:
    names = sorted(file.stem for file in (HERE / "mutants").glob("doc_*.py"))
    return [one for name in names for one in import_module(f"tests.requirements.mutants.{name}").MUTANTS]


def problem_of(mutant: Mutant, root: Path = ROOT) -> str:
    """Why a mutant can't be made; empty if it can."""
    if mutant.old == mutant.new:
        return "it changes nothing"
    try:
        found = (root / mutant.path).read_text().count(mutant.old)
    except OSError as error:
        return str(error)
    return "" if found == 1 else f"{mutant.path} has {found} times {mutant.old!r}, and must have it once"


def check(mutants: Sequence[Mutant], jobs: int) -> int:
    """How many mutants survived or couldn't be made."""
    with ExitStack() as ending:
        template, folder = Template(), Path(tempfile.mkdtemp(prefix="punctual-mutants-"))
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        ending.callback(template.discard)
        os.environ[TEMPLATE] = str(template.folder)
        places: SimpleQueue[Place] = SimpleQueue()
        for number in range(jobs):
            places.put(Place(copy_of_tree(folder / str(number)), ending))
        with ThreadPoolExecutor(jobs) as pool:
            red = [one for one in pool.map(lambda doc: unchanged(doc, places), documents(mutants)) if one]
            if red:
                say(*red)
                return len(red)
            outcomes = pool.map(lambda one: noticed_by(one, places), mutants)
            return sum(report(one, *outcome) for one, outcome in zip(mutants, outcomes, strict=True))


class Place:
    """A copy of the tree, and servers that its runs share: to start them takes longer than most tests."""

    def __init__(self, tree: Path, ending: ExitStack) -> None:
        self.tree = tree
        servers = Servers()
        ending.callback(servers.discard)
        servers.start()
        self._environment = servers.environment()

    def environment(self, *, own_database: bool) -> dict[str, str]:
        """`own_database`: whose tables the tests make by the migrations of the tree, on servers of their own."""
        if own_database:
            return {name: value for name, value in os.environ.items() if name != TEMPLATE}
        return os.environ | self._environment


def documents(mutants: Sequence[Mutant]) -> list[str]:
    return sorted({one.requirement.split()[0] for one in mutants})


def copy_of_tree(folder: Path) -> Path:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in filter(None, files):
        if (source := ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    return folder


def unchanged(document: str, places: SimpleQueue[Place]) -> str:
    """Whatever fails without a mutant says nothing about mutants."""
    with borrowed(places) as place:
        code, output = run_tests(place, document)
    return "" if code == 0 else f"The tests of {document} fail without any mutant:\n{output}"


def noticed_by(mutant: Mutant, places: SimpleQueue[Place]) -> tuple[bool, str]:
    """Whether a test failed, and which; or why nothing can be said."""
    with borrowed(places) as place:
        if problem := problem_of(mutant, place.tree):
            return False, problem
        document, section = mutant.requirement.split()[0], re.search(r"§(\d+)", mutant.requirement)
        with applied(mutant, place.tree):
            own_database = "/migrations/" in mutant.path
            for only in [f"_s{section[1]}_", ""] if section else [""]:
                code, output = run_tests(place, document, only, own_database=own_database)
                if code not in (0, NOTHING_SELECTED):
                    return True, first_failure(output)
    return False, "SURVIVED"


@contextmanager
def borrowed(places: SimpleQueue[Place]) -> Iterator[Place]:
    place = places.get()
    try:
        yield place
    finally:
        places.put(place)


@contextmanager
def applied(mutant: Mutant, tree: Path) -> Iterator[None]:
    file = tree / mutant.path
    text = file.read_text()
    try:
        write(file, text.replace(mutant.old, mutant.new))
        yield
    finally:
        write(file, text)


def write(file: Path, text: str) -> None:
    """Python takes what it has compiled for the file itself if time and size are the same: a second is too coarse."""
    file.write_text(text)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def run_tests(place: Place, document: str, only: str = "", *, own_database: bool = False) -> tuple[int, str]:
    files = sorted(
        str(file.relative_to(place.tree)) for file in (place.tree / "tests/requirements").glob(f"test_{document}*.py")
    )
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not scale", "-p", "no:cacheprovider", "--tb=line"]
    command += [*files, *(["-k", only] if only else [])]
    env = place.environment(own_database=own_database) | {"COLUMNS": "250"}  # else pytest leaves out why one failed
    try:
        done = subprocess.run(command, cwd=place.tree, env=env, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 1, f"FAILED after {SECONDS} s"
    return done.returncode, done.stdout + done.stderr


def first_failure(output: str) -> str:
    found = re.search(r"^(?:FAILED|ERROR) (.*)$", output, re.MULTILINE)
    return found[1].removeprefix("tests/requirements/") if found else output.strip().rpartition("\n")[2]


def report(mutant: Mutant, noticed: bool, words: str) -> int:
    change = f"{mutant.old.strip()} -> {mutant.new.strip()}".replace("\n", " ")
    say(f"{'ok  ' if noticed else 'FAIL'} {mutant.requirement} {mutant.path}: {change}: {words}")
    return not noticed


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants with this text in their requirement or path")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    given = parser.parse_args()
    mutants = [one for one in all_mutants() if given.only in f"{one.requirement} {one.path}"]
    if not mutants:
        say(f"No mutant has {given.only!r} in its requirement or path.")
        return 1
    use_memory()
    failed = check(mutants, given.jobs)
    say(f"{len(mutants)} mutants, {failed} not noticed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
