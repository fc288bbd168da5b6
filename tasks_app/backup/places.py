"""Owns where backups lie: the places of the settings, and files in them that are read back before they count."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tasks_app.archive.place import FAULTS, TEMPORARY, Place, Stored, place_of
from tasks_app.conf import conf
from tasks_app.core.archive_url import outward
from tasks_app.documentation import page

from .errors import BackupError

__all__ = ["FAULTS", "TEMPORARY", "Store", "all_systems", "packed", "stores", "unwrap", "vacant", "wrap"]

CHUNK = 4 << 20
_ZSTD = "zstd"
_SKIPPED = bytes.fromhex("502A4D18") + (32).to_bytes(4, "little")  # of a frame that has 32 bytes for others


@dataclass(frozen=True, slots=True)
class Store:
    """The backups of one server in one place."""

    number: int  # of the place in the settings, from 1
    label: str  # its URL, as it may be shown
    place: Place
    root: str  # the folder of the server

    def names(self, folder: str) -> list[Stored]:
        """The files of a folder, by their names in it. None that are still being written."""
        path = self._path(folder)
        found = self.place.files(path)
        return [Stored(name[len(path) + 1 :], size) for name, size in found if not name.endswith(TEMPORARY)]

    def put(self, name: str, data: bytes, *, new_folder: bool = True) -> None:
        """All of it, or nothing; read back before it gets its name. A folder that is not new is on the disk already."""
        self.place.check()
        path = self._path(name)
        with self.place.create(path + TEMPORARY) as file:
            file.write(data)
        if self.place.read(path + TEMPORARY) != data:
            raise OSError(f"{path} was read back from {self.label} and is not what was written")
        self.place.finish(path, new_folder=new_folder)

    def put_json(self, name: str, told: dict[str, Any]) -> None:
        self.put(name, json.dumps(told, indent=1).encode())

    def get(self, name: str) -> bytes:
        return self.place.read(self._path(name))

    def get_json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get(name))
        return found

    def size(self, name: str) -> int | None:
        return self.place.size(self._path(name))

    def open(self, name: str) -> pa.NativeFile:
        return self.place.open(self._path(name))

    def create(self, name: str) -> pa.NativeFile:
        """A large file: under its temporary name, until `finish`; in a bucket under its own, as a move would copy it.
        It counts when something that is written later says so."""
        self.place.check()
        return self.place.create(self._while_written(name))

    def finish(self, name: str, sha256: str) -> None:
        """Read a large file back, and give it its name if it is what was written."""
        digest = hashlib.sha256()
        with self.place.open(self._while_written(name)) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        if digest.hexdigest() != sha256:
            raise OSError(f"{self._path(name)} was read back from {self.label} and is not what was written")
        if not self.place.is_bucket:
            self.place.finish(self._path(name))

    def delete(self, name: str) -> None:
        self.place.delete(self._path(name))

    def delete_folder(self, folder: str) -> None:
        self.place.delete_folder(self._path(folder))

    def _while_written(self, name: str) -> str:
        return self._path(name) + ("" if self.place.is_bucket else TEMPORARY)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"


def stores(system: str, urls: Sequence[str] | None = None) -> list[Store]:
    """Of this server, in the order of the settings; or in the places that are named here."""
    if urls is None:
        urls = conf().BACKUP_URLS
    if not urls:
        raise BackupError(
            'There is no place for backups: PUNCTUAL["BACKUP_URLS"] is empty. Name two folders or buckets; '
            f"{page('backup')} says how."
        )
    return [Store(number, outward(url), place_of(url), system) for number, url in enumerate(urls, 1)]


def all_systems(urls: Sequence[str] | None = None) -> Iterator[Store]:
    """A store for each server that has backups in the places; `vacant` has the places without any."""
    for store in stores("", urls):
        try:
            names = store.place.files("")
        except FAULTS:
            continue
        for system in sorted({name.partition("/")[0] for name, _ in names}):
            if system.isdecimal():
                yield Store(store.number, store.label, store.place, system)


def vacant(urls: Sequence[str] | None, system: str | None = None) -> dict[str, str]:
    """Places that can't be reached, or have no backup (of this server); and by place, why."""
    found: dict[str, str] = {}
    for store in stores("", urls):
        try:
            there = {name.partition("/")[0] for name, _ in store.place.files("")}
        except FAULTS as error:
            found[store.label] = str(error).rstrip(".")
            continue
        if not (system in there if system else any(name.isdecimal() for name in there)):
            found[store.label] = f"there is no backup of the server {system} in it" if system else "it is empty"
    return found


def packed(data: bytes) -> bytes:
    """A frame of zstd; several in a row are one stream for whoever unpacks them."""
    frame: bytes = pa.Codec(_ZSTD, compression_level=1).compress(data, asbytes=True)
    return frame


def wrap(data: bytes) -> bytes:
    """The same with its checksum, in a frame that whoever unpacks it otherwise skips."""
    return packed(data) + _SKIPPED + hashlib.sha256(data).digest()


def unwrap(data: bytes, size: int) -> bytes:
    """An OSError if it is not what was wrapped."""
    frame, mark, checksum = data[:-40], data[-40:-32], data[-32:]
    try:
        found = pa.Codec(_ZSTD).decompress(frame, size, asbytes=True) if mark == _SKIPPED else b""
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"it is damaged: {error}") from error
    if hashlib.sha256(found).digest() != checksum:
        raise OSError("it is damaged: its checksum is not the one that it was written with")
    return found
