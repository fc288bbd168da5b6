"""What lies in deploy/, read as systemd, Docker and Kubernetes would read it."""

import configparser
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.stack import ROOT

DEPLOY = ROOT / "deploy"
LANE = "default"  # the instance of the worker's template


@dataclass(frozen=True)
class Run:
    """A process that a file starts: where it says so, what it starts, and how long it may take to stop."""

    where: str
    command: list[str]
    grace_seconds: float | None = None

    @property
    def program(self) -> str:
        return Path(self.command[0]).name

    @property
    def lanes(self) -> list[str]:
        return self.command[self.command.index("-Q") + 1].split(",") if "-Q" in self.command else []


def units() -> dict[str, configparser.ConfigParser]:
    return {path.name: _unit(path) for path in sorted((DEPLOY / "systemd").glob("*.service"))}


def compose() -> dict:
    return yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())


def manifests() -> list[dict]:
    """Everything that Kubernetes is given, the example of secrets too; not kustomize's own file."""
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [one for file in files if file.name != "kustomization.yaml" for one in yaml.safe_load_all(file.read_text())]


def kustomization() -> dict:
    return yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())


def dockerfile() -> list[tuple[str, str]]:
    """Its instructions in order, each with what follows."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "docker" / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def copied() -> list[str]:
    """What of this checkout gets into the image."""
    words = [shlex.split(rest) for name, rest in dockerfile() if name == "COPY" and not rest.startswith("--from")]
    return [source for *sources, _ in words for source in sources]


def pods() -> list[tuple[str, dict]]:
    return [
        (one["metadata"]["name"], one["spec"]["template"]["spec"])
        for one in manifests()
        if "template" in one.get("spec", {})
    ]


def runs() -> list[Run]:
    found = [
        Run(name, unit_command(unit), _seconds(unit["Service"]["TimeoutStopSec"])) for name, unit in units().items()
    ]
    for name, service in compose()["services"].items():
        if service["image"] == "punctual":
            found.append(Run(f"compose.yaml: {name}", service["command"], _seconds(service["stop_grace_period"])))
    for name, pod in pods():
        (container,) = pod["containers"]
        found.append(Run(f"kubernetes: {name}", container["command"], pod.get("terminationGracePeriodSeconds")))
    found += [Run("Dockerfile", json.loads(rest)) for name, rest in dockerfile() if name == "CMD"]
    return found


def probes() -> list[Run]:
    """What is run inside a container to ask how it is."""
    found = [
        Run(f"compose.yaml: {name}", service["healthcheck"]["test"][1:])
        for name, service in compose()["services"].items()
        if service["image"] == "punctual" and "test" in service["healthcheck"]
    ]
    for name, pod in pods():
        for container in pod["containers"]:
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                if "exec" in container.get(probe, {}):
                    found.append(Run(f"kubernetes: {name}", container[probe]["exec"]["command"]))
    return found


def unit_command(unit: configparser.ConfigParser) -> list[str]:
    """As the instance of lane `default` of a machine called m."""
    line = unit["Service"]["ExecStart"].replace("\\\n", " ").replace("%i", LANE).replace("%H", "m")
    return shlex.split(line.replace("${CONCURRENCY}", "2"))


def _unit(path: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    unit.optionxform = str
    unit.read_string(path.read_text())
    return unit


def _seconds(text: str) -> float:
    return float(str(text).removesuffix("s"))
