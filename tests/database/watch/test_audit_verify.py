"""Whatever somebody with all rights does to the audit trail, it is found: by the chain, or by the last anchor."""

import json
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from tasks_app.core.audit_chain import GENESIS
from tasks_app.core.audit_keys import new_key
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.watch.audit_findings import ADDED, ANCHOR, CHANGED, REMOVED, REORDERED, Report
from tasks_app.lifecycle import audit_chain
from tasks_app.lifecycle.audit_anchor import Loss, anchor
from tasks_app.lifecycle.audit_chain import chain, trim
from tasks_app.models import AuditAnchor, AuditEntry, AuditLink, AuditTrail, UnchainedEntry
from tasks_app.sql import execute, run
from tasks_app.storage.partitions import partitions
from tests.support.partitions import write
from tests.support.trail import PRIVATE, PUBLIC, deed, findings, found, kinds, tamper

pytestmark = pytest.mark.django_db


def punctual(**given: object) -> override_settings:
    return override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [PRIVATE]} | given)


@pytest.fixture
def keys():
    with punctual():
        yield


@pytest.fixture
def trail(keys):
    """Four places of acme, one of another tenant, and an anchor."""
    for subject in ("task 1", "task 2", "task 3", "task 4"):
        deed(subject)
    deed("lane low", None)
    anchor()


def entry(subject: str) -> int:
    return AuditEntry.objects.get(subject=subject).id


def test_a_trail_that_nobody_touched_has_nothing_wrong(trail):
    report = Report()

    assert findings(report) == []
    assert (report.trails, report.entries, report.anchors, report.waiting) == (2, 5, 1, 0)


def test_an_entry_that_was_just_committed_waits_and_is_told_as_that(trail):
    deed("task 5")
    report = Report()

    assert findings(report) == []
    assert (report.entries, report.waiting) == (5, 1)
    assert UnchainedEntry.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        *("actor = 'eve'", "reason = 'none'", "outcome = 'done'", "address = '::1'", "detail = '{\"a\": 1.0}'"),
        *("task_id = 7", "tenant = NULL", "operation = gen_random_uuid()", "created_at = created_at + interval '1 s'"),
    ],
)
def test_an_entry_that_was_changed(trail, change):
    tamper(f"UPDATE punctual_audit_entry SET {change} WHERE subject = 'task 2'")

    assert (CHANGED, "acme", 2) in found()


def test_an_entry_that_was_removed(trail):
    tamper("DELETE FROM punctual_audit_entry WHERE subject = 'task 2'")

    assert found() == [(REMOVED, "acme", 2)]


def test_an_entry_that_was_removed_with_its_place(trail):
    tamper(
        f"DELETE FROM punctual_audit_link WHERE entry_id = {entry('task 2')}",
        "DELETE FROM punctual_audit_entry WHERE subject = 'task 2'",
    )

    assert found() == [(REMOVED, "acme", 2)]


def test_an_entry_that_was_added(trail):
    tamper(
        "INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason, tenant)"
        " VALUES (gen_random_uuid(), 'eve', 'cancel', 'task 9', 'cancelled', 'r', 'acme')"
    )

    assert found() == [(ADDED, "acme", None)]


COPY = (
    "INSERT INTO punctual_audit_entry (id, operation, actor, verb, subject, outcome, reason, tenant, created_at)"
    " OVERRIDING SYSTEM VALUE SELECT id, gen_random_uuid(), 'eve', verb, subject, outcome, reason, tenant, created_at"
    " {later} FROM punctual_audit_entry WHERE subject = 'task 2'"
)


@pytest.mark.parametrize(("later", "step"), [("", 1), ("", 2), ("", 1_000), ("+ interval '1 s'", 1_000)])
def test_an_entry_that_was_added_with_the_number_of_another(trail, later, step, monkeypatch):
    monkeypatch.setattr("tasks_app.engine.watch.audit_verify.STEP", step)
    tamper(COPY.format(later=later))

    assert (ADDED, "acme", None) in found()


