"""Owns the directories of a stack: which there are, whose they are, and where else they go if need be.

    home/stack.json, home/lock      ours
    home/secret-key, admin-password ours, 0600
    home/servers/                   ours; a link elsewhere when the servers' account can't reach home
    home/servers/pg_hba.conf        ours, and pg_ident.conf: the server reads who may come in, and can't change it
    home/servers/postgres, valkey   the servers' account's, 0700
    home/servers/sockets            the same; in a temporary directory when home's path won't do for a socket

Home and what is in it is closed to others at every start. No mode and no owner of any other directory is changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from . import processes
from .account import Account, earlier_uids
from .errors import EmbeddedError

# sun_path holds 104 bytes on macOS and 108 on Linux, with its closing NUL.
SOCKET_PATH_LIMIT = 100
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432"
OUTSIDE, SWEPT = Path("/var/lib/punctual"), Path("/var/tmp")
# How the names of what is ours in home begin.
OURS = ("lock", "servers", "stack.json", "secret-key", "admin-password", "spool")


def open_home(home: Path) -> Path:
    """Make home if it is missing, close it to others, and refuse it if it is theirs; the answer is its real path."""
    home = Path(home).absolute()
    if not home.exists():
        home.mkdir(parents=True, mode=0o700)
        home.chmod(_home_mode())
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        raise EmbeddedError(
            f"The home {home} of the embedded services isn't a directory that you can write to. "
            "Set PUNCTUAL_HOME to one that is."
        )
    home = home.resolve()
    _refuse_foreign(home)
    _close_to_others(home)
    return home


def kept_secret(home: Path, name: str, made: str) -> str:
    """The secret in this file of home; the one just made if there is none. Of several at once the first one counts."""
    file = home / name
    with suppress(FileNotFoundError):
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)
        if kept := file.read_text().strip():
            return kept
        file.unlink()
    handle, fresh = tempfile.mkstemp(prefix=f".{name}-", dir=home)
    try:
        with open(handle, "w") as unnamed:
            unnamed.write(f"{made}\n")
        with suppress(FileExistsError):
            os.link(fresh, file)
    finally:
        os.unlink(fresh)
    return file.read_text().strip()


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
    _refuse_foreign(real)
    if not account.can_enter(real):
        raise EmbeddedError(
            f"The servers run as {account.description}, which can't enter {real}. Give it "
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
    _hand_over(directory, account)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedError(
            f"{directory} must be a directory of {account.description} with mode 0700, "
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
        return _short_lived(_short_base(account), f"punctual-{fingerprint(servers)}-", account)
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
    # /var/lib first: what lies in /var/tmp for a month is swept away on many systems. There anybody may take a name
    # before us, so ours ends with what nobody can guess.
    with suppress(OSError):
        if not OUTSIDE.exists():
            OUTSIDE.mkdir()
            OUTSIDE.chmod(0o711)
    for root in (OUTSIDE, *sorted(SWEPT.glob("punctual-*"))):
        if _is_safe(root) and account.can_enter(root):
            return root
    with suppress(OSError):
        root = Path(tempfile.mkdtemp(prefix="punctual-", dir=SWEPT))
        root.chmod(0o711)
        if account.can_enter(root):
            return root
    raise EmbeddedError(
        f"The servers run as {account.description}, but neither {OUTSIDE} nor a directory in {SWEPT} belongs to root "
        "and can be entered by it. Start this as an ordinary user, or set DATABASE_URL and REDIS_URL to servers of "
        "your own."
    )


def _home_mode() -> int:
    # As root the servers' account has to pass through; what is secret in home has a mode of its own.
    return 0o711 if os.geteuid() == 0 else 0o700


def _refuse_foreign(directory: Path) -> None:
    owner = directory.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedError(
            f"{directory} belongs to uid {owner}, and you are uid {os.geteuid()}. Start this as the user that "
            "made it, or set PUNCTUAL_HOME to another directory."
        )


def _close_to_others(home: Path) -> None:
    """Take from others what a loose umask gave them; a directory that isn't home alone is not ours to close."""
    mode = home.stat().st_mode
    closed = stat.S_IMODE(mode) & _home_mode()
    strangers = sorted(name for name in os.listdir(home) if not name.removeprefix(".").startswith(OURS))
    if strangers and mode & 0o022:
        raise EmbeddedError(
            f'{home} is {stat.filemode(mode)} and holds "{strangers[0]}", which isn\'t ours: others could put their '
            "files in the place of ours. Set PUNCTUAL_HOME to a directory of its own."
        )
    if not strangers and stat.S_IMODE(mode) != closed:
        home.chmod(closed)


def _hand_over(directory: Path, account: Account) -> None:
    """What the servers of an earlier start wrote under another id of ours belongs to the account of today."""
    before = directory.lstat()
    if not account.borrowed or before.st_uid == account.uid or before.st_uid not in earlier_uids():
        return
    for _, folders, files, handle in os.fwalk(directory, follow_symlinks=False):
        for name in (*folders, *files):
            # Whoever shared the old id could put a link here to what is somebody else's.
            if os.lstat(name, dir_fd=handle).st_uid == before.st_uid:
                os.chown(name, account.uid, account.gid, dir_fd=handle, follow_symlinks=False)
    os.chown(directory, account.uid, account.gid, follow_symlinks=False)


def _short_lived(base: Path, prefix: str, account: Account) -> Path:
    """A new private directory under a name that nobody can take before us; those of killed starts are removed."""
    for leftover in base.glob(f"{prefix}*"):
        if leftover.lstat().st_uid in (account.uid, os.geteuid()):
            shutil.rmtree(leftover, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
    if account.borrowed:
        os.chown(directory, account.uid, account.gid)
    return directory


def _is_safe(root: Path) -> bool:
    with suppress(OSError):
        found = root.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return False


def _make_outside(home: Path, account: Account) -> Path:
    root = outside_root(account)
    _sweep(root, home)
    place = Path(tempfile.mkdtemp(prefix=f"{fingerprint(home)}-", dir=root))
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


def fingerprint(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
