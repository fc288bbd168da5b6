"""Owns the directories of a stack: which there are, whose they are, and where else they go if need be.

    home/stack.json, home/lock      ours
    home/servers/                   ours; a link elsewhere when the servers' account can't reach home
    home/servers/postgres, valkey   the servers' account's, 0700
    home/servers/sockets            the same; in a temporary directory when home's path won't do for a socket

No mode and no owner of a directory that we didn't make is ever changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from . import processes
from .account import Account
from .errors import EmbeddedError

# sun_path holds 104 bytes on macOS and 108 on Linux, with its closing NUL.
SOCKET_PATH_LIMIT = 100
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432"


def open_home(home: Path) -> Path:
    """Make home if it is missing; the answer is its real path."""
    home = Path(home).absolute()
    if not home.exists():
        home.mkdir(parents=True)
        # As root the servers' account has to pass through; what is secret in home has a mode of its own.
        home.chmod(0o711 if os.geteuid() == 0 else 0o700)
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        raise EmbeddedError(
            f"The home {home} of the embedded services isn't a directory that you may write. "
            "Set PUNCTUAL_HOME to one that is."
        )
    return home.resolve()


def open_servers(home: Path, account: Account) -> Path:
    """The directory of the servers' files: home/servers, or the one elsewhere that home/servers links to."""
    servers = home / "servers"
    if not servers.exists():
        servers.unlink(missing_ok=True)  # a link whose target somebody removed
        if account.can_enter(home):
            servers.mkdir(mode=0o700)
            servers.chmod(0o711 if account.borrowed else 0o700)
        else:
            servers.symlink_to(_make_outside(home, account))
    real = servers.resolve()
    owner = real.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedError(
            f"{real} belongs to uid {owner}, and you are uid {os.geteuid()}. Start this as the user that "
            "made it, or set PUNCTUAL_HOME to another directory."
        )
    if not account.can_enter(real):
        raise EmbeddedError(
            f"User {account.name!r} (uid {account.uid}) runs the servers but can't enter {real}. Give it "
            "search permission on the directories above, or set PUNCTUAL_HOME to another directory."
        )
    return real


def open_private(directory: Path, account: Account) -> Path:
    """A directory for the account alone; one that is somebody else's, or open to others, is refused."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        if account.borrowed:
            os.chown(directory, account.uid, account.gid)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedError(
            f"{directory} must be a directory of user {account.name!r} (uid {account.uid}) with mode 0700, "
            f"but it is {stat.filemode(found.st_mode)} of uid {found.st_uid}. Remove it, start as the user "
            "that made it, or set PUNCTUAL_HOME to another directory."
        )
    return directory


def open_sockets(servers: Path, account: Account) -> Path:
    """The directory for the unix sockets: short enough for the kernel and closed to everybody else."""
    directory = servers / "sockets"
    too_long = len(str(directory)) + len(LONGEST_SOCKET_NAME) > SOCKET_PATH_LIMIT
    # libpq splits a host at commas, and not every client unquotes a blank in a URL: take no chances.
    if too_long or not re.fullmatch(r"[A-Za-z0-9/._-]+", str(directory)):
        directory = _short_base(account) / f"punctual-{_fingerprint(servers)}"
    return open_private(directory, account)


def close_sockets(sockets: Path, servers: Path) -> None:
    """Leave nothing in the temporary directory."""
    if sockets.parent != servers:
        shutil.rmtree(sockets, ignore_errors=True)


def remove_servers(home: Path) -> None:
    """Remove the servers' files, wherever home/servers says they are."""
    servers = home / "servers"
    shutil.rmtree(servers.resolve())
    if servers.is_symlink():
        servers.unlink()


def outside_root(account: Account) -> Path:
    """A directory of ours, outside home, that both root and the servers' account can enter."""
    # /var/lib first: what lies in /var/tmp for a month is swept away on many systems.
    for root in (Path("/var/lib/punctual"), Path("/var/tmp/punctual")):
        try:
            if not root.exists():
                root.mkdir()
                root.chmod(0o711)
            found = root.lstat()
        except OSError:
            continue
        safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
        if safe and account.can_enter(root):
            return root
    raise EmbeddedError(
        f"User {account.name!r} (uid {account.uid}) runs the servers, but neither /var/lib/punctual nor "
        "/var/tmp/punctual is a directory of root that it can enter. Start this as an ordinary user, or set "
        "DATABASE_URL and REDIS_URL to servers of your own."
    )


def _make_outside(home: Path, account: Account) -> Path:
    root = outside_root(account)
    _sweep(root, home)
    place = Path(tempfile.mkdtemp(prefix=f"{_fingerprint(home)}-", dir=root))
    (place / "home").write_bytes(os.fsencode(home))
    place.chmod(0o711)
    return place


def _sweep(root: Path, home: Path) -> None:
    """Remove the places of homes that were removed: this home, and those that were temporary."""
    for note in root.glob("*/home"):
        owner = Path(os.fsdecode(note.read_bytes()))
        if owner != home and not owner.is_relative_to(Path(tempfile.gettempdir()).resolve()):
            continue  # perhaps on a disk that isn't mounted just now
        if (owner / "servers").resolve() != note.parent and not processes.mention(note.parent):
            shutil.rmtree(note.parent, ignore_errors=True)


def _short_base(account: Account) -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not account.borrowed and 0 < len(os.fsencode(runtime)) < 40 and os.access(runtime, os.W_OK | os.X_OK):
        return Path(runtime)
    return Path("/tmp")


def _fingerprint(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