def test_one_that_was_added_with_the_number_of_another_keeps_nobody_from_a_place(trail):
    """Through the table: it waits for a place, and there is one for its number already."""
    execute(COPY.format(later="+ interval '1 s'"))
    deed("task 5")

    assert chain()[:3] == (1, 0, False)
    assert not UnchainedEntry.objects.exists()
    assert found() == [(ADDED, "acme", None)]


def test_an_entry_that_was_added_for_a_time_that_is_past(trail):
    """Through the table, so that it gets a place like any other: the last one, which does not fit its time."""
    execute(
        "INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason, tenant, created_at)"
        " VALUES (gen_random_uuid(), 'eve', 'cancel', 'task 9', 'cancelled', 'r', 'acme', now() - interval '2 days')"
    )
    chain()

    assert (ADDED, "acme", 5) in found()


def test_entries_that_were_reordered(trail):
    one, two = entry("task 2"), entry("task 3")
    tamper(
        f"UPDATE punctual_audit_link SET place = -1 WHERE entry_id = {one}",
        f"UPDATE punctual_audit_link SET place = 2 WHERE entry_id = {two}",
        f"UPDATE punctual_audit_link SET place = 3 WHERE entry_id = {one}",
    )

    assert {(REORDERED, "acme", 2), (REORDERED, "acme", 3)} <= set(found())


def test_the_last_entries_that_were_removed_with_all_that_told_of_them(trail):
    """Without the anchor nobody could tell; with it, somebody can."""
    before = AuditLink.objects.get(tenant="acme", place=3)
    _cut_to(before)

    assert (REMOVED, "acme", 3) in found()
    assert found(anchors=[]) == []


def _cut_to(last: AuditLink) -> None:
    tamper(
        f"DELETE FROM punctual_audit_entry WHERE tenant = 'acme' AND id > {last.entry}",
        f"DELETE FROM punctual_audit_link WHERE tenant = 'acme' AND place > {last.place}",
        f"UPDATE punctual_audit_trail SET place = {last.place}, hash = '\\x{bytes(last.hash).hex()}'"
        " WHERE tenant = 'acme'",
    )


def test_a_trail_that_was_written_anew_from_an_entry_on(trail):
    """Every hash fits; the anchor's doesn't."""
    tamper(
        "UPDATE punctual_audit_entry SET actor = 'eve' WHERE subject = 'task 2'",
        "DELETE FROM punctual_audit_link WHERE tenant = 'acme'",
        "DELETE FROM punctual_audit_trail WHERE tenant = 'acme'",
        "INSERT INTO punctual_audit_unchained SELECT id, created_at FROM punctual_audit_entry WHERE tenant = 'acme'",
    )
    chain()

    assert found(anchors=[]) == []
    assert found() == [(ANCHOR, "acme", 4)]


def test_a_whole_trail_that_was_removed(trail):
    tamper(*(f"DELETE FROM punctual_audit_{table} WHERE tenant = 'acme'" for table in ("entry", "link", "trail")))

    assert found() == [(REMOVED, "acme", None)]
    assert found(tenant="") == []


def test_the_end_of_a_trail_that_was_removed(trail):
    tamper("DELETE FROM punctual_audit_trail WHERE tenant = 'acme'")

    assert found(anchors=[]) == [(REMOVED, "acme", None)]


def test_an_entry_that_was_deleted_before_it_had_a_place(trail):
    deed("task 5")
    tamper("DELETE FROM punctual_audit_entry WHERE subject = 'task 5'")

    assert found() == [(REMOVED, None, None)]
    assert (chain().missing, chain().missing) == (1, 0), "it is told once"
    assert not UnchainedEntry.objects.exists()
    assert found() == [(REMOVED, None, None)]


def test_the_first_entries_are_missed_unless_their_month_was_dropped(trail):
    """Even if somebody moves the beginning of the trail."""
    second = AuditLink.objects.get(tenant="acme", place=2)
    tamper(
        f"DELETE FROM punctual_audit_entry WHERE tenant = 'acme' AND id <= {second.entry}",
        "DELETE FROM punctual_audit_link WHERE tenant = 'acme' AND place <= 2",
        f"UPDATE punctual_audit_trail SET floor_place = 2, floor_hash = '\\x{bytes(second.hash).hex()}'"
        " WHERE tenant = 'acme'",
    )

    assert found()[0] == (REMOVED, "acme", None)


