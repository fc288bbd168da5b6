"""The files in deploy/ fit the code: commands parse, lanes, ports and variables exist, and there is time to stop."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from celery.app.utils import find_app
from celery.bin.base import CLIContext
from celery.bin.celery import celery
from celery.concurrency.prefork import TaskPool
from django.core.management import get_commands, load_command_class
from django.urls import resolve
from gunicorn.config import Config

from tasks_app.conf import Conf
from tasks_app.core.lanes import LANES
from tasks_app.core.metrics import METRICS
from tests.support import deployment
from tests.support.deployment import DEPLOY, Run
from tests.support.promql import parsed
from tests.support.stack import ROOT

SYSTEMD = shutil.which("systemd-analyze")
RUNS, PROBES = deployment.runs(), deployment.probes()
PORT = "8000"


def ids(run: Run) -> str:
    return run.where


@pytest.mark.parametrize("run", [*RUNS, *PROBES], ids=ids)
def test_a_command_is_one_that_its_program_takes(run: Run):
    if run.program == "celery":
        parse_celery(run.command[1:])
    elif run.program == "gunicorn":
        options = Config().parser().parse_args(run.command[1:])
        assert options.args == ["scheduler_project.wsgi"]
        assert options.bind[0].rpartition(":")[2] == PORT
    elif [run.program, run.command[1]] == ["python", "manage.py"]:
        parse_manage(run.command[2], run.command[3:])
    else:
        assert run.command[:2] == ["python", "-c"]
        compile(run.command[2], run.where, "exec")
        assert f":{PORT}/api/v1/live" in run.command[2]


def parse_celery(arguments: list[str]) -> None:
    """With Celery's own command line."""
    with celery.make_context("celery", list(arguments)) as context:
        context.obj = CLIContext(app=find_app(context.params["app"]), no_color=True, workdir=None)
        assert context.obj.app.main == "punctual"
        name, command, rest = celery.resolve_command(context, arguments[arguments.index("django_punctual") + 1 :])
        with command.make_context(name, rest, parent=context) as inner:
            # Celery lets options through that it doesn't know, for its extensions.
            assert inner.args == [], f"{name} does not know {inner.args}"
            if name == "worker":
                assert inner.params["pool"] is TaskPool and inner.params["concurrency"]
                assert set(inner.params["queues"]) <= set(LANES)


def parse_manage(name: str, arguments: list[str]) -> None:
    app = get_commands()[name]
    load_command_class(app, name).create_parser("manage.py", name).parse_args(arguments)


def test_every_lane_has_a_worker():
    for kind in ("compose.yaml", "kubernetes"):
        served = [lane for run in RUNS if run.where.startswith(kind) for lane in run.lanes]
        assert sorted(served) == sorted(LANES), kind


@pytest.mark.parametrize(
    "run", [run for run in RUNS if run.program in ("celery", "gunicorn") and run.where != "Dockerfile"], ids=ids
)
def test_there_is_more_time_to_stop_than_handlers_are_given(run: Run):
    assert run.grace_seconds > Conf().SHUTDOWN_SECONDS + Conf().TIMEOUT_GRACE_SECONDS + 5


def test_every_variable_is_one_that_the_settings_read():
    read = "".join(path.read_text() for path in (ROOT / "scheduler_project").glob("*.py"))
    names = set(re.findall(r"^(\w+)=", (DEPLOY / "systemd" / "punctual.env").read_text(), re.MULTILINE))
    for service in deployment.compose()["services"].values():
        names |= set(service["environment"]) if service["image"] == "punctual" else set()
    for one in deployment.manifests():
        if one["kind"] in ("ConfigMap", "Secret"):
            names |= set(one.get("data") or one["stringData"])

    assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PUBLIC_URL"} <= names
    assert [name for name in names if f'"{name}"' not in read] == ["PGOPTIONS"]  # libpq's


# ---- systemd ----


@pytest.fixture(scope="module")
def unit_files(tmp_path_factory) -> list[str]:
    """With programs that exist."""
    folder = tmp_path_factory.mktemp("systemd")
    for path in (DEPLOY / "systemd").glob("punctual*.*e*"):
        text = path.read_text().replace("/opt/punctual/.venv/bin", str(Path(sys.executable).parent))
        (folder / path.name.replace("@.", f"@{deployment.LANE}.")).write_text(text)
    return sorted(str(path) for path in folder.iterdir() if path.suffix in (".service", ".target"))


@pytest.mark.skipif(SYSTEMD is None, reason="systemd is not installed")
def test_systemd_takes_the_units(unit_files):
    tried = subprocess.run([SYSTEMD, "verify", "--man=no", *unit_files], capture_output=True, text=True)

    assert len(unit_files) == 7
    assert (tried.returncode, tried.stderr) == (0, "")


@pytest.mark.skipif(SYSTEMD is None, reason="systemd is not installed")
def test_systemd_finds_little_that_a_unit_may_do(unit_files):
    services = [name for name in unit_files if name.endswith(".service")]
    tried = subprocess.run(
        [SYSTEMD, "security", "--offline=true", "--threshold=20", "--no-pager", *services],
        capture_output=True,
        text=True,
    )

    assert tried.returncode == 0, tried.stdout  # an exposure of 2.0 of 10 at most


