"""Entries get their places after their commit, and their hashes are the same wherever they are read."""

import json
import sys
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from tasks_app.core.audit_chain import digest_of
from tasks_app.engine.watch.audit_findings import ADDED
from tasks_app.engine.watch.audit_status import read_audit
from tasks_app.engine.watch.verdict.audit import audit_trail_broken
from tasks_app.lifecycle import audit_anchor, audit_chain
from tasks_app.lifecycle.audit import Entry, Operator, acting_from, audit
from tasks_app.lifecycle.audit_chain import chain, entry_of
from tasks_app.models import AuditEntry, AuditLink, AuditTrail, UnchainedEntry
from tasks_app.sql import execute, run
from tests.support.trail import PRIVATE, deed, found, tamper

pytestmark = pytest.mark.django_db


def places() -> list[tuple[str, int, str]]:
    subjects = dict(AuditEntry.objects.values_list("id", "subject"))
    links = AuditLink.objects.order_by("tenant", "place").values_list("tenant", "place", "entry")
    return [(tenant, place, subjects[entry]) for tenant, place, entry in links]


def test_each_tenant_has_a_trail_of_its_own():
    for subject, tenant in (("a", "acme"), ("b", None), ("c", "acme"), ("d", "other")):
        deed(subject, tenant)

    assert chain().entries == 4
    assert places() == [("", 1, "b"), ("acme", 1, "a"), ("acme", 2, "c"), ("other", 1, "d")]
    assert not UnchainedEntry.objects.exists()
    assert chain().entries == 0


def test_it_goes_on_where_it_was():
    for subject in ("a", "b", "c"):
        deed(subject)
        chain()

    assert [place for _, place, _ in places()] == [1, 2, 3]
    assert AuditTrail.objects.get().place == 3


def test_whoever_is_killed_half_way_has_given_no_place(monkeypatch):
    for number in range(4):
        deed(f"task {number}")
    monkeypatch.setattr(audit_chain, "CHUNK", 2)
    monkeypatch.setattr(audit_chain, "_move", lambda heads: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        chain()

    assert (UnchainedEntry.objects.count(), AuditLink.objects.count()) == (4, 0)
    monkeypatch.undo()
    assert chain().entries == 4
    assert found() == []


@pytest.fixture
def in_parts(monkeypatch):
    """Of five entries two get their places at a time."""
    monkeypatch.setattr(audit_chain, "PART", 2)
    monkeypatch.setattr(audit_chain, "CHUNK", 1)
    for number in range(5):
        deed(f"task {number}")


def test_what_one_look_has_found_gets_its_places_part_by_part(in_parts):
    audit_chain._chain_part()
    audit_chain._chain_part()
    assert (UnchainedEntry.objects.count(), AuditTrail.objects.get().place) == (3, 2)
    deed("later")

    assert chain().entries == 4, "whoever comes next goes on with that look, and then finds what came since"

    assert [subject for _, _, subject in places()] == [*(f"task {number}" for number in range(5)), "later"]
    looks = list(AuditLink.objects.order_by("place").values_list("chained_at", flat=True))
    assert len(set(looks[:5])) == 1 and looks[5] > looks[0]
    assert found() == []


def test_an_anchor_waits_for_all_that_a_look_has_found(in_parts, monkeypatch):
    """Another beat begins with a new look just after what waits was chained."""
    monkeypatch.setattr(audit_anchor, "chain", looks := Chains())
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [PRIVATE]}):
        audit_anchor.anchor()

        assert (looks.calls, UnchainedEntry.objects.count()) == (2, 0)
        assert found() == []


class Chains:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *, wait: bool) -> None:
        self.calls += 1
        if self.calls == 1:
            audit_chain._chain_part()
        else:
            chain(wait=wait)


