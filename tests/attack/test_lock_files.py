"""What `make` installs is what was locked: every package, its version and its content."""

import re
from importlib.metadata import version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.stack import ROOT

PAIRS = ["requirements", "requirements-dev", "bench/peers/requirements"]


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Name -> what is locked, with its hashes."""
    found = {}
    for entry in re.split(r"\n(?=\S)", (ROOT / f"{name}.lock").read_text()):
        if not entry.startswith("#"):
            text, *hashes = re.split(r"\s*\\?\s*--hash=", entry.strip().replace("\\\n", ""))
            one = Requirement(text.strip())
            found[canonicalize_name(one.name)] = one, [value.strip() for value in hashes]
    return found


def asked(name: str) -> dict[str, str]:
    """Name -> the exact version that a requirements file asks for."""
    found: dict[str, str] = {}
    for line in (ROOT / f"{name}.txt").read_text().splitlines():
        if line.startswith("-r "):
            found |= asked(line.removeprefix("-r ").removesuffix(".txt"))
        elif line and not line.startswith("#"):
            one = Requirement(line)
            found[canonicalize_name(one.name)] = str(one.specifier)
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_a_lock_file_has_what_its_requirements_ask_for(name):
    lock = locked(name)

    wrong = {one: want for one, want in asked(name).items() if one not in lock or str(lock[one][0].specifier) != want}
    assert wrong == {}, "run `make lock`"


@pytest.mark.parametrize("name", PAIRS)
def test_everything_locked_has_an_exact_version_and_hashes(name):
    for one, (requirement, hashes) in locked(name).items():
        assert str(requirement.specifier).startswith("==") and requirement.url is None, one
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), one


def test_hashes_are_of_the_files_of_all_platforms():
    assert len(locked("requirements")["psycopg-binary"][1]) > 20


def test_tests_run_on_what_a_deployment_runs_on():
    runtime, dev = locked("requirements"), locked("requirements-dev")

    assert {one: str(found[0]) for one, found in runtime.items()} == {one: str(dev[one][0]) for one in runtime}


@pytest.mark.parametrize("name", PAIRS)
def test_no_machine_is_named_in_a_lock_file(name):
    text = (ROOT / f"{name}.lock").read_text()

    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host|(^|\s)/\w", text)


def test_what_is_installed_is_what_is_locked():
    wrong = {
        one: (version(one), str(requirement.specifier))
        for one, (requirement, _) in locked("requirements-dev").items()
        if requirement.marker is None or requirement.marker.evaluate()
        if f"=={version(one)}" != str(requirement.specifier)
    }
    assert wrong == {}, "run `make setup`"


def test_make_installs_nothing_else():
    """But what makes lock files and the corners of the matrix, in environments that nothing else uses."""
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if "pip install" in line]

    assert len(recipes) == 3, recipes
    assert sum("--require-hashes" in line for line in recipes) == 1
    assert sum("uv==" in line for line in recipes) == 2
