"""The initial migrations make the schema that the 105 migrations before them made, object by object.

`same_schema.json` has a digest of each object, from `pg_dump` of a database that those had made. Delete this test with
the first migration that changes the schema. Some differences are left out: names of NOT NULL constraints and of indexes
of partitions, what the first partitions kept from when they were plain tables, default partitions, which other tests
change, owners, and two columns of punctual_installation that no process writes any more.
"""

import hashlib
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from django.db import connection

from tasks_app.embedded import binaries

pytestmark = pytest.mark.django_db
OF_BEFORE = Path(__file__).with_name("same_schema.json")
_OBJECT = re.compile(
    r"(?:CREATE (?:TABLE|FUNCTION|VIEW)|ALTER TABLE(?: ONLY)?|GRANT .*? ON TABLE|(?:REVOKE|GRANT) .*? ON FUNCTION"
    r"|CREATE (?:UNIQUE )?INDEX \w+ ON(?: ONLY)?|CREATE TRIGGER .*? ON|CREATE POLICY \w+ ON) public\.(\w+)"
)
_LEFT_OUT = re.compile(r"_(?:before|default)\b|OWNER TO|ATTACH PARTITION|^ALTER (?:DEFAULT|INDEX)")
_DROPPED_COLUMNS = (
    "    seen_at timestamp with time zone,\n",
    "    standbys jsonb DEFAULT '{}'::jsonb NOT NULL,\n",
)


def test_each_object_is_the_one_that_the_migrations_before_made():
    if connection.pg_version // 10_000 != 18:
        pytest.skip("the digests are those of pg_dump 18")
    before = json.loads(OF_BEFORE.read_text())

    found = digests(dump())

    assert {name: found.get(name) for name in before} == before


def dump() -> str:
    own = connection.settings_dict
    options = ["--schema-only", "--no-owner", "--host", own["HOST"], "--port", str(own["PORT"] or 5432)]
    command = [binaries.postgres_install() / "bin" / "pg_dump", *options, "--username", own["USER"], own["NAME"]]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def digests(schema: str) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in statements(schema):
        if (name := _OBJECT.match(one)) and not _LEFT_OUT.search(one.split("$", 1)[0]):
            found[name[1]].append(one)
    return {name: hashlib.sha256("\n".join(sorted(ones)).encode()).hexdigest()[:16] for name, ones in found.items()}


def statements(schema: str) -> list[str]:
    lines = [line for line in schema.splitlines() if not line.startswith(("--", "SET ", "\\"))]
    text = re.sub(r" CONSTRAINT \w+_not_null(?= NOT NULL)", "", "\n".join(lines))
    for column in _DROPPED_COLUMNS:
        text = text.replace(column, "")
    parts, begun, quoted = [], 0, ""  # the body of a function has semicolons, too
    for found in re.finditer(r"\$\w*\$|;\n", text):
        if found[0] == ";\n":
            if not quoted:
                parts.append(text[begun : found.end()].strip())
                begun = found.end()
        elif not quoted:
            quoted = found[0]
        elif found[0] == quoted:
            quoted = ""
    return parts
