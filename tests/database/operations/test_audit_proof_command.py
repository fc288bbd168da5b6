"""`manage.py audit verify`, `anchor`, `export` and `keys`; and the places that anchors are sent to."""

import json
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings

from tasks_app.conf import from_settings
from tasks_app.core.audit_keys import new_key
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.engine.beat.anchoring import anchor as anchor_chore
from tasks_app.engine.beat.anchoring import chain_entries
from tasks_app.engine.channels.anchor_places import AnchorsNotSent, label_of, send_anchors
from tasks_app.engine.watch.audit_status import read_audit
from tasks_app.engine.watch.verdict import audit_not_anchored, audit_unchained
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
        assert "2 anchors; " in said("verify")
        assert "No anchor was found" in said("verify", "--anchors", "/dev/null")


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
    ("change", "words"),
    [
        (lambda lines: [line.replace("olga", "eve ") for line in lines], "is not what was written"),
        (lambda lines: [*lines[:2], *lines[3:]], "are not those that were exported"),
        (lambda lines: [lines[0], lines[1], lines[3], lines[2], *lines[4:]], "are not those that were exported"),
        (lambda lines: lines[:-1], "has no end"),
        (lambda lines: [*lines, "{}"], "something after the end"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"entries":4', '"entries":5')], "is not what the key"),
        (lambda lines: ["nonsense", *lines], "Line 1 is not one of an export"),
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