@pytest.fixture
def kept_from():
    """Since when entries are kept, as the catalogue would say after months were dropped."""

    def set_to(days: int) -> None:
        first = timezone.now() - timedelta(days=days)
        old = partitions("punctual_audit_entry")[0]
        tamper(f"DELETE FROM punctual_audit_entry WHERE created_at < '{first.isoformat()}'")
        execute(f"ALTER TABLE punctual_audit_entry DETACH PARTITION {old.name}")
        execute(
            f"ALTER TABLE punctual_audit_entry ATTACH PARTITION {old.name}"
            f" FOR VALUES FROM ('{first.isoformat()}') TO ('{old.until.isoformat()}')"
        )

    return set_to


def chain_as_of(moment) -> None:
    """All that waits got its place at another time than now."""
    ids = list(UnchainedEntry.objects.order_by("entry").values_list("entry", flat=True))
    heads: dict = {}
    found = audit_chain._read(run("entries_to_chain", {"ids": ids}))
    audit_chain._know(heads, found)
    audit_chain._link(found, heads, moment)
    audit_chain._move(heads)


def test_a_month_that_was_dropped_is_no_finding(keys, kept_from):
    for days in (300, 250):
        write("punctual_audit_entry", timezone.now() - timedelta(days=days))
    write("punctual_audit_entry", timezone.now())
    anchor()

    kept_from(200)

    assert found() == []
    assert trim() == 0, "a place that was given after the month stays: an anchor may know of it"
    assert found() == []


def test_its_places_are_forgotten_with_it_and_the_last_hash_is_kept(keys, kept_from):
    for days in (300, 250):
        write("punctual_audit_entry", timezone.now() - timedelta(days=days))
    write("punctual_audit_entry", timezone.now())
    chain_as_of(timezone.now() - timedelta(days=220))
    anchor()
    second = AuditLink.objects.get(place=2)

    kept_from(200)

    assert trim() == 2
    row = AuditTrail.objects.get()
    assert (row.floor_place, bytes(row.floor_hash)) == (2, bytes(second.hash))
    assert (bytes(AuditLink.objects.get().hash), row.place) == (bytes(row.hash), 3)
    assert found() == []
    anchor()
    assert json.loads(AuditAnchor.objects.get(no=2).body)["trails"][0]["floor"] == 2


def test_more_of_the_beginning_than_that_is_a_finding(keys, kept_from):
    for days in (300, 250, 150):
        write("punctual_audit_entry", timezone.now() - timedelta(days=days))
    chain_as_of(timezone.now() - timedelta(days=220))
    anchor()
    kept_from(200)
    trim()
    anchor()
    third = AuditLink.objects.get(place=3)

    tamper(
        f"DELETE FROM punctual_audit_entry WHERE id = {third.entry}",
        "DELETE FROM punctual_audit_link WHERE place = 3",
        f"UPDATE punctual_audit_trail SET floor_place = 3, floor_hash = '\\x{bytes(third.hash).hex()}'",
    )

    assert (REMOVED, "", 3) in found()


@pytest.mark.parametrize(("kept", "written", "first"), [(180.0, 150, 100), (2_555.0, 400, 200)])
def test_a_month_that_was_dropped_too_early_is_a_finding(kept, written, first, kept_from):
    with punctual(KEEP_AUDIT_DAYS=kept):
        write("punctual_audit_entry", timezone.now() - timedelta(days=written))
        write("punctual_audit_entry", timezone.now())
        anchor()

        kept_from(first)

        assert found() == [(REMOVED, None, None)]
        tamper(
            "UPDATE punctual_audit_trail SET floor_place = 1, floor_hash = k.hash FROM punctual_audit_link k"
            " WHERE k.place = 1",
            "DELETE FROM punctual_audit_link WHERE place = 1",
        )
        assert (REMOVED, None, None) in found(), "the anchor knows of it"


