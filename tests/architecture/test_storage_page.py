"""docs/storage.md lists every table, and no other."""

import re
from pathlib import Path

from django.apps import apps

from tests.support.stack import ROOT

APPS = ("punctual", "articles_app", "inventory_app")
PAGE = (ROOT / "docs" / "storage.md").read_text()
_SET = re.compile(r"^ALTER TABLE (\w+) SET \(", re.MULTILINE)
_CREATED = re.compile(r"^CREATE TABLE (\w+) \(", re.MULTILINE)


def listed(heading: str = "Every table") -> list[str]:
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    first_cells = re.findall(r"^\|([^|]+)\|", section, re.MULTILINE)
    return [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]


def tables_of_models() -> set[str]:
    return {
        model._meta.db_table
        for app in APPS
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
        if model._meta.managed
    }


def named_in_sql(pattern: re.Pattern[str]) -> set[str]:
    texts = [path.read_text() for app in APPS for path in Path(apps.get_app_config(app).path).glob("models/sql/*.sql")]
    texts.append((ROOT / "articles_app" / "models.sql").read_text())
    return {name for text in texts for name in pattern.findall(text)}


def test_the_page_lists_every_table_once():
    names = listed()

    assert sorted(names) == sorted(set(names))
    assert set(names) == tables_of_models() | named_in_sql(_CREATED)


def test_the_page_counts_punctuals_own_tables():
    ours = [name for name in listed() if name.startswith("punctual_")]

    assert f"Punctual's {len(ours)} tables" in PAGE


def test_the_page_names_every_table_with_settings():
    assert named_in_sql(_SET) - set(listed("Settings of the tables")) == set()
