"""The workflow of the hosted CI runs what `.ci/run` runs, and nothing of its own."""

import yaml

from tests.support.stack import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())


def test_the_hosted_ci_runs_the_same_script_as_everybody():
    [job] = WORKFLOW["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]

    assert commands[-1] == "bash .ci/run"
    assert all(command.startswith("git config ") for command in commands[:-1])
    assert (ROOT / ".ci" / "run").exists()


def test_it_runs_for_every_change_and_may_only_read():
    triggers = WORKFLOW[True]  # YAML 1.1 reads `on` as true

    assert triggers == {"push": {"branches": ["main"]}, "pull_request": None}
    assert WORKFLOW["permissions"] == {"contents": "read"}
