"""`manage.py audit verify`, `anchor`, `export` and `keys`; and the places that anchors are sent to."""

import hashlib
import json
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings

from tasks_app.archive.place import place_of
from tasks_app.conf import from_settings
from tasks_app.core.audit_keys import new_key
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.engine.beat.anchoring import anchor as anchor_chore
from tasks_app.engine.beat.anchoring import chain_entries
from tasks_app.engine.channels import anchor_places
from tasks_app.engine.channels.anchor_places import AnchorsNotSent, label_of, send_anchors
from tasks_app.engine.watch.audit_status import read_audit
from tasks_app.engine.watch.verdict.audit import audit_entries_missing, audit_not_anchored, audit_unchained
from tasks_app.lifecycle.audit_anchor import anchor
from tasks_app.models import AnchorPlace, AuditAnchor, AuditEntry
from tasks_app.sql import execute
from tests.support.alarms import LOCAL
from tests.support.http_receiver import http_receiver
from tests.support.trail import PRIVATE, PUBLIC, deed, tamper

pytestmark = pytest.mark.django_db


def punctual(**given: object) -> override_settings:
    return override_settings(PUNCTUAL=settings.PUNCTUAL | {"AUDIT_KEYS": [PRIVATE]} | given)


@pytest.fixture
def keys():
    with punctual():
        yield


def said(*options: str) -> str:
    out = StringIO()
    call_command("audit", *options, stdout=out, stderr=out)
    return out.getvalue()


def refused(*options: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as error:
        call_command("audit", *options, stdout=out, stderr=out)
    return out.getvalue() + str(error.value)


def test_verify_says_what_it_looked_at_and_what_it_found(keys):
    deed("task 1")
    assert "Anchor 1 names 1 trail " in said("anchor")
    assert "1 entry of 1 trail verified" in said("verify")

    tamper("UPDATE punctual_audit_entry SET actor = 'eve'")

    words = refused("verify")
    assert f"changed: Trail of acme: entry {AuditEntry.objects.get().id} at place 1 is not what was written." in words
    assert "1 finding" in words
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("audit", "verify", "--json", stdout=out)
    finding, summary = map(json.loads, out.getvalue().splitlines())
    assert (finding["finding"]["kind"], summary["summary"]["ok"]) == ("changed", False)


def test_without_a_key_it_is_chained_and_not_anchored():
    deed("task 1")
    chain_entries()

    assert "No anchor was found" in said("verify")
    assert "There is no key that signs" in refused("anchor")
    assert read_audit().sentence.startswith("Chained, but not anchored")
    assert anchor_chore() == "0 sent"


def test_keys_are_shown_by_their_public_halves(keys):
    assert PUBLIC in said("keys") and PRIVATE.partition(":")[2] not in said("keys")
    assert said("keys", "--new").startswith("private:")
    with punctual(AUDIT_KEYS=[PUBLIC]):
        assert "No key signs" in said("keys")


def test_keys_may_lie_in_a_file(tmp_path):
    (tmp_path / "keys").write_text(f"# ours\n{PRIVATE}\n")
    with punctual(AUDIT_KEYS=[], AUDIT_KEYS_FILE=str(tmp_path / "keys")):
        assert PUBLIC in said("keys")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"AUDIT_KEYS": ["private:secret"]}, "entry 1 is not a key that"),
        ({"AUDIT_KEYS": [PRIVATE], "AUDIT_ANCHOR_URLS": ["ftp://x"]}, "it must be a whole path"),
        ({"AUDIT_KEYS": [PRIVATE], "AUDIT_ANCHOR_URLS": ["https://"]}, "can't be called"),
        ({"AUDIT_ANCHOR_URLS": ["/srv/anchors"]}, "no key signs anchors"),
    ],
)
def test_settings_that_would_prove_nothing_are_refused(given, words):
    with pytest.raises(InvalidConfiguration, match=words) as error:
        from_settings(given)
    assert "secret" not in str(error.value)