def test_a_time_of_which_nothing_is_kept_since_nobody_did_anything_is_no_finding(trail, kept_from):
    kept_from(100)

    assert found() == []


def test_months_that_went_by_a_shorter_time_than_is_set_now_are_no_finding(keys, kept_from):
    for days in (300, 250):
        write("punctual_audit_entry", timezone.now() - timedelta(days=days))
    anchor()
    kept_from(200)
    with punctual(KEEP_AUDIT_DAYS=2_555.0):
        anchor()

        assert found() == []


# Anchors.


def bodies() -> list[str]:
    return list(AuditAnchor.objects.order_by("no").values_list("body", flat=True))


def test_an_anchor_that_was_changed_or_signed_by_another(trail):
    [body] = bodies()
    told = json.loads(body)

    assert kinds(anchors=[json.dumps(told | {"at": "2020-01-01T00:00:00.000000Z"})]) == {ANCHOR}
    assert kinds(anchors=[json.dumps(told)]) == set(), "however it is written"
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [new_key()[0]]}):
        assert kinds() == {ANCHOR}


def test_anchors_that_are_missing_or_double(trail):
    for subject in ("task 5", "task 6"):
        deed(subject)
        anchor()
    one, two, three = bodies()

    assert found(anchors=[one, one, two, three]) == []
    assert kinds(anchors=[one, three]) == {ANCHOR}
    assert found(anchors=[two, three]) == [], "older ones may have been thrown away"


def test_a_line_that_was_cut_off_is_told_and_no_finding(trail):
    report = Report()
    [body] = bodies()

    assert findings(report, anchors=[body[:50], body]) == []
    assert len(report.notes) == 1


@pytest.mark.parametrize("begin", ['{"more":1e5,', '{"more":"\\ud800",', "[" * 100_000])
def test_a_line_that_is_no_anchor_spoils_no_other(trail, begin):
    report = Report()
    [body] = bodies()

    assert findings(report, anchors=[body.replace("{", begin, 1), body]) == []
    assert len(report.notes) == 1


def test_a_signature_that_is_no_text_is_a_wrong_one(trail):
    [body] = bodies()

    assert kinds(anchors=[json.dumps(json.loads(body) | {"signature": ["x"]})]) == {ANCHOR}


def test_an_old_key_verifies_after_it_was_replaced(trail):
    new, _ = new_key()
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [new, PUBLIC]}):
        deed("task 5")
        anchor()

        assert found() == []
        assert len({json.loads(body)["key"] for body in bodies()}) == 2


def test_a_trail_that_somebody_keeps_out_of_the_anchors(trail):
    deed("task 5")
    chain()
    tamper("UPDATE punctual_audit_trail SET anchored_place = place")
    anchor()

    assert found() == [(ANCHOR, "acme", 5)]


def chained_anew_at(last: int, moment) -> None:
    """All places after one were written anew, with all hashes, and say that they were given at another time."""
    before = AuditLink.objects.get(tenant="acme", place=last)
    tamper(
        "INSERT INTO punctual_audit_unchained SELECT entry_id, at FROM punctual_audit_link"
        f" WHERE tenant = 'acme' AND place > {last}",
        f"DELETE FROM punctual_audit_link WHERE tenant = 'acme' AND place > {last}",
        f"UPDATE punctual_audit_trail SET place = {last}, hash = '\\x{bytes(before.hash).hex()}' WHERE tenant = 'acme'",
    )
    chain_as_of(moment)
    tamper("UPDATE punctual_audit_trail SET anchored_place = 1000")


def test_a_trail_that_is_kept_out_of_the_anchors_by_times_to_come(trail):
    deed("task 5")
    chain()
    chained_anew_at(4, timezone.now() + timedelta(days=1))
    anchor()
    assert found() == [(REORDERED, "acme", 5)]

    deed("task 6")
    chain()
    assert (REORDERED, "acme", 6) in found(), "nor can it go back"


