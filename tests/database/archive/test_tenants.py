"""A tenant goes into the archive: all that is its own, once, whatever happens on the way; and nothing of others."""

import json
from collections import Counter
from io import StringIO

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from django_punctual import reschedule, schedule, schedule_many
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.archive import tenants as pieces_of
from tasks_app.archive.place import place_of
from tasks_app.core.errors import InvalidTask, NothingToDo, NotThere
from tasks_app.core.events import KINDS, schema_of
from tasks_app.engine.beat import tenant_archiver
from tasks_app.engine.beat.tenant_archiver import archive_tenants
from tasks_app.engine.beat.tenants import put_back
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle import tenant_archive, tenants
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.lifecycle.tenant_archive import Overtaken, begin, go_on, stop, take, work
from tasks_app.models import (
    AuditEntry,
    ScheduleTask,
    Tenant,
    TenantArchive,
    TenantKey,
)
from tasks_app.sql import execute
from tests.support.archive import days_ago, faulty, past_day
from tests.support.engine import run_due
from tests.support.events import told
from tests.support.jobs import make
from tests.support.json_schema import keeps_to
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, dead, scheduled, settled, started
from tests.support.operators import operator
from tests.support.overlap import overlap
from tests.support.scale import some

pytestmark = commits

PAST = (3, 6, 9)  # of past_day's tenant-0


