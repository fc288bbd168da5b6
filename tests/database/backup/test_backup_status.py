"""How far behind the places are: in the verdict, in the metrics and in the health endpoint."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from tasks_app.backup.stream import note_places
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.verdict.problem import Severity
from tasks_app.metrics.reading import read
from tasks_app.models import BackupPlace
from tasks_app.sql import run

pytestmark = pytest.mark.django_db

A, B = "/mnt/a", "s3://bucket/b"


@pytest.fixture(autouse=True)
def two_places(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_URLS": [A, f"{B}?region=eu"], "BACKUP_SPOOL": "/mnt/spool"}


def note(*behind: float | None, error: str = "", base_hours: float | None = 1.0) -> None:
    now = run("clock", {})[0][0]
    told = []
    for number, (place, seconds) in enumerate(zip((A, B), behind, strict=False), 1):
        one = {"number": number, "place": place, "error": error if seconds is None else "", "behind_bytes": 5}
        if seconds is not None:
            one["covered_until"] = (now - timedelta(seconds=seconds)).isoformat()
        if base_hours is not None:
            one |= {"base": "L", "base_at": (now - timedelta(hours=base_hours)).isoformat(), "bases": 1}
        told.append(one)
    note_places(told)


def found(rule: str) -> list[tuple[Severity, str, str]]:
    return [(one.severity, one.sentence, one.detail) for one in read_status().found if one.rule == rule]


def test_nothing_known_of_any_place_is_trouble():
    [(severity, sentence, detail)] = found("backup_behind")
    assert (severity, sentence) == (Severity.TROUBLE, "The database is not backed up.")
    assert f"{A}: nothing arrives; {B}: nothing arrives" in detail


def test_a_minute_behind_in_every_place_is_trouble():
    note(61.0, 600.0)
    [(severity, sentence, _)] = found("backup_behind")
    assert (severity, sentence) == (Severity.TROUBLE, "The database has not been backed up for 61 s.")


def test_one_place_behind_is_a_notice_and_none_is_nothing():
    note(0.5, None, error="no disk")
    [(severity, sentence, detail)] = found("backup_behind")
    assert severity is Severity.NOTICE and sentence.startswith("A place for backups has got nothing")
    assert detail == f"{B}: no disk."
    note(0.5, 1.0)
    assert found("backup_behind") == found("no_base") == []


def test_a_base_that_is_missing_or_old_is_told():
    note(0.5, 0.5, base_hours=None)
    [(severity, sentence, _)] = found("no_base")
    assert (severity, sentence) == (Severity.TROUBLE, "There is no base backup, so nothing could be restored.")
    with pytest.raises(SystemExit) as end:
        call_command("backup", stdout=(out := StringIO()))
    assert (end.value.code, "! There is no base backup" in out.getvalue()) == (1, True)
    note(0.5, 0.5, base_hours=50.0)
    assert "is 2 d old" in found("no_base")[0][1]


def test_what_is_not_told_stays_as_it_was_and_a_place_that_left_the_settings_is_forgotten():
    note(1.0, 1.0)
    before = BackupPlace.objects.get(place=A)
    note_places([{"number": 1, "place": A, "error": "gone"}])
    after = BackupPlace.objects.get()
    assert (after.base, after.base_at, after.covered_until) == (before.base, before.base_at, before.covered_until)
    since = after.error_since
    note_places([{"number": 1, "place": A, "error": "still gone"}])
    assert BackupPlace.objects.get().error_since == since is not None
    note_places([{"number": 1, "place": A, "error": ""}])
    assert BackupPlace.objects.get().error_since is None


def test_the_metrics_tell_each_place_by_its_number(settings):
    note(2.0, None, error="no disk")
    values = read().values
    assert values["backup_behind_seconds"].keys() == {("1",)}
    assert values["backup_place_up"] == {("1",): 1.0, ("2",): 0.0}
    assert 3600 <= values["backup_age_seconds"]["1",] < 3700 and "backup_restored_age_seconds" not in values
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_URLS": []}
    assert "backup_place_up" not in read().values
