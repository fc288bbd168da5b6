"""Whoever is woken up finds a section about it: for each condition of alarms, alert, safeguard, rule of the verdict."""

import re
from pathlib import Path

import pytest

from tasks_app.core.alarms import Condition
from tasks_app.core.safeguards import PLANNED, Name
from tasks_app.engine.watch.verdict.judge import RULES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = (DOCS / "runbook.md").read_text()
ALERTS = DOCS / "alerts.yml"
SAYS = ("It means", "Done already:", "Look at", "Do", "It is over when")


def sections() -> dict[str, str]:
    """By their anchors, as a browser has them."""
    _, *found = re.split(r"^### (.+)$", PAGE, flags=re.MULTILINE)
    return {title.lower().replace(" ", "-"): text for title, text in zip(found[::2], found[1::2], strict=True)}


def alerts() -> list[str]:
    if not ALERTS.exists():
        return []
    names = re.findall(r"^\s*- alert: (\w+)$", ALERTS.read_text(), flags=re.MULTILINE)
    return [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower() for name in names]


@pytest.mark.parametrize("name", [*(str(one) for one in Condition), *alerts()])
def test_each_alarm_and_each_alert_has_a_section(name):
    assert name in sections()


@pytest.mark.parametrize("name", [name for name in Name if name not in PLANNED])
def test_each_safeguard_has_an_alert_and_a_page_that_says_how_to_stop_it(name):
    page = f"punctual-safeguard-{name.replace('_', '-')}"
    asked = re.findall(r'punctual_safeguard_stage{safeguard="(\w+)"}', ALERTS.read_text())

    assert (page in alerts(), asked.count(name)) == (True, 1)
    assert f"(#{page})" in sections()["safeguard"]
    assert "manage.py rules" in sections()[page] or name == Name.SLOW_HANDLER


def test_there_is_no_section_about_an_alert_that_is_gone():
    assert [name for name in sections() if name.startswith("punctual-") and name not in alerts()] == []


@pytest.mark.parametrize("name", sections())
def test_each_section_says_all_five_things(name):
    text = sections()[name]
    said = [words for words in SAYS if f"**{words}**" in text or f"\n**{words} " in text]
    assert said == list(SAYS)


def test_each_rule_of_the_verdict_has_its_row():
    rows = re.findall(r"^\| `(\w+)` \|", sections()["trouble"], flags=re.MULTILINE)
    assert rows == [rule.__name__ for rule in RULES]


def test_links_inside_the_page_lead_somewhere():
    anchors = {*sections(), "alarm-rules", "alerts-of-prometheus"}
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= anchors