@pytest.fixture(autouse=True)
def archive(settings, tmp_path, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    monkeypatch.setattr(tenant_archive, "CHUNK", 2)
    tenant_archiver._stopped.clear()
    tenants.know(["acme", "../acme"])
    yield tmp_path
    execute("DELETE FROM punctual_past")


def furnish(name: str = "acme") -> None:
    """Something of most that a tenant can have, and the same of somebody else."""
    past_day(days_ago(0), range(1_000_001, 1_000_007))
    execute("UPDATE punctual_past SET tenant = CASE WHEN id %% 2 = 0 THEN %(name)s ELSE 'other' END", {"name": name})
    for one in (name, "other"):
        schedule_many(TYPE, [{"key": f"{one} {number}", "at": TUESDAY} for number in range(5)], tenant=one)
        job = make(f"job of {one}", tenant=one)
        verbs.create(JobRequest(f"child of {one}", "T_QUIET", parents=[job.name]), operator(), one)
        create_calendar(CalendarRequest("days", days_off=["2027-01-01"]), operator(), tenant=one)
        set_secret("gateway", operator(), tenant=one, value="very secret indeed")
        issue("client", one, operator())
    dead("dies", tenant=name)


def of(name: str) -> dict[str, int]:
    return pieces_of.counts(name)


def files(folder, root=None) -> list[dict]:
    """The rows of all files that the manifest names, each with its table and round."""
    [manifest] = folder.rglob("manifest.json")
    found = []
    for one in json.loads(manifest.read_text())["files"]:
        rows = pq.read_table((root or folder) / one["name"]).to_pylist()
        assert len(rows) == one["rows"]
        found += [row | {"table": one["table"], "round": one["round"]} for row in rows]
    return found


def kept(folder) -> Counter:
    return Counter(row["table"] for row in files(folder))


def step() -> str:
    """All that can be done now; what it waits for, or went wrong, or its state."""
    archive_tenants()
    row = TenantArchive.objects.get()
    return row.waits_for or row.error or row.state


def test_all_that_is_its_own_is_in_the_archive_once_and_nothing_of_others(archive):
    furnish()
    before, others = of("acme"), of("other")
    assert {"tasks", "past", "jobs", "job_parents", "calendars", "secrets", "tokens", "dead_letters"} <= before.keys()

    begin("acme", operator("they have left"))
    assert step() == TenantArchive.DONE

    there = kept(archive)
    assert {name: there[name] for name in before} == before and there["attempts"] == 1
    assert (of("acme"), of("other")) == ({}, others)
    row, done = Tenant.objects.get(name="acme"), TenantArchive.objects.get()
    assert (row.state, row.closed, row.changed_by) == ("ARCHIVED", True, operator().name)
    assert (done.exported, done.removed) == (sum(there.values()), sum(there.values()))
    assert json.loads((archive / done.folder / "manifest.json").read_text())["complete"] is True
    secret = next(row for row in files(archive) if row["table"] == "secrets")
    assert "values" not in secret and not any("very secret" in str(value) for value in secret.values())
    assert not any("digest" in row for row in files(archive) if row["table"] == "tokens")
    assert AuditEntry.objects.filter(tenant="acme", verb="archive").count() == 2  # and all that was there before stays
    assert told("tenant.archived")[-1].data["rows"] == done.removed
    for kind in ("tenant.archiving", "tenant.archived"):
        event = told(kind)[-1]
        assert keeps_to(schema_of(KINDS[kind]), event.as_json()), event.as_json()
        assert set(event.data) <= set(KINDS[kind].data["properties"])
    execute("DELETE FROM punctual_past")  # which nobody has ever scheduled
    assert_consistent()


def test_nothing_new_is_taken_for_it_from_the_beginning_and_its_name_is_not_given_out_again(archive):
    scheduled("a", tenant="acme")
    scheduled("moved", tenant="acme", at=TUESDAY)
    dead("gave up", tenant="acme")
    ways = {
        "a task": lambda: schedule(TYPE, "b", tenant="acme"),
        "one that takes over from a success": lambda: reschedule(TYPE, "a", at=TUESDAY, tenant="acme"),
        "one that takes over from a failure": lambda: reschedule(TYPE, "gave up", at=TUESDAY, tenant="acme"),
        "a job": lambda: make("new", tenant="acme"),
        "a calendar": lambda: create_calendar(CalendarRequest("days"), operator(), tenant="acme"),
        "a token": lambda: issue("client", "acme", operator()),
        "a secret": lambda: set_secret("new", operator(), tenant="acme"),
        "a quota": lambda: tenants.edit("acme", {"max_jobs": 5}, operator()),
        "a suspension": lambda: tenants.suspend("acme", operator()),
    }
    run_due()  # `a` is over, so that something could take over from it
    begin("acme", operator())
    for what, way in ways.items():
        if what == "one that takes over from a success":
            continue  # a task that succeeded stays as it is
        with pytest.raises(InvalidTask, match="tenant 'acme' is being archived"):
            way()
    assert step() == TenantArchive.DONE
    for way in ways.values():
        with pytest.raises(InvalidTask, match=r"tenant 'acme' was archived on .*Use another name"):
            way()
    with pytest.raises(InvalidTask, match="was archived on"):
        tenants.create("acme", operator())
    with pytest.raises(InvalidTask, match="was archived on"):
        tenants.resume("acme", operator())
    with pytest.raises(NothingToDo, match="was archived on"):
        begin("acme", operator())
    assert of("acme") == {}


def test_what_runs_is_waited_for_and_what_it_leaves_behind_comes_along(archive):
    batch = started("runs", tenant="acme")
    begin("acme", operator())

    assert step() == "1 task that still run or are away"
    assert TenantArchive.objects.get().exported == 0

    settled(batch)
    assert step() == TenantArchive.DONE
    [task] = [row for row in files(archive) if row["table"] in ("tasks", "past")]
    assert (task["biz_key"], task["status"]) == ("runs", "SUCCESS")


def test_it_is_stopped_goes_on_and_can_be_resumed_until_something_was_removed(archive):
    [task] = scheduled("a", tenant="acme")
    begin("acme", operator())
    with pytest.raises(InvalidTask, match="Stop that first"):
        tenants.resume("acme", operator())
    stop("acme", operator())
    with pytest.raises(NothingToDo, match="is stopped"):
        stop("acme", operator())
    archive_tenants()
    assert TenantArchive.objects.get().exported == 0

    tenants.resume("acme", operator())
    assert (TenantArchive.objects.count(), Tenant.objects.get(name="acme").closed) == (0, False)
    put_back()
    run_due()
    assert ScheduleTask.objects.get(id=task).status == "SUCCESS"

    begin("acme", operator())
    TenantArchive.objects.update(phase="REMOVE", removed=1)
    stop("acme", operator())
    with pytest.raises(InvalidTask, match="1 rows of tenant 'acme' are in the archive alone"):
        tenants.resume("acme", operator())
    go_on("acme", operator())
    assert [step() for _ in range(3)][-1] == TenantArchive.DONE


class Died(BaseException):
    pass


def dies() -> None:
    raise Died


def test_whoever_dies_at_any_step_loses_nothing_and_doubles_nothing(archive, monkeypatch):
    """What is done to the archive or noted in the database is the last thing in turn, before it is done or just after;
    here every thirteenth."""
    monkeypatch.setattr(
        "tasks_app.archive.tenants.TABLES", [pieces_of.BY_NAME[one] for one in ("jobs", "past", "tasks")]
    )
    real, died = tenant_archive._note, 0
    for number in some(range(1, 200), 3, of=13):
        name = f"acme {number}"
        tenants.know([name])
        make("a job", tenant=name)
        scheduled("a", "b", "c", tenant=name, at=TUESDAY)
        rows = sum(of(name).values())
        begin(name, operator())
        place, handler = faulty(archive, number, dies, after=number % 2 == 0)

        def noted(mine, handler=handler, **fields) -> None:
            handler._step(lambda: real(mine, **fields))

        monkeypatch.setattr(tenant_archive, "_note", noted)
        try:
            assert work(place, take("mortal", []))
        except Died:
            died += 1
        monkeypatch.setattr(tenant_archive, "_note", real)
        TenantArchive.objects.update(held_until=None)
        archive_tenants()

        row = TenantArchive.objects.get(tenant=name)
        assert (row.state, row.exported, row.removed, of(name)) == (TenantArchive.DONE, rows, rows, {}), number
        there = Counter((one["table"], one["id"]) for one in files(archive / row.folder.rpartition("/")[0], archive))
        assert len(there) == rows and set(there.values()) == {1}
        if handler.steps < number:
            break  # that was more than there is to do
    assert died >= 3


def test_a_row_that_was_changed_since_it_was_written_is_written_again(archive, monkeypatch):
    [task] = scheduled("a", tenant="acme", at=TUESDAY)
    begin("acme", operator())
    real = pieces_of.check

    def changed(*args) -> None:
        ScheduleTask.objects.filter(id=task, error_code="").update(error_code="CHANGED")
        real(*args)

    monkeypatch.setattr("tasks_app.archive.tenants.check", changed)
    assert step() == TenantArchive.RUNNING
    assert of("acme")["tasks"] == 1
    step()
    assert step() == TenantArchive.DONE

    versions = [(row["round"], row["error_code"]) for row in files(archive) if row["table"] == "tasks"]
    assert versions == [(1, ""), (2, "CHANGED")]
    assert of("acme") == {}


def test_the_archive_is_away_and_all_stays_until_it_is_back(archive, settings, tmp_path):
    scheduled("a", tenant="acme", at=TUESDAY)
    begin("acme", operator())
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path / "not mounted")}

    assert "is not there" in step() or "No such file" in step()
    assert of("acme")["tasks"] == 1

    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    assert step() == TenantArchive.DONE


