"""What `python -m build` makes: the whole of tasks_app, nothing else, and metadata that is true."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.core.management import load_command_class
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import tasks_app
from clients.__main__ import HERE as CLIENTS
from tests.support.clean_environment import asked_by, clean_environment
from tests.support.stack import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
REPOSITORY = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
PAGES_OF_PROJECT = {"Documentation", "Changelog", "Security"}
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(line) for line in lines] for name, lines in PROJECT["optional-dependencies"].items()}
# What only works with an extra, by the beginning of its path.
NEEDS_EXTRA = {
    "tasks_app/admin/": "admin",
    "tasks_app/console/": "admin",
    "tasks_app/pages/rows.py": "admin",
    "tasks_app/api/": "api",
    "tasks_app/client/endpoints.py": "api",
    "tasks_app/archive/": "archive",
    "tasks_app/backup/": "archive",
    "tasks_app/embedded/": "embedded",
    "tasks_app/metrics/": "metrics",
    "tasks_app/engine/operations/declared_jobs/yaml_file.py": "yaml",
    "tasks_app/engine/worker/spans.py": "otel",
}


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel: Path) -> Message:
    return message_from_string(
        next(text for name, text in contents(wheel).items() if name.endswith(".dist-info/METADATA")).decode()
    )


def in_git(*folders: str) -> set[str]:
    """What is, or is about to be, in the repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_has_every_file_of_both_packages_the_pages_and_nothing_else(built):
    """It is made from the sdist, which loses and changes nothing on the way."""
    inside = {name: text for name, text in contents(built.wheel).items() if not name.startswith("django_punctual-")}

    pages = {name for name in in_git("docs") if name.endswith(".md") and not name.startswith("docs/contributing/")}
    code = in_git("django_punctual", "tasks_app")
    assert inside == {name: (ROOT / name).read_bytes() for name in code} | {
        f"tasks_app/{name}": (ROOT / name).read_bytes() for name in pages
    }
    assert {"tasks_app/py.typed", "tasks_app/docs/deploy.md"} <= inside.keys()
    assert built.wheel.stat().st_size < 3_000_000


@pytest.mark.scale  # it makes a second wheel; of the first, the test above compares all but the metadata
def test_the_wheel_is_the_same_from_the_sdist_and_from_the_tree(built, wheel_of_tree):
    assert contents(built.wheel) == contents(wheel_of_tree)


def test_the_sdist_has_the_docs_and_no_other_code(built):
    with tarfile.open(built.sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}

    code = {name for name in inside if name.startswith(("django_punctual/", "tasks_app/", "clients/"))}
    assert code == in_git("django_punctual", "tasks_app")
    assert {name.partition("/")[0] for name in inside} == {
        *(
            "django_punctual",
            "tasks_app",
            "docs",
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "hatch_build.py",
            "pyproject.toml",
            "PKG-INFO",
            ".gitignore",
        ),
    }


def test_the_metadata_says_what_it_is(built):
    told = metadata(built.wheel)

    assert (told["Name"], told["Version"]) == ("django-punctual", tasks_app.__version__)
    assert (told["License-Expression"], told["License-File"]) == ("Apache-2.0", "LICENSE")
    assert {"admin", "api", "embedded"} <= set(told.get_all("Provides-Extra"))
    assert "Typing :: Typed" in told.get_all("Classifier")
    assert told["Author"] == "The Punctual authors"
    assert {line.partition(",")[0] for line in told.get_all("Project-URL")} == {"Source", *PAGES_OF_PROJECT}


def test_the_readme_leads_to_files_of_the_checkout_from_anywhere(built):
    text = metadata(built.wheel).get_payload()
    links = re.findall(r"(!?)\[(?:[^][]|\[[^]]*\])*\]\(([^)\s]+)\)", text)

    assert text.startswith("# Punctual\n") and len(links) > 15
    for picture, link in links:
        kind = "raw" if picture else "blob"
        start = f"{REPOSITORY}/{kind}/v{tasks_app.__version__}/"
        assert link.startswith(start) and (ROOT / link.removeprefix(start)).exists(), link


def test_our_commands_tell_our_version(capsys):
    with pytest.raises(SystemExit):
        load_command_class("tasks_app", "lane").create_parser("manage.py", "lane").parse_args(["--version"])
    assert capsys.readouterr().out == f"Punctual {tasks_app.__version__}\n"


def test_the_checkout_runs_on_versions_that_the_package_allows():
    pinned = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            one = Requirement(line)
            pinned[canonicalize_name(one.name)] = str(one.specifier).removeprefix("==")

    ours = ("admin", "embedded", "api", "archive", "metrics", "yaml", "otel")
    extras = [one for name in ours for one in EXTRAS[name]]
    for one in [*CORE, *extras]:
        name = canonicalize_name(one.name)
        assert name in pinned, f"requirements.txt doesn't pin {one.name}"
        assert one.specifier.contains(pinned[name]), f"{one} doesn't allow {pinned[name]}"


