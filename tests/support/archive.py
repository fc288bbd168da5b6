"""Days of the past that are due for the archive, where their rows are, and an archive whose every step can fail."""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from io import RawIOBase
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from tasks_app.archive.place import Place
from tasks_app.archive.search import ColdFilter, walk
from tasks_app.sql import execute, run
from tasks_app.storage.partitions import make, partitions

SPAN = timedelta(days=1)

_ROWS = """
INSERT INTO punctual_past (id, tenant, task_type, biz_key, current, idem_key, token, status, execute_time, lane, shard,
                           solo, limited, attempt, retry_count, max_retry, repeat_after, start_time, finish_time,
                           error_code, error_msg, cancelled_by, payload, created_at, updated_at, result, ran_in,
                           retention, worker, job, payload_bytes)
SELECT id, 'tenant-' || id %% 3, 'TYPE_' || id %% 2, key, TRUE, NULLIF('idem-' || id %% 2, 'idem-1'), gen_random_uuid(),
       (ARRAY['SUCCESS', 'CANCELLED'])[1 + id %% 2], %(day)s, 'default', 3, FALSE, FALSE, 0, 1, 5,
       CASE WHEN id %% 2 = 0 THEN interval '1 day 2 hours' END, %(day)s, NULL, '', E'a "quoted"\nline, \\ and é',
       '', jsonb_build_object('n', id, 'text', E'"\n,'), %(day)s, %(day)s + n * interval '1.000001 minutes',
       CASE WHEN id %% 2 = 0 THEN '[1, "x"]'::jsonb END, gen_random_uuid(), %(retention)s, 'w', id %% 5,
       CASE WHEN id %% 2 = 0 THEN decode('00ff225c0a', 'hex') END
FROM unnest(%(ids)s::bigint[], %(keys)s::text[]) WITH ORDINALITY AS one(id, key, n)
"""


def days_ago(number: int) -> datetime:
    """Midnight, so many days before today."""
    now: datetime = run("clock", {})[0][0]
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - number * SPAN


def past_day(day: datetime, ids: Sequence[int], retention: str = "default") -> str:
    """A partition with tasks of these ids, keyed k001 and so on; its name."""
    run("make_class", {"retention": retention})
    make(f"punctual_past_{retention}", [day], SPAN)
    add_to_day(day, ids, retention)
    [name] = [one.name for one in partitions(f"punctual_past_{retention}") if one.covers(day)]
    return name


def add_to_day(day: datetime, ids: Sequence[int], retention: str = "default") -> None:
    keys = [f"k{number:03}" for number in ids]
    execute(_ROWS, {"day": day, "ids": list(ids), "keys": keys, "retention": retention})


def hot_rows() -> list[dict]:
    columns = [name for (name,) in execute(_COLUMNS)]
    rows = execute(f"SELECT {', '.join(columns)} FROM punctual_past ORDER BY id")
    return [dict(zip(columns, row, strict=True)) for row in rows]


_COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = 'punctual_past'::regclass AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""


def hot_ids() -> list[int]:
    return [row["id"] for row in hot_rows()]


def cold_ids(place: Place, **wanted: object) -> list[int]:
    return sorted(row["id"] for _, row in walk(place, ColdFilter(**wanted)))


def everywhere(place: Place) -> Counter:
    """How often each id is found by whoever looks into both."""
    return Counter(hot_ids() + cold_ids(place))


def folder(path: Path) -> Place:
    return Place(fs.LocalFileSystem(), str(path))


def faulty(path: Path, at: int, strike: Callable[[], None], *, after: bool = False) -> tuple[Place, "Faulty"]:
    """A folder at whose step of that number something strikes, before it is done or just after."""
    handler = Faulty(at, strike, after)
    return Place(fs.PyFileSystem(handler), str(path)), handler


def no_space() -> None:
    raise OSError(28, "No space left on device")


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Faulty(fs.FileSystemHandler):
    """The local file system, counting what is done to it."""

    def __init__(self, at: int, strike: Callable[[], None], after: bool) -> None:
        self._real, self._at, self._strike, self._after = fs.LocalFileSystem(), at, strike, after
        self.steps = 0

    def _step(self, call: Callable[[], object]) -> object:
        self.steps += 1
        struck = self.steps == self._at
        if struck and not self._after:
            self._strike()
        done = call()
        if struck and self._after:
            self._strike()
        return done

    def get_type_name(self):
        return "faulty"

    def normalize_path(self, path):
        return path

    def get_file_info(self, paths):
        return self._step(lambda: self._real.get_file_info(paths))

    def get_file_info_selector(self, selector):
        return self._step(lambda: self._real.get_file_info(selector))

    def create_dir(self, path, recursive):
        return self._step(lambda: self._real.create_dir(path, recursive=recursive))

    def delete_dir(self, path):
        return self._step(lambda: self._real.delete_dir(path))

    def delete_dir_contents(self, path, missing_dir_ok=False):
        raise NotImplementedError

    def delete_root_dir_contents(self):
        raise NotImplementedError

    def delete_file(self, path):
        return self._step(lambda: self._real.delete_file(path))

    def move(self, source, target):
        return self._step(lambda: self._real.move(source, target))

    def copy_file(self, source, target):
        raise NotImplementedError

    def open_input_stream(self, path):
        return self._step(lambda: self._real.open_input_stream(path))

    def open_input_file(self, path):
        return self._step(lambda: self._real.open_input_file(path))

    def open_output_stream(self, path, metadata):
        return pa.PythonFile(_Output(self._step(lambda: self._real.open_output_stream(path)), self._step), mode="w")

    def open_append_stream(self, path, metadata):
        raise NotImplementedError


class _Output(RawIOBase):
    """A file of which the first write is a step, one in its midst, and its end."""

    def __init__(self, file: pa.NativeFile, step: Callable) -> None:
        self._file, self._step, self._writes = file, step, 0

    def writable(self):
        return True

    def write(self, data):
        self._writes += 1
        step = self._step if self._writes in (1, 50) else lambda call: call()
        return step(lambda: self._file.write(data))

    def close(self):
        if not self.closed:
            super().close()
            self._step(self._file.close)


def run_and_be_killed(path: Path, at: int, after: bool) -> None:
    """In a process of its own: archive, and die at that step."""
    from tasks_app.archive.leave import leave_all

    place, _ = faulty(path, at, killed, after=after)
    leave_all(place, "killed")


if __name__ == "__main__":
    import django

    django.setup()
    run_and_be_killed(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "after")