def test_a_file_that_is_broken_removes_nothing(archive, monkeypatch):
    scheduled("a", tenant="acme", at=TUESDAY)
    begin("acme", operator())
    real = tenant_archive._note

    def spoilt(mine, **fields) -> None:
        real(mine, **fields)
        for one in archive.rglob("tasks-*.parquet") if fields.get("phase") == "REMOVE" else ():
            one.write_bytes(one.read_bytes()[:-1])

    monkeypatch.setattr(tenant_archive, "_note", spoilt)

    assert "bytes, but should have" in step()
    assert of("acme")["tasks"] == 1


def test_a_beat_that_lost_it_writes_nothing_more(archive):
    scheduled("a", tenant="acme", at=TUESDAY)
    begin("acme", operator())
    slow = take("slow", [])
    assert take("other", []) is None  # it has a lease
    TenantArchive.objects.update(held_until="2020-01-01T00:00:00Z")
    fast = take("fast", [])

    with pytest.raises(Overtaken):
        work(place_of(str(archive)), slow)
    assert work(place_of(str(archive)), fast)


@pytest.mark.parametrize(("at", "renews"), some([(1, 0.0), (1, 1e9), (2, 1e9), (3, 1e9)], 0, of=2))
def test_a_beat_that_loses_it_as_it_removes_removes_nothing_and_renews_nothing(archive, monkeypatch, at, renews):
    """At one of the moments between two pieces of work, whether it asks for its lease then or not."""
    monkeypatch.setattr(tenant_archive, "RENEW_SECONDS", renews)
    scheduled("a", tenant="acme", at=TUESDAY)
    begin("acme", operator())
    slow, moments, others = take("slow", []), [], []

    def overtaken() -> None:
        moments.extend(TenantArchive.objects.filter(phase=TenantArchive.REMOVE))
        if len(moments) >= at and not others:
            TenantArchive.objects.update(held_until="2020-01-01T00:00:00Z")
            others.append(take("fast", []))
            others.append(TenantArchive.objects.get().held_until)

    with pytest.raises(Overtaken):
        work(place_of(str(archive)), slow, overtaken)

    fast, until = others
    assert (of("acme")["tasks"], TenantArchive.objects.get().held_until) == (1, until)
    assert work(place_of(str(archive)), fast)