# ---- the image ----


def test_the_image_has_what_the_processes_need(tmp_path: Path):
    ignored = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    for name in deployment.copied():
        assert f"!{name}" in ignored, f"{name} is copied, but .dockerignore keeps it out"
        source = ROOT / name
        shutil.copytree(source, tmp_path / name) if source.is_dir() else shutil.copy(source, tmp_path / name)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    servers = {"DATABASE_URL": "postgresql:///none", "REDIS_URL": "redis://none", "SECRET_KEY": "x" * 50}
    load = (
        "import sys, manage; sys.argv[1:] = ['check']; manage.main(); import tasks_app.celery, scheduler_project.wsgi"
    )
    tried = subprocess.run(
        [sys.executable, "-c", load],
        cwd=tmp_path,
        env=clean | servers | {"DJANGO_SETTINGS_MODULE": "scheduler_project.settings"},
        capture_output=True,
        text=True,
    )

    assert tried.returncode == 0, tried.stderr
    assert "no issues" in tried.stdout


def test_the_image_is_made_from_hashes_and_does_not_run_as_root():
    instructions = deployment.dockerfile()
    (install,) = [rest for name, rest in instructions if name == "RUN" and "pip install" in rest]

    assert "--require-hashes" in install and install.endswith("--requirement requirements.lock")
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+( AS \w+)?", rest) for name, rest in instructions if name == "FROM")
    last_stage = instructions[max(at for at, (name, _) in enumerate(instructions) if name == "FROM") :]
    (user,) = [rest for name, rest in last_stage if name == "USER"]
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert [rest for name, rest in last_stage if name == "EXPOSE"] == [PORT]


def test_compose_waits_for_what_is_there_and_publishes_on_this_machine_alone():
    services = deployment.compose()["services"]

    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        assert service["healthcheck"], name
        assert not service["image"].endswith("latest"), name
    assert services["beat"]["deploy"]["replicas"] == 2
    assert {name: service["ports"] for name, service in services.items() if "ports" in service} == {
        "web": [f"127.0.0.1:{PORT}:{PORT}"]
    }


# ---- Kubernetes ----


def test_kubernetes_selects_labels_that_pods_have():
    everything = deployment.manifests()
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in everything if "template" in one.get("spec", {})]
    for one in everything:
        selector = one.get("spec", {}).get("selector", {})
        wanted = selector.get("matchLabels", selector)
        if wanted:
            assert sum(wanted.items() <= found.items() for found in labels) == 1, one["metadata"]["name"]
    budgets = {one["metadata"]["name"] for one in everything if one["kind"] == "PodDisruptionBudget"}
    assert budgets == {one["metadata"]["name"] for one in everything if one["kind"] == "Deployment"}


def test_kubernetes_refers_to_files_secrets_and_ports_that_there_are():
    everything = deployment.manifests()
    known = {(one["kind"], one["metadata"]["name"]) for one in everything}
    files = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {
        "kustomization.yaml",
        "secrets.example.yaml",
    }

    assert set(deployment.kustomization()["resources"]) == files
    for name, pod in deployment.pods():
        (container,) = pod["containers"]
        assert container["image"] == deployment.kustomization()["images"][0]["name"], name
        for source in container["envFrom"]:
            ((kind, target),) = source.items()
            assert ({"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], target["name"]) in known, name
        assert container["securityContext"]["readOnlyRootFilesystem"] and pod["securityContext"]["runAsNonRoot"]
        assert container["resources"]["requests"] and container["resources"]["limits"]["memory"]


def test_the_autoscaler_of_the_page_scales_what_there_is_by_what_is_served():
    page = (ROOT / "docs" / "rules.md").read_text()
    block = textwrap.dedent(re.search(r"^( *)```yaml\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)[2])
    pods = dict(deployment.pods())
    served = {name: set(one.labels) for one in METRICS for name in one.sample_names}
    scaled = list(yaml.safe_load_all(block))

    assert [one["spec"]["scaleTargetRef"]["name"] for one in scaled] == ["punctual-worker-default", "punctual-beat"]
    for one in scaled:
        target = one["spec"]["scaleTargetRef"]["name"]
        [trigger] = one["spec"]["triggers"]
        command = pods[target]["containers"][0]["command"]
        slots = command[command.index("--concurrency") + 1] if "--concurrency" in command else "1"
        assert trigger["metadata"]["threshold"] == slots, target
        for asked in parsed(trigger["metadata"]["query"]).selectors:
            assert {label for label, *_ in asked.matchers} <= served[asked.metric], target
            for label, how, value in asked.matchers:
                # A process is called by its host, which in a pod is the pod's name.
                assert label != "node" or (how == "!~" and re.fullmatch(value, f"{target}-7f9c-x2x:1")), target


def test_every_pod_of_kubernetes_is_probed():
    for name, pod in deployment.pods():
        (container,) = pod["containers"]
        if name == "punctual-migrate":
            continue
        assert "startupProbe" in container, name
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if http := container.get(probe, {}).get("httpGet"):
                assert resolve(http["path"])
                assert http["port"] in {port["name"] for port in container["ports"]}
                assert [str(port["containerPort"]) for port in container["ports"]] == [PORT]
                # Django refuses the pod's own address.
                assert http["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