NASTY = {
    "numbers": [0, -1, 1.5, 1.10, 1e-7, 1e22, 123456789012345678901234567890, 0.1 + 0.2, -0.0],
    "texts": ["Zürich", "北京", "😀", "\u2028", "\x7f", '\t\n\\"', "\ud7ff", "e\u0301", "é"],
    "names": {"é": 1, "e\u0301": 2, "😀": 3, "\ufb33": 4, "": 5, "10": 6, "9": 7},
    "nested": [[[]], {}, None, True, False],
}


def digests() -> list[bytes]:
    ids = list(AuditEntry.objects.order_by("id").values_list("id", flat=True))
    execute(
        "INSERT INTO punctual_audit_unchained SELECT id, created_at FROM punctual_audit_entry ON CONFLICT DO NOTHING"
    )
    return [digest_of(entry_of(row)) for row in run("entries_to_chain", {"ids": ids})]


def test_the_hash_is_the_same_after_a_dump_and_a_restore_and_in_any_time_zone():
    """As pg_dump does it: COPY writes texts, and reads them again."""
    deed("task ü", "tenänt", NASTY)
    execute(
        "INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason, detail, created_at)"
        " VALUES (gen_random_uuid(), 'a', 'v', 's', 'o', E'two\\nlines', '{\"n\": 1.500, \"m\": 1E+400}',"
        " '2026-10-25 02:30:00.000001+02')"
    )
    before = digests()

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        with cursor.copy("COPY (SELECT * FROM punctual_audit_entry) TO STDOUT") as dump:
            rows = [bytes(row) for row in dump]
        cursor.execute("DELETE FROM punctual_audit_entry")
        cursor.execute("SET LOCAL TimeZone = 'America/New_York'")
        with cursor.copy("COPY punctual_audit_entry FROM STDIN") as restore:
            for row in rows:
                restore.write(row)
        cursor.execute("SET LOCAL session_replication_role = origin")

    assert digests() == before and len(set(before)) == 2


def test_where_it_was_done_from_is_written_with_it():
    with acting_from("2001:db8::1\n" + "x" * 300):
        deed("a")
    deed("b")

    first, second = AuditEntry.objects.order_by("id").values_list("address", flat=True)
    assert first.startswith("2001:db8::1?x") and len(first) == 200
    assert second is None


def test_places_are_refused_every_change():
    deed("a")
    chain()
    for statement in ("UPDATE punctual_audit_link SET place = 2", "DELETE FROM punctual_audit_link"):
        with pytest.raises(Exception, match="append-only"), connection.cursor() as cursor:
            cursor.execute("SAVEPOINT here")
            try:
                cursor.execute(statement)
            finally:
                cursor.execute("ROLLBACK TO here")


def test_what_many_deeds_of_one_operation_left_is_chained_in_their_order():
    entries = [Entry(f"task {number}", "done", None, {"n": number}, "acme") for number in range(5)]
    audit(Operator("olga", "all"), "cancel", entries)

    chain()

    assert [subject for _, _, subject in places()] == [f"task {number}" for number in range(5)]
    assert json.loads(json.dumps(found())) == []


def links(tenant: str) -> int:
    return AuditLink.objects.filter(tenant=tenant).count()


HEADLESS = "DELETE FROM punctual_audit_trail WHERE tenant = 'acme'"
FORGED = (
    "INSERT INTO punctual_audit_link (tenant, place, entry_id, at, chained_at, digest, hash)"
    " VALUES ('acme', {place}, 4711, now(), now(), '\\x00', '\\x00')"
)