@pytest.mark.parametrize("commit", [True, False])
def test_a_task_that_is_being_scheduled_as_it_is_closed_comes_along(archive, commit):
    def schedules() -> None:
        schedule(TYPE, "late", tenant="acme", at=TUESDAY)

    def closes() -> str:
        begin("acme", operator())
        return step()

    _, waits = overlap(schedules, closes, commit=commit)

    assert waits.startswith("the end of transactions of the database processes")
    assert step() == TenantArchive.DONE
    assert [row["biz_key"] for row in files(archive) if row["table"] == "tasks"] == (["late"] if commit else [])
    assert of("acme") == {}


def test_its_keys_stay_unless_somebody_wants_them_destroyed(archive):
    for name, destroy in (("acme", False), ("other", True)):
        tenants.know([name])
        tenants.edit(name, {"encrypted": True}, operator())
        schedule(TYPE, "a", tenant=name, at=TUESDAY, payload={"a": "secret"})
        begin(name, operator(), destroy_key=destroy)
    archive_tenants()

    assert {key.tenant: key.destroyed_at is None for key in TenantKey.objects.all()} == {"acme": True, "other": False}


@pytest.mark.parametrize("name", ["default", "internal", "", "acma"])
def test_who_can_not_be_archived(name):
    with pytest.raises((InvalidTask, NotThere)):
        begin(name, operator())
    assert not TenantArchive.objects.exists()


def test_without_an_archive_nothing_is_begun(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": ""}
    with pytest.raises(InvalidTask, match="ARCHIVE_URL is not set"):
        begin("acme", operator())


def printed(*words: str) -> str:
    out = StringIO()
    call_command("tenant", *words, stdout=out)
    return out.getvalue()


def test_by_command(archive):
    scheduled("a", tenant="../acme", at=TUESDAY)

    assert "1 of tasks" in printed("archive", "../acme", "--dry-run")
    assert not TenantArchive.objects.exists()
    assert "is being archived" in printed("archive", "../acme", "--reason", "gone", "--yes")
    assert "Stopped" in printed("archive", "../acme", "--stop")
    assert "stopped" in printed("show", "../acme")
    assert "goes on" in printed("archive", "../acme", "--continue")
    assert step() == TenantArchive.DONE
    folder = TenantArchive.objects.get().folder
    assert folder.startswith("tenants/%2E%2E%2Facme/") and (archive / folder / "manifest.json").exists()
    assert folder in printed("show", "../acme") and "archived" in printed("list")
    with pytest.raises(CommandError, match="is not being archived"):
        printed("archive", "nobody", "--stop")
