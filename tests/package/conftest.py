"""The distribution, built once for the tests of this folder."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clients.__main__ import make_clients

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Built:
    folder: Path
    sdist: Path
    wheel: Path  # from the sdist, as `python -m build` makes it


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    build("--outdir", str(folder))
    return Built(folder, *folder.glob("*.tar.gz"), *folder.glob("*.whl"))


@pytest.fixture(scope="session")
def built_client(tmp_path_factory: pytest.TempPathFactory) -> Built:
    make_clients()
    folder = tmp_path_factory.mktemp("client")
    build("--outdir", str(folder), str(ROOT / "clients" / "python"))
    return Built(folder, *folder.glob("*.tar.gz"), *folder.glob("*.whl"))


@pytest.fixture
def wheel_of_tree(tmp_path: Path) -> Path:
    build("--wheel", "--outdir", str(tmp_path))
    [wheel] = tmp_path.glob("*.whl")
    return wheel


def build(*options: str) -> None:
    """With the backend that is installed: an environment of its own would have to be downloaded."""
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
