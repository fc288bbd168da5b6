"""Files of tests that are run side by side are all run, and what becomes of them is told, even if a process dies."""

import os
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.room import with_room
from tests.support.side_by_side import END, _Files

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = {
    "test_one.py": "import pytest\n\n\n@pytest.mark.parametrize('n', range(3))\ndef test_passes(n):\n    pass\n",
    "test_two.py": "import pytest\n\n\ndef test_fails():\n    assert 1 == 2\n\n\n"
    "def test_skips():\n    pytest.skip('why not')\n\n\n"
    "@pytest.fixture\ndef left():\n    yield\n    raise OSError('still there')\n\n\ndef test_leaves(left):\n    pass\n",
    "test_three.py": "import os\n\n\ndef test_dies():\n    os._exit(7)\n\n\ndef test_behind():\n    pass\n",
    "test_four.py": "import nobody_has_this\n",
    "test_five.py": "def test_is_run_by_who_is_left():\n    pass\n",
    "test_six.py": "def test_is_run_too():\n    pass\n",
}


def run_beside(folder: Path, processes: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", folder, "-p", "no:cacheprovider", "-ra"]
    command += ["-p", "tests.support.side_by_side", "--side-by-side", str(processes), folder]
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_all_files_are_run_and_what_becomes_of_them_is_told(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    ended = run_beside(tmp_path, 2)

    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "2 failed, 6 passed, 1 skipped, 2 errors" in ended.stdout
    assert "assert 1 == 2" in ended.stdout
    assert "why not" in ended.stdout
    assert "still there" in ended.stdout
    assert "No module named 'nobody_has_this'" in ended.stdout
    assert "FAILED test_three.py::test_dies" in ended.stdout
    assert "ended with status 7" in ended.stdout
    assert re.search(r"took \d+ s of processor time; most of it: .*test_one\.py \d", ended.stdout)


NAMES = ["tests/process/test_a.py", "tests/process/test_b.py", "tests/unit/test_c.py", "tests/unit/test_d.py"]
NAMES += ["tests/browser/test_e.py", "tests/host/test_f.py"]


def test_one_process_browses_and_what_waits_is_run_beside_what_computes():
    files = _Files(NAMES, alone=False)

    assert [files.next(place) for place in (0, 1, 2)] == [4, 0, 2]
    assert [files.next(place) for place in (1, 1)] == [1, 3]  # nobody is idle while there is something
    assert [files.next(place) for place in (2, 1, 0, 0)] == [END, END, 5, END]


def test_who_has_browsed_does_nothing_else_and_alone_it_is_done_last():
    files = _Files(NAMES, alone=False)
    assert [files.next(0) for _ in range(3)] == [4, 5, END]

    alone = _Files(NAMES, alone=True)
    assert [alone.next(0) for _ in range(7)] == [2, 3, 0, 1, 4, 5, END]


def test_another_process_takes_the_place_of_the_one_that_has_browsed(tmp_path):
    """Of two, one is held up by a test until another one of the same kind is run."""
    os.mkfifo(tmp_path / "way")
    (tmp_path / "tests" / "browser").mkdir(parents=True)
    (tmp_path / "tests" / "browser" / "test_page.py").write_text("def test_browses():\n    pass\n")
    for name, mode in {"a": "r", "b": "w"}.items():
        text = f"def test_meets_the_other():\n    open({str(tmp_path / 'way')!r}, {mode!r}).close()\n"
        (tmp_path / f"test_{name}.py").write_text(text)

    ended = run_beside(tmp_path, 2)

    assert "3 passed" in ended.stdout, ended.stdout + ended.stderr
    assert len(re.search(r"ended after ([\d, ]+) s", ended.stdout)[1].split(",")) == 3


def test_in_another_order_the_same_files_are_handed_out_and_the_same_way_with_the_same_seed():
    names = [f"tests/unit/test_{number}.py" for number in range(20)]
    orders = [[files.next(0) for _ in range(21)] for files in (_Files(names, True, seed) for seed in (None, 7, 7, 8))]

    assert orders[0] == [*range(20), END]
    assert orders[1] == orders[2] and len({tuple(one) for one in orders}) == 3
    assert all(sorted(one) == [END, *range(20)] for one in orders)


FAILS_ONCE = """
from pathlib import Path


def test_passes_alone():
    seen = Path(__file__).with_suffix(".seen")
    before = seen.exists()
    seen.touch()
    assert before, "the machine was slow"
"""


def test_one_that_passes_alone_is_no_failure_but_is_named_with_what_it_failed_by(tmp_path):
    (tmp_path / "test_a.py").write_text(FAILS_ONCE)
    (tmp_path / "test_b.py").write_text("def test_passes():\n    pass\n")

    ended = run_beside(tmp_path, 2)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout
    named = ended.stdout.partition("failed beside others and passed alone")[2]
    assert "test_a.py::test_passes_alone (call)" in named
    assert "the machine was slow" in named


def test_if_many_fail_none_is_run_again_and_each_says_which_files_its_process_had_run_before(tmp_path):
    for number in range(6):
        (tmp_path / f"test_{number}.py").write_text(FAILS_ONCE)

    ended = run_beside(tmp_path, 1)

    assert "6 failed" in ended.stdout
    assert re.search(r"files that its process had run before -+\ntest_0\.py test_1\.py\n", ended.stdout)


def test_if_the_process_that_browses_dies_the_next_one_does_it():
    files = _Files(NAMES, alone=False)
    assert files.next(0) == 4

    files.lose(0)

    assert files.next(1) == 5


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the faults of a thread")
def test_no_call_however_deep_takes_memory_from_the_kernel():
    """In a thread, which has frames of its own: ours may have room already."""
    faults = []

    def nothing() -> None:
        pass

    def go_down(depth: int) -> None:
        for _ in range(10):
            nothing()
        if depth:
            go_down(depth - 1)

    def go_down_twice() -> None:
        go_down(400)  # whose pages are there from now on
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        go_down(400)
        faults.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)

    for run in (with_room, lambda call: call()):
        thread = threading.Thread(target=run, args=[go_down_twice])
        thread.start()
        thread.join()

    with_it, without = faults
    assert with_it < 5 < without
