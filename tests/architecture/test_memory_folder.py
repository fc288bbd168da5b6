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


def test_what_a_killed_run_has_left_there_is_removed_and_what_another_uses_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_folder, "MEMORY", tmp_path)
    monkeypatch.setattr(memory_folder, "ENOUGH", 0)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("TMPDIR", raising=False)
    used = use_memory()
    left, new = tmp_path / "tests-left", tmp_path / "tests-new"
    left.mkdir()
    new.mkdir()
    for folder in (left, used):
        os.utime(folder, (0, 0))
    monkeypatch.delenv("TMPDIR")

    use_memory()

    assert (left.exists(), new.exists(), used.exists()) == (False, True, True)