def test_the_corners_of_the_matrix_are_the_ends_of_what_the_package_allows():
    allowed = {canonicalize_name(one.name): one.specifier for one in CORE}
    for corner, end in (("oldest", ">="), ("newest", "<")):
        for line in (ROOT / "matrix" / f"{corner}.txt").read_text().splitlines():
            name, _, version = line.partition("==")
            if specifier := allowed.get(canonicalize_name(name)):
                [bound] = [one.version for one in specifier if one.operator == end]
                major, minor = version.split(".")[:2]
                after = f"{major}.{int(minor) + 1}"
                assert Version(bound) == Version(version if end == ">=" else after), line


def test_the_client_has_a_wheel_of_its_own_that_works_without_anything_of_the_scheduler(built_client, tmp_path):
    inside = {name: text for name, text in contents(built_client.wheel).items() if ".dist-info/" not in name}
    folder = CLIENTS / "python"
    ours = [one for one in (folder / "punctual_client").rglob("*") if one.suffix in (".py", ".typed")]
    assert inside == {one.relative_to(folder).as_posix(): one.read_bytes() for one in ours}
    assert "punctual_client/generated/operations.py" in inside
    assert metadata(built_client.wheel)["Metadata-Version"] == "2.4", "not every index and pip knows newer ones"

    programs = clean_environment(tmp_path / "env", asked_by(built_client.wheel))
    with zipfile.ZipFile(built_client.wheel) as archive:
        archive.extractall(tmp_path / "wheel")
    use = (
        "import importlib.util, punctual_client; assert importlib.util.find_spec('django') is None; "
        "print(punctual_client.TaskIn('A', 'a').to_dict(), punctual_client.Punctual('https://x', 'y').close())"
    )
    tried = subprocess.run(
        [programs / "python", "-c", use], cwd=tmp_path / "wheel", capture_output=True, text=True, timeout=60
    )

    assert tried.stdout == "{'task_type': 'A', 'key': 'a'} None\n", tried.stderr


def test_the_client_is_not_built_without_its_generated_part(tmp_path):
    folder = tmp_path / "python"
    shutil.copytree(CLIENTS / "python", folder, ignore=shutil.ignore_patterns("generated"))
    refused = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", str(folder)], capture_output=True, text=True
    )

    assert refused.returncode and "Run `make clients` in the checkout first" in refused.stdout + refused.stderr


SETTINGS = """
SECRET_KEY = "a secret"
INSTALLED_APPS = ["django_punctual"]
ROOT_URLCONF = "tasks_app.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "nowhere"}}
PUNCTUAL = {"REDIS_URL": "redis://127.0.0.1:1/0"}
"""
# As the program `celery` does it, whose own folder is on the path and not the project's.
LOAD = """
from celery.app.utils import find_app

app = find_app("django_punctual")
import late
from django.core.management import call_command
from tasks_app.urls import urlpatterns

call_command("check")
print(app.main, sorted(app.amqp.queues), late.ANSWER, urlpatterns, app.connection_for_write().transport_cls)
"""


def test_a_beat_or_worker_of_a_project_without_anything_else_can_start(built, tmp_path: Path):
    """The wheel without an extra, and no Celery app and no admin."""
    programs = clean_environment(tmp_path / "venv", ["psycopg[binary]", "pip", *asked_by(built.wheel)])
    project = tmp_path / "project"
    project.mkdir()
    (project / "bare.py").write_text(SETTINGS)
    (project / "late.py").write_text("ANSWER = 42\n")

    def run(*command: str) -> str:
        env = {"DJANGO_SETTINGS_MODULE": "bare", "PIP_CONFIG_FILE": os.devnull, "HOME": str(tmp_path)}
        done = subprocess.run(
            [programs / "python", "-P", *command], cwd=project, env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "pip", "install", "--quiet", "--no-index", "--no-compile", str(built.wheel))

    told = run("-c", LOAD)

    assert "punctual ['backfill', 'critical', 'default', 'deferred', 'high', 'low'] 42 []" in told
    printed = run("-m", "django", "punctual_help", "deploy", "--pythonpath", ".")
    assert printed == (ROOT / "docs" / "deploy.md").read_text()


def test_a_module_imports_nothing_that_its_extra_does_not_bring():
    distributions = packages_distributions()
    ours = ("django_punctual", "tasks_app")
    for path in sorted(path for folder in ours for path in (ROOT / folder).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        extra = next((extra for folder, extra in NEEDS_EXTRA.items() if place.startswith(folder)), None)
        brought = {canonicalize_name(one.name) for one in [*CORE, *EXTRAS.get(extra, [])]}
        if place == "django_punctual/testing/plugin.py":
            brought.add("pytest")  # which imports it, where it is installed
        for package in imported(path):
            if package not in ours and package not in sys.stdlib_module_names:
                names = {canonicalize_name(name) for name in distributions.get(package, [])}
                assert names & brought, f"{place} imports {package}, which nobody asks for"


def imported(path: Path) -> Iterator[str]:
    """The packages that importing this module imports; what a function imports when it is called is its own affair."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]
