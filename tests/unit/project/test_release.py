"""What `make release` finds wrong before anything is uploaded."""

import subprocess

import pytest

from scheduler_project.release import Failed, changes, disagreements, run, undated, unfilled_address, versions_of
from tests.support.stack import ROOT


def test_the_server_and_both_clients_have_one_version():
    versions = versions_of(ROOT)

    assert len(versions) == 3
    assert list(disagreements(versions)) == []
    [problem] = disagreements(versions | {"clients/typescript": "0.0.1"})
    assert "clients/typescript has 0.0.1" in problem


@pytest.mark.parametrize(
    ("line", "ready"),
    [
        ("## [1.2.0] - 2026-11-19", True),
        ("## [1.2.0] - unreleased", False),
        ("## [1x2.0] - 2026-11-19", False),
        ("## [1.1.0] - 2026-11-19", False),
    ],
)
def test_the_changelog_has_the_version_with_its_date(line, ready):
    assert (list(undated(f"# Changelog\n\n{line}\n", "1.2.0")) == []) is ready


def test_the_tree_has_nothing_that_is_not_committed(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert list(changes(tmp_path)) == []

    (tmp_path / "forgotten.py").touch()
    assert list(changes(tmp_path)) == ["The tree has changes that are not committed: forgotten.py."]


@pytest.mark.parametrize(("repository", "problems"), [("https://code.invalid/x", 1), ("https://code.example.com/x", 0)])
def test_the_address_of_the_repository_is_filled_in(tmp_path, repository, problems):
    (tmp_path / "pyproject.toml").write_text(f'[tool.hatch.metadata.hooks.custom]\nrepository = "{repository}"\n')

    assert len(list(unfilled_address(tmp_path))) == problems


def test_a_failing_command_is_shown_with_what_it_printed():
    with pytest.raises(Failed, match=r"`sh -c .*` failed with 3:\nno such thing"):
        run("sh", "-c", "echo no such thing; exit 3")
