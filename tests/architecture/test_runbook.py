"""Whoever is woken up finds a section about it: for each condition of alarms, each alert, each rule of the verdict."""

import re
from pathlib import Path

import pytest

from tasks_app.core.alarms import Condition
from tasks_app.engine.watch.verdict import RULES

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
