from collections import namedtuple

import pytest

from tasks_app.embedded import disk
from tasks_app.embedded.disk import GB, max_wal_size

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("free", "size"), [(3 * GB, "1GB"), (80 * GB, "10GB"), (900 * GB, "16GB")])
def test_the_log_takes_an_eighth_of_the_free_disk_within_bounds(monkeypatch, tmp_path, free, size):
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda place: Usage(1000 * GB, 0, free))

    assert max_wal_size(tmp_path) == size
