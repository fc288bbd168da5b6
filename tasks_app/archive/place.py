"""Where the archive is: a folder or a bucket, by names below its root. What is said to be written is on the disk."""

import contextlib
import os
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
from pyarrow import fs

from tasks_app.conf import conf
from tasks_app.core.archive_url import address_of, outward

CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 60.0
TEMPORARY = ".tmp"
# What may go wrong between us and the archive: the connection, the disk, or what lies there.
FAULTS = (OSError, pa.ArrowException)


class Stored(NamedTuple):
    name: str
    bytes: int


class Place:
    def __init__(self, files: fs.FileSystem, root: str) -> None:
        self._files, self._root = files, root
        self._local = isinstance(files, fs.LocalFileSystem)

    def check(self) -> None:
        """An OSError if its folder is not there; nothing is asked of a bucket."""
        if self._local and not os.path.isdir(self._root):
            # Not made here: a disk that is not mounted would be written to in its absence.
            raise FileNotFoundError(f"The folder {outward(str(self._root))} is not there. Make it, or mount its disk.")

    def files(self, folder: str) -> list[Stored]:
        """All that lie below a folder, by name; none if there is no such folder."""
        self.check()
        found = self._files.get_file_info(fs.FileSelector(self._path(folder), recursive=True, allow_not_found=True))
        skip = len(self._path("x")) - 1
        return sorted(Stored(one.path[skip:], one.size) for one in found if one.type == fs.FileType.File)

    def size(self, name: str) -> int | None:
        """In bytes; None if there is no such file."""
        [found] = self._files.get_file_info([self._path(name)])
        return found.size if found.type == fs.FileType.File else None

    def read(self, name: str) -> bytes:
        with self._files.open_input_stream(self._path(name), compression=None) as file:
            data: bytes = file.read()
            return data

    def open(self, name: str) -> pa.NativeFile:
        return self._files.open_input_file(self._path(name))

    def create(self, name: str) -> pa.NativeFile:
        """A file to write to; a bucket has it only once it is closed."""
        if not self.is_bucket:
            self._files.create_dir(self._path(name).rpartition("/")[0], recursive=True)
        return self._files.open_output_stream(self._path(name), compression=None)

    def write(self, name: str, data: bytes) -> None:
        """All of it, or nothing."""
        with self.create(name + TEMPORARY) as file:
            file.write(data)
        self.finish(name)

    def finish(self, name: str, *, new_folder: bool = True) -> None:
        """Give a file that was written under its temporary name its own, when it is safe on the disk."""
        self._sync(name + TEMPORARY)
        self._files.move(self._path(name + TEMPORARY), self._path(name))
        folder = name.rpartition("/")[0]
        self._sync(folder)
        while folder and new_folder:  # each may be new to the one above it
            folder = folder.rpartition("/")[0]
            self._sync(folder)

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.delete_file(self._path(name))

    def delete_folder(self, folder: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.delete_dir(self._path(folder))

    @property
    def is_bucket(self) -> bool:
        """Its folders are only a way to read names; a file is there when it is complete, and a move is a copy, of which
        S3 makes none that is larger than 5 GB."""
        return isinstance(self._files, fs.S3FileSystem)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _sync(self, name: str) -> None:
        if not self._local:
            return
        handle = os.open(self._path(name), os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def the_archive() -> Place:
    """The one of the settings, which must name one."""
    return place_of(conf().ARCHIVE_URL)


@lru_cache(maxsize=8)
def place_of(url: str) -> Place:
    address = address_of(url)
    if not address.bucket:
        return Place(fs.LocalFileSystem(), address.root)
    options: dict[str, object] = dict(address.options)
    for name, default in (("connect_timeout", CONNECT_SECONDS), ("request_timeout", REQUEST_SECONDS)):
        options[name] = float(address.options.get(name, default))
    return Place(fs.S3FileSystem(**options), address.root)