# Places.


def test_a_folder_gets_each_anchor_as_a_line_and_is_what_verify_goes_by(tmp_path):
    with punctual(AUDIT_ANCHOR_URLS=[str(tmp_path)]):
        deed("task 1")
        assert "1 anchor sent to 1 place" in said("anchor")
        deed("task 2")
        assert anchor_chore() == "0 sent", "within the hour there is no other"
        anchor()
        assert send_anchors() == 1
        lines = (tmp_path / "anchors.jsonl").read_text().splitlines()
        tamper("DELETE FROM punctual_audit_anchor")

        assert [json.loads(line)["no"] for line in lines] == [1, 2]
        assert f"2 anchors from {tmp_path}; " in said("verify")
        assert "No anchor was found" in said("verify", "--anchors", "/dev/null")


def test_anchors_of_the_database_itself_are_told_as_that(keys):
    deed("task 1")
    anchor()

    words = said("verify")
    assert "1 anchor from this database itself; " in words and "could have changed these anchors, too" in words


def test_each_machine_has_all_anchors_in_its_own_folder(tmp_path):
    here, elsewhere = tmp_path / "anchors.jsonl", tmp_path / "elsewhere"
    with punctual(AUDIT_ANCHOR_URLS=[str(tmp_path)]):
        deed("task 1")
        anchor()
        send_anchors()
        here.rename(elsewhere)  # a beat of another machine sends next, and its folder is empty
        anchor()
        assert (send_anchors(), len(here.read_text().splitlines())) == (2, 2)
        assert "has anchors up to 1; the database has some up to 2" in said("verify", "--anchors", str(elsewhere))
        elsewhere.rename(here)

        assert (send_anchors(), send_anchors()) == (1, 0)
        assert [json.loads(line)["no"] for line in here.read_text().splitlines()] == [1, 2]


