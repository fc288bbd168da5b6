"""The manifest that the server makes of a base: every file of it with its size and checksum, compared with a folder.

pg_verifybackup does that. Where it can't be run (the one in the wheel of the embedded PostgreSQL 18 crashes), we do it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

from .places import CHUNK
from .programs import Programs

MANIFEST = "backup_manifest"
LOG = "pg_wal/"  # is not in it; it is checked by replaying it
SHOWN = 3


def differs(programs: Programs, data: Path) -> str:
    """What is wrong, in words; nothing if all files are what the server sent."""
    program = programs.path("pg_verifybackup")
    if subprocess.run([program, "--version"], capture_output=True, check=False).returncode != 0:
        return compared(data)
    done = subprocess.run([program, "--quiet", str(data)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    told = " ".join((done.stderr or done.stdout).split())[:500] or f"it ended with exit status {done.returncode}"
    return f"pg_verifybackup: {told}"


def compared(data: Path) -> str:
    """The same by our own reading."""
    try:
        text = (data / MANIFEST).read_bytes()
        told = json.loads(text)
        files = {_path(one): one for one in told["Files"]}
        whole = hashlib.sha256(text.rpartition(b'"Manifest-Checksum"')[0]).hexdigest() == told["Manifest-Checksum"]
    except (OSError, ValueError, KeyError) as error:
        return f"the server's manifest can't be read: {error}"
    if not whole:
        return "the server's manifest is damaged: its checksum is not its own"
    wrong = [problem for name, one in sorted(files.items()) if (problem := _wrong(data / name, name, one))]
    there = {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}
    more = sorted(name for name in there - files.keys() if name != MANIFEST and not name.startswith(LOG))
    wrong += [f"{name} is not in the server's manifest" for name in more]
    return "; ".join(wrong[:SHOWN]) + (f"; and {len(wrong) - SHOWN:,} more" if len(wrong) > SHOWN else "")


def _path(one: dict[str, Any]) -> str:
    return one["Path"] if "Path" in one else bytes.fromhex(one["Encoded-Path"]).decode(errors="surrogateescape")


def _wrong(file: Path, name: str, one: dict[str, Any]) -> str:
    try:
        if file.stat().st_size != one["Size"]:
            return f"{name} has {file.stat().st_size:,} bytes instead of {one['Size']:,}"
        digest = hashlib.sha256()
        with open(file, "rb") as content:
            while chunk := content.read(CHUNK):
                digest.update(chunk)
    except FileNotFoundError:
        return f"{name} is missing"
    if one["Checksum-Algorithm"] != "SHA256" or digest.hexdigest() == one["Checksum"]:
        return ""  # we ask for SHA256
    return f"{name} has another checksum than the server gave it"