def test_a_trail_that_is_kept_out_of_the_anchors_by_times_that_are_written_anew(trail, monkeypatch):
    monkeypatch.setattr("tasks_app.engine.watch.audit_verify.LONGEST", timedelta(0))
    deed("task 5")
    chain()
    tamper("UPDATE punctual_audit_trail SET anchored_place = 1000")
    anchor()
    chained_anew_at(4, run("clock", {})[0][0])

    assert found() == [(ANCHOR, "acme", 5)]


def lost_and_gone_on() -> list[str]:
    """The anchors of a database that was lost after its first, and then those of a copy that has gone on from there."""
    deed("task 5")
    anchor()
    deed("task 6")
    anchor()
    before = bodies()
    _cut_to(AuditLink.objects.get(tenant="acme", place=4))
    tamper("DELETE FROM punctual_audit_anchor WHERE no > 1", "UPDATE punctual_audit_trail SET anchored_place = place")
    return before


@pytest.mark.parametrize("found_late", [False, True])
def test_what_was_lost_with_a_database_is_a_note_once_somebody_has_signed_it(trail, found_late):
    before = lost_and_gone_on()
    if found_late:  # a beat was faster than people
        deed("task 7")
        anchor()
    assert found(anchors=[*before, *bodies()]) != []
    report = Report()

    anchor(Loss(1, "the failover of Monday", "olga"))

    assert findings(report, anchors=[*before, *bodies()]) == []
    [note] = report.notes
    assert note.startswith("2 anchors after 1 were lost with a database, says olga in anchor ")
    deed("task 8")
    anchor()
    tamper("UPDATE punctual_audit_entry SET actor = 'eve' WHERE subject = 'task 1'")
    assert found(anchors=[*before, *bodies()]) == [(CHANGED, "acme", 1)]


def test_a_break_covers_nothing_before_the_last_good_one(trail):
    before = lost_and_gone_on()
    deed("task 7")
    anchor()
    anchor(Loss(2, "the failover of Monday", "olga"))

    assert kinds(anchors=[*before, *bodies()]) >= {ANCHOR}


@pytest.mark.parametrize("number", [-1, 2])
def test_a_break_names_an_anchor_that_there_is(trail, number):
    with pytest.raises(InvalidTask, match=f"can't be {number}: it must be one that this database has, from 0"):
        anchor(Loss(number, "lost", "olga"))


def test_two_databases_that_went_on_from_the_same_trail(trail):
    deed("task 5")
    anchor()
    ours = bodies()
    tamper("DELETE FROM punctual_audit_anchor WHERE no = 2", "UPDATE punctual_audit_trail SET anchored_place = 4")
    anchor()

    assert ANCHOR in kinds(anchors=[*ours, *bodies()])


# How it looks.


def test_it_looks_at_one_trail_or_from_a_time_on(trail):
    one, late = Report(), Report()

    assert findings(one, tenant="acme") == []
    assert findings(late, since=timezone.now() + timedelta(hours=2)) == []
    assert (one.trails, one.entries, late.entries) == (1, 4, 0)


def test_it_starts_in_the_middle_and_still_finds_what_is_after_it(keys):
    for days in (30, 20, 10):
        write("punctual_audit_entry", timezone.now() - timedelta(days=days))
    chain()
    report = Report()
    tamper("UPDATE punctual_audit_entry SET actor = 'eve'")

    assert [(one.kind, one.place) for one in findings(report, since=timezone.now() - timedelta(days=15))] == [
        (CHANGED, 3)
    ]
    assert report.entries == 1


def test_it_goes_step_by_step(trail, monkeypatch):
    monkeypatch.setattr("tasks_app.engine.watch.audit_verify.STEP", 2)
    monkeypatch.setattr(audit_chain, "CHUNK", 2)
    for number in range(5):
        deed(f"job {number}", f"tenant {number % 3}")
    chain()
    report = Report()

    assert findings(report) == []
    assert (report.trails, report.entries) == (5, 10)


def test_the_first_place_follows_from_nothing(trail):
    assert bytes(AuditTrail.objects.get(tenant="acme").floor_hash) == GENESIS
