"""manage.py dlq: lists, groups, shows, replays, discards and tags; and its exit codes."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from django_punctual import schedule
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, DlqEntry
from tests.support.engine import run_due

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def letters() -> list[DlqEntry]:
    for key, message in enumerate(["order 1 has no address", "order 2 has no address", "closed"]):
        payload = {"do": "die", "message": message, "tags": ["odd"] if message == "closed" else []}
        schedule("T_PLAIN", key, payload=payload)
    run_due()
    return list(DlqEntry.objects.order_by("task_id"))


def dlq(*words: object) -> str:
    out = StringIO()
    call_command("dlq", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def lines(*words: object) -> list[dict]:
    return [json.loads(line) for line in dlq(*words, "--json").splitlines()]


def chosen() -> list[int]:
    return [id_ for chunk in CampaignChunk.objects.order_by("number") for id_ in chunk.ids]


def test_it_lists_letters_for_people_and_for_programs(letters):
    first, second, third = letters

    assert {one["id"] for one in lines("list")} == {one.id for one in letters}
    assert [one["id"] for one in lines("list", "--tag", "odd")] == [third.id]
    assert len(lines("list", "--fingerprint", first.fingerprint)) == 2
    assert len(lines("list", "--limit", 1)) == 1
    text = dlq("list", "--type", "T_PLAIN")
    assert f"task {second.task_id}" in text
    assert "T_PLAIN ASKED: closed [odd]" in text


def test_it_lists_causes(letters):
    groups = lines("groups")

    assert [(one["letters"], one["exact"]) for one in groups] == [(2, True), (1, True)]
    assert groups[0]["fingerprint"] == letters[0].fingerprint
    assert "T_PLAIN ASKED: closed" in dlq("groups")


def test_it_shows_one_with_its_payload_and_stack(letters):
    [told] = lines("show", letters[2].id)

    assert (told["key"], told["payload"]["message"], told["tags"]) == ("2", "closed", ["odd"])
    assert "in act" in told["traceback"]
    assert "in act" in dlq("show", letters[2].id)


@pytest.mark.parametrize("verb", ["replay", "discard"])
def test_an_order_is_a_campaign_for_what_matches(letters, verb):
    [told] = lines(verb, "--fingerprint", letters[0].fingerprint, "--rate", 50, "--reason", "mended", "--by", "olga")

    campaign = Campaign.objects.get()
    assert told == {"letters": 2, "complete": True, "taken": 2, "campaign": campaign.id}
    assert sorted(chosen()) == [letters[0].task_id, letters[1].task_id]
    assert (campaign.kind, campaign.rate, campaign.actor, campaign.reason) == (verb, 50.0, "olga", "mended")


def test_a_dry_run_changes_nothing(letters):
    assert lines("replay", "--all", "--limit", 2, "--dry-run") == [
        {"letters": 3, "complete": True, "taken": 2, "campaign": None}
    ]
    assert dlq("discard", "--tag", "odd", "--dry-run") == "1 dead letter would be discarded. Nothing was changed.\n"
    assert not Campaign.objects.exists()


def test_some_letters_are_named_by_their_ids(letters):
    assert dlq("discard", letters[0].id, letters[2].id).startswith("Campaign ")
    assert chosen() == [letters[0].task_id, letters[2].task_id]


def test_no_more_than_the_limit_are_taken(letters):
    dlq("replay", "--all", "--limit", 1)

    assert len(chosen()) == 1


def test_tags_are_changed(letters):
    assert lines("tag", letters[0].id, "--add", "seen", "--add", "eu") == [
        {"id": letters[0].id, "tags": ["seen", "eu"]}
    ]
    assert dlq("tag", letters[0].id, "--remove", "eu") == "seen\n"
    assert AuditEntry.objects.filter(verb="tag").count() == 2


@pytest.mark.parametrize(
    "words",
    [
        ("list", "--tag", "none"),
        ("groups", "--type", "T_QUIET"),
        ("show", 987_654_321),
        ("show", -1),
        ("replay", "--tag", "none"),
        ("discard", 987_654_321),
        ("tag", 987_654_321, "--add", "x"),
    ],
)
def test_nothing_found_is_exit_code_1(letters, words):
    with pytest.raises(SystemExit) as ended:
        dlq(*words)

    assert ended.value.code == 1
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("replay",), "which letters?"),
        (("replay", 1, "--tag", "odd"), "not both"),
        (("replay", "--all", "--tag", "odd"), "contradict"),
        (("discard", "--all", "--limit", 0), "it must be 1 or more"),
        (("replay", "--all", "--rate", 0), "a rate is between"),
        (("replay", "--all", "--lane", "fast"), "is unknown"),
        (("list", "--tag", "Odd"), "won't do"),
        (("list", "--fingerprint", "xyz"), "16 digits"),
        (("list", "--limit", "-3"), "it must be 1 or more"),
        (("list", "--since", "2026-01-02", "--until", "2026-01-01"), "must be later"),
    ],
)
def test_what_makes_no_sense_is_exit_code_2(letters, words, said):
    with pytest.raises(CommandError, match=said) as refused:
        dlq(*words)

    assert refused.value.returncode == 2
    assert not Campaign.objects.exists()


def test_a_tag_that_won_t_do_is_refused(letters):
    with pytest.raises(CommandError, match="won't do"):
        dlq("tag", letters[0].id, "--add", "Not This")
    with pytest.raises(CommandError, match="no tag is given"):
        dlq("tag", letters[0].id)
