"""Where the tests' temporary files lie."""

import os
import tempfile

from tests.support import memory_folder
from tests.support.memory_folder import use_memory


def test_temporary_files_lie_in_memory_if_there_is_enough_and_nobody_has_said_otherwise(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_folder, "MEMORY", tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(memory_folder, "ENOUGH", 0)
    assert use_memory() is None
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(memory_folder, "ENOUGH", 1 << 60)
    assert use_memory() is None

    monkeypatch.setattr(memory_folder, "ENOUGH", 0)
    folder = use_memory()

    assert folder.parent == tmp_path and str(folder) == tempfile.gettempdir() == os.environ["TMPDIR"]
    assert folder.stat().st_mode & 0o7777 == 0o1777