@pytest.mark.parametrize(
    "breaks",
    [
        HEADLESS,
        FORGED.format(place=3),
        FORGED.format(place=9_000_000_000),
        "UPDATE punctual_audit_trail SET place = 1 WHERE tenant = 'acme'",
        "UPDATE punctual_audit_trail SET place = 9223372036854775807 WHERE tenant = 'acme'",
        "UPDATE punctual_audit_trail SET hash = '\\x00' WHERE tenant = 'acme'",
        "DELETE FROM punctual_audit_link WHERE tenant = 'acme' AND place = 2",
    ],
)
def test_a_broken_trail_delays_no_other_trail(breaks):
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [PRIVATE]}):
        for subject, tenant in (("a", "acme"), ("b", "acme"), ("c", "other")):
            deed(subject, tenant)
        audit_anchor.anchor()
        tamper(breaks)
        before = links("acme")
        for subject, tenant in (("d", "acme"), ("e", "other"), ("f", None)):
            deed(subject, tenant)

        done = chain()
        made = audit_anchor.anchor()

        assert (done.entries, done.skipped, made.trails) == (2, 1, 2)
        assert (links("acme"), links("other"), links("")) == (before, 2, 1)
        assert not UnchainedEntry.objects.exists(), "what waits there is read each second"
        assert {tenant for _, tenant, _ in found()} == {"acme"}
        assert read_audit().broken == ["acme"]
        [problem] = audit_trail_broken(SimpleNamespace(audit=read_audit()))
        assert problem.severity == "trouble" and "acme" in problem.detail


def test_entries_of_a_broken_trail_get_their_places_when_it_is_repaired(in_parts):
    chain()
    head = AuditTrail.objects.get()
    tamper(HEADLESS)
    for number in range(5, 8):
        deed(f"task {number}")
    assert (chain().skipped, read_audit().broken) == (3, ["acme"])
    head.save(force_insert=True)
    deed("task 8")

    assert chain().entries == 4

    assert [subject for _, _, subject in places()] == [f"task {number}" for number in range(9)]
    assert (found(), read_audit().broken) == ([], [])


def test_what_is_repaired_in_the_middle_of_a_look_waits_for_the_next(in_parts):
    """Or what was committed later would get its place first."""
    chain()
    head = AuditTrail.objects.get()
    tamper(HEADLESS)
    deed("skipped")
    chain()
    for number in range(6, 11):
        deed(f"task {number}")
    audit_chain._chain_part()
    head.save(force_insert=True)

    assert chain().entries == 6
    assert [subject for _, _, subject in places()][5:7] == ["skipped", "task 6"]
    assert found() == []


def test_an_anchored_place_that_somebody_moved_keeps_no_trail_out_of_the_anchors():
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [PRIVATE]}):
        deed("a")
        chain()
        tamper("UPDATE punctual_audit_trail SET anchored_place = 9000000000, anchored_floor = 9000000000")

        assert audit_anchor.anchor().trails == 1


def test_an_entry_that_is_nested_however_deep_stops_no_trail():
    """A caller of the API may write 800 levels; 4,000 can only be written past our code."""
    detail: dict = {}
    for _ in range(400):
        detail = {"a": [detail]}
    deed("deep", detail=detail)
    execute(
        "INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason, detail, tenant)"
        " VALUES (gen_random_uuid(), 'a', 'v', 'deeper', 'o', '', (repeat('[', 4000) || repeat(']', 4000))::jsonb, 'a')"
    )
    deed("other", "other")

    readable = sys.version_info >= (3, 12)  # whose decoder goes 4,000 levels down

    assert chain().entries == 2 + readable

    assert {("acme", 1, "deep"), ("other", 1, "other")} <= set(places())
    assert not UnchainedEntry.objects.exists()
    assert [kind for kind, _, _ in found()] == [ADDED] * (not readable)


def test_a_trail_without_a_head_delays_no_trimming(monkeypatch):
    monkeypatch.setattr(audit_chain, "TRIM_STEP", 2)
    for subject, tenant in (("a", "acme"), ("b", "acme"), ("c", "acme"), ("d", "other")):
        deed(subject, tenant)
    chain()
    tamper(HEADLESS, "UPDATE punctual_audit_link SET at = at - interval '1 year', chained_at = at - interval '1 year'")
    kept = [SimpleNamespace(since=timezone.now() - timedelta(days=200))]
    monkeypatch.setattr(audit_chain, "partitions", lambda _: kept)

    assert audit_chain.trim() == 1
    assert (links("acme"), links("other")) == (3, 0)
