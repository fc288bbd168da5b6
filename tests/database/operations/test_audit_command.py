"""`manage.py audit`: the whole trail, or what is asked for of it, streamed."""

import csv
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tasks_app.engine.watch import audit_browse
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tests.support.partitions import now, write

pytestmark = pytest.mark.django_db


def printed(*options: str) -> list[str]:
    out = StringIO()
    call_command("audit", *options, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def trail() -> None:
    audit(Operator("olga", "=1+1"), "cancel", [Entry("task 1", "cancelled", 1, {"at": "now"}, "acme", "T_QUIET")])
    audit(Operator("otto", "the second\nof two lines"), "pause", [Entry("lane low", "paused")])
    write("punctual_audit_entry", now() - timedelta(days=100))


def test_the_trail_is_printed_the_latest_first(trail):
    one, two, three = printed()

    assert "otto: pause lane low, paused. 'the second\\nof two lines'" in one
    assert "olga: cancel task 1 of acme, cancelled." in two
    assert "a: v s, o. 'r'" in three


def test_as_json_each_line_is_an_entry(trail):
    entries = [json.loads(line) for line in printed("--json")]

    assert [entry["actor"] for entry in entries] == ["otto", "olga", "a"]
    assert entries[1]["detail"] == {"at": "now"}
    assert (entries[1]["tenant"], entries[1]["task_id"], entries[0]["tenant"]) == ("acme", 1, None)


def test_as_csv_it_is_a_table_in_which_no_spreadsheet_finds_a_formula(trail):
    names, one, two, _ = csv.reader(printed_text("--csv"))

    assert dict(zip(names, one, strict=True))["reason"] == "the second\nof two lines"
    assert dict(zip(names, two, strict=True))["reason"] == "'=1+1"


def printed_text(*options: str) -> StringIO:
    out = StringIO()
    call_command("audit", *options, stdout=out)
    return StringIO(out.getvalue())


@pytest.mark.parametrize(
    "options",
    [
        *(("--actor", "olga"), ("--verb", "cancel"), ("--subject", "task 1"), ("--task", "1"), ("--tenant", "acme")),
        *(("--reason", "1+"), ("--since", "2020-01-01", "--actor", "olga")),
    ],
    ids=" ".join,
)
def test_it_prints_what_is_asked_for(trail, options):
    [line] = printed(*options)

    assert "olga" in line
    assert printed(*options, "--until", "2020-01-02") == []


def test_a_day_is_one_of_utc_and_an_end_before_the_start_is_refused(trail):
    yesterday = f"{now() - timedelta(days=1):%Y-%m-%d}"

    assert len(printed("--since", yesterday)) == 2
    with pytest.raises(CommandError, match="must be later than since"):
        printed("--since", "2026-01-02", "--until", "2026-01-01")
    with pytest.raises(CommandError, match="argument --since"):
        printed("--since", "yesterday")


def test_it_reads_a_page_at_a_time(trail, monkeypatch):
    monkeypatch.setattr(audit_browse, "EXPORTED_AT_ONCE", 2)
    monkeypatch.setattr(audit_browse, "STRETCH", 3)
    for day in range(20):
        write("punctual_audit_entry", now() - timedelta(days=day))

    assert len(printed()) == 23