def test_after_the_database_was_set_back_both_anchors_of_a_number_are_kept(tmp_path):
    with punctual(AUDIT_ANCHOR_URLS=[str(tmp_path)]):
        for _ in range(3):
            anchor()
        send_anchors()
        tamper("DELETE FROM punctual_audit_anchor WHERE no > 1", "UPDATE punctual_audit_place SET sent_no = 1")
        anchor()

        assert send_anchors() == 1
        assert "There are two anchors 2" in refused("verify")


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A bucket that lies in a folder."""
    (tmp_path / "bucket").mkdir()
    monkeypatch.setattr(anchor_places, "_bucket", lambda url: place_of(str(tmp_path / "bucket")))
    with punctual(AUDIT_ANCHOR_URLS=["s3://bucket/prefix?region=eu"]):
        yield tmp_path / "bucket"


def test_nothing_in_a_bucket_is_written_over(bucket):
    for _ in range(2):
        anchor()
    assert (send_anchors(), "2 anchors from s3://bucket/prefix (" in said("verify")) == (2, True)
    tamper("DELETE FROM punctual_audit_anchor WHERE no = 2", "UPDATE punctual_audit_place SET sent_no = 1")
    anchor()

    send_anchors()

    assert [file.name[:12] for file in sorted((bucket / "anchors").iterdir())] == [
        "000000000001",
        *["000000000002"] * 2,
    ]
    assert "There are two anchors 2" in refused("verify")


def test_a_bucket_that_lacks_what_it_was_sent_is_a_finding(bucket):
    for _ in range(2):
        anchor()
    send_anchors()
    sorted((bucket / "anchors").iterdir())[-1].unlink()

    assert "has anchors up to 1, but was sent those up to 2, says the database" in refused("verify")


def test_what_was_lost_is_signed_with_who_says_so_and_why(tmp_path):
    with punctual(AUDIT_ANCHOR_URLS=[str(tmp_path)]):
        for _ in range(2):
            anchor()
        send_anchors()
        tamper("DELETE FROM punctual_audit_anchor WHERE no = 2", "UPDATE punctual_audit_place SET sent_no = 1")
        assert "belong together" in refused("anchor", "--after-loss", "the failover of Monday")

        said("anchor", "--after-loss", "the failover of Monday", "--last-good", "1", "--by", "olga")

        assert "note: 1 anchor was lost with a database, says olga in anchor 2: 'the failover of Monday'." in said(
            "verify"
        )


def test_places_have_names_of_their_own():
    eu, us = (f"s3://bucket/prefix?region={region}" for region in ("eu", "us"))

    assert label_of(eu) != label_of(us) and "region" not in label_of(eu)
    assert label_of("s3://bucket/prefix") == "s3://bucket/prefix"


def test_a_place_is_forgotten_when_nobody_has_sent_anything_there_for_a_day(keys):
    """While settings are being changed, beats differ in them."""
    for label in ("/old", "/new"):
        AnchorPlace.objects.create(place=label)
    execute("UPDATE punctual_audit_place SET tried_at = now() - interval '25 hours' WHERE place = '/old'")

    anchor_chore()

    assert [row.place for row in AnchorPlace.objects.all()] == ["/new"]


def test_a_line_that_a_crash_has_cut_off_spoils_no_other(tmp_path):
    with punctual(AUDIT_ANCHOR_URLS=[str(tmp_path)]):
        deed("task 1")
        anchor()
        (tmp_path / "anchors.jsonl").write_text('{"no":1,')
        send_anchors()

        assert "note: A line of the anchors can't be read" in said("verify", "--anchors", str(tmp_path))


def test_a_place_that_is_away_is_told_and_gets_all_of_it_later(tmp_path):
    away, here = tmp_path / "away", tmp_path
    with punctual(AUDIT_ANCHOR_URLS=[str(away), f"file://{here}"]):
        deed("task 1")
        with pytest.raises(AnchorsNotSent, match="is not there"):
            anchor_chore()
        assert (here / "anchors.jsonl").exists()
        execute("UPDATE punctual_audit_place SET failing_since = now() - interval '1 hour' WHERE error <> ''")
        [problem] = audit_not_anchored(_status())
        assert "could not be written to for" in problem.sentence and str(away) in problem.detail
        anchor()

        away.mkdir()
        assert send_anchors() == 3

        assert list(audit_not_anchored(_status())) == []
        assert len((away / "anchors.jsonl").read_text().splitlines()) == 2


class _status:
    def __init__(self) -> None:
        self.audit = read_audit()


def test_a_webhook_gets_them_and_its_address_is_not_shown():
    with http_receiver() as hook:
        url = f"{hook.url}/hidden-path"
        with punctual(AUDIT_ANCHOR_URLS=[url], OUTGOING_ALLOW=LOCAL):
            deed("task 1")
            anchor()
            send_anchors()

            [request] = hook.got
            assert (request.json["no"], request.json["trails"][0]["place"]) == (1, 1)
            digest = hashlib.sha256(AuditAnchor.objects.get().body.encode()).hexdigest()
            assert request.headers["idempotency-key"] == f"anchor-1-{digest[:16]}"
            assert "hidden" not in AnchorPlace.objects.get().place == label_of(url)


def test_trouble_is_told_when_nothing_is_chained_or_anchored(keys):
    deed("task 1")
    assert list(audit_unchained(_status())) == []
    execute("UPDATE punctual_audit_unchained SET created_at = now() - interval '10 min'")
    assert "isn't being chained" in next(audit_unchained(_status())).sentence
    execute("UPDATE punctual_audit_unchained u SET created_at = e.created_at FROM punctual_audit_entry e")
    anchor()
    assert list(audit_not_anchored(_status())) == list(audit_unchained(_status())) == []
    AuditAnchor.objects.update(at="2026-01-01T00:00:00Z")
    assert "has not been anchored" in next(audit_not_anchored(_status())).sentence


def test_entries_that_were_deleted_are_told_apart_from_a_chain_that_stands():
    for subject in ("task 1", "task 2"):
        deed(subject)
    tamper(
        "DELETE FROM punctual_audit_entry", "UPDATE punctual_audit_unchained SET created_at = now() - interval '1 h'"
    )
    chain_entries()

    assert list(audit_unchained(_status())) == []
    [problem] = audit_entries_missing(_status())
    assert problem.severity == "trouble" and problem.sentence.startswith("2 audit entries were deleted before")
    execute("UPDATE punctual_audit_missing SET noticed_at = now() - interval '25 hours'")
    assert [problem.severity for problem in audit_entries_missing(_status())] == ["notice"]


# Exports.


@pytest.fixture
def export(keys, tmp_path):
    for number in range(3):
        deed(f"task {number} \x7f\u2028ü", detail={"n": 1.50})
    deed("lane low", None)
    chain_entries()
    path = tmp_path / "trail.jsonl"
    path.write_text(said("export", "--signed"))
    return path


def test_a_signed_export_can_be_checked_without_the_database(export):
    tamper("DELETE FROM punctual_audit_entry", "DELETE FROM punctual_audit_link")

    assert "is what was signed" in said("verify", "--export", str(export))
    head, *entries, end = map(json.loads, export.read_text().splitlines())
    assert (head["public"], end["entries"], len(entries)) == (PUBLIC, 4, 4)
    assert entries[0]["trail"] == "" and entries[1]["entry"]["subject"] == "task 0 \x7f\u2028ü"
    assert export.read_text().isascii()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (["entry"], "was gone when this was exported, though its month was not dropped"),
        (["entry", "link"], "places 2 to 2 were gone when this was exported"),
    ],
)
def test_an_export_tells_what_was_gone(export, what, words):
    gone = AuditEntry.objects.get(subject__startswith="task 1").id
    tamper(
        *(
            f"DELETE FROM punctual_audit_{table} WHERE {'entry_' if table == 'link' else ''}id = {gone}"
            for table in what
        )
    )
    export.write_text(said("export", "--signed"))

    assert words in refused("verify", "--export", str(export))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [line.replace("olga", "eve ") for line in lines], "is not what was written"),
        (lambda lines: [*lines[:2], *lines[3:]], "are not those that were exported"),
        (lambda lines: [lines[0], lines[1], lines[3], lines[2], *lines[4:]], "are not those that were exported"),
        (lambda lines: lines[:-1], "has no end"),
        (lambda lines: [*lines, "{}"], "something after the end"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"entries":4', '"entries":5')], "is not what the key"),
        (lambda lines: ["nonsense", *lines], "Line 1 is not one of an export"),
        (lambda lines: [*lines[:-1], '{"kind":"punctual-audit-export-end"}'], "Line 6 is not one of an export"),
        (lambda lines: [*lines[:-1], lines[-1].replace("{", '{"more":1e5,', 1)], "Line 6 is not one of an export"),
        (lambda lines: [*lines[:-1], json.dumps(json.loads(lines[-1]) | {"signature": []})], "is not what the key"),
        (lambda lines: [lines[0], "[" * 100_000, *lines[1:]], "Line 2 is not one of an export"),
    ],
)
def test_an_export_that_was_changed_is_refused(export, change, words):
    export.write_text("\n".join(change(export.read_text().splitlines())) + "\n")

    assert words in refused("verify", "--export", str(export))


def test_an_export_is_of_whoever_holds_the_key(export):
    with punctual(AUDIT_KEYS=[new_key()[0]]):
        assert "which is unknown here" in refused("verify", "--export", str(export))
    unsigned = said("export", "--tenant", "acme")
    export.write_text(unsigned)
    assert "It is not signed." in refused("verify", "--export", str(export))
    assert json.loads(unsigned.splitlines()[-1])["entries"] == 3
