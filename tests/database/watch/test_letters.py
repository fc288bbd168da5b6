"""Open dead letters as lists, causes and curves; and orders for them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual import schedule
from tasks_app.core.errors import InvalidTask, NothingToDo, RetryLimited
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.operations.letters import deal_with, foresee
from tasks_app.engine.watch import letters
from tasks_app.engine.watch.letters import LetterFilter, causes, count_letters, curve, page_of_letters, walk_tasks
from tasks_app.lifecycle import retry_limit
from tasks_app.lifecycle.dead_letter import replay, tag_letters
from tasks_app.lifecycle.operate import Answer, Verb, operate
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, DlqEntry
from tests.support.engine import run_due
from tests.support.moves import dead
from tests.support.operators import operator

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)


@pytest.fixture
def three():
    """Letters of three causes, in the order in which they died: a, b, c, d, e."""
    said = {"a": "no stock", "b": "order 1 has no address", "c": "order 2 has no address", "d": "no stock"}
    for key, message in (said | {"e": "closed"}).items():
        tenant = "acme" if key == "d" else None
        payload = {"do": "die", "message": message, "tags": ["odd"] if key in "ae" else []}
        schedule("T_PLAIN", key, payload=payload, tenant=tenant)
    run_due()
    now = timezone.now()
    found = {letter.task.biz_key: letter for letter in DlqEntry.objects.select_related("task")}
    for number, key in enumerate("abcde"):
        DlqEntry.objects.filter(id=found[key].id).update(created_at=now - (5 - number) * HOUR)
        found[key].refresh_from_db()
    return found


def keys(page) -> str:
    return "".join(letter.task.biz_key for letter in page.letters)


def listed(size: int = 50, **wanted: object) -> str:
    return keys(page_of_letters(LetterFilter(**wanted), None, size))


def test_the_latest_come_first(three):
    assert listed() == "edcba"


def test_each_filter_finds_its_own(three):
    assert listed(tenant="acme") == "d"
    assert listed(task_type="T_PLAIN") == "edcba"
    assert listed(task_type="T_QUIET") == ""
    assert listed(types=["T_QUIET"]) == ""
    assert listed(tag="odd") == "ea"
    assert listed(fingerprint=three["b"].fingerprint) == "cb"
    assert listed(fingerprint=three["a"].fingerprint) == "da"
    assert listed(fingerprint=three["a"].fingerprint, tenant="acme") == "d"
    assert listed(since=three["b"].created_at, until=three["d"].created_at) == "cb"
    DlqEntry.objects.filter(id=three["c"].id).update(job=9)
    assert listed(job=9) == "c"


def test_what_was_dealt_with_is_gone(three):
    replay([three["c"].task_id], by="rae")

    assert listed() == "edba"


@pytest.mark.parametrize("stretch", [1, 2, 5_000])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pages_follow_each_other_without_gaps(three, monkeypatch, size, stretch):
    monkeypatch.setattr(letters, "STRETCH", stretch)
    seen, after = "", None
    while True:
        page = page_of_letters(LetterFilter(tag="odd"), after, size)
        seen, after = seen + keys(page), page.next
        if after is None:
            break

    assert seen == "ea"


def test_two_that_died_at_the_same_moment_are_both_found(three):
    DlqEntry.objects.update(created_at=timezone.now())
    first = page_of_letters(LetterFilter(), None, 2)
    second = page_of_letters(LetterFilter(), first.next, 9)

    assert sorted(keys(first) + keys(second)) == list("abcde")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"fingerprint": "x"}, "16 digits"),
        ({"tag": "Odd"}, "won't do"),
        ({"since": timezone.now(), "until": timezone.now() - HOUR}, "must be later"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(wanted, words):
    with pytest.raises(InvalidTask, match=words):
        LetterFilter(**wanted)


def test_a_place_that_is_none_is_refused():
    with pytest.raises(InvalidTask, match="unchanged"):
        page_of_letters(LetterFilter(), "5", 5)


def test_causes_are_counted_with_their_first_and_last(three):
    found = causes(LetterFilter(), 10)

    assert found.complete
    assert [(one.letters, one.error_msg) for one in found.causes] == [
        (2, "no stock"),
        (2, "order 2 has no address"),
        (1, "closed"),
    ]
    assert (found.causes[0].first_at, found.causes[0].last_at) == (three["a"].created_at, three["d"].created_at)
    assert found.causes[0].letter == three["d"].id


def test_causes_are_filtered_as_letters_are(three):
    def counted(**wanted):
        return [one.letters for one in causes(LetterFilter(**wanted), 10).causes]

    assert counted(tenant="acme") == [1]
    assert counted(tag="odd") == [1, 1]
    assert counted(task_type="T_QUIET") == []
    assert counted(types=["T_PLAIN"]) == [2, 2, 1]
    assert counted(since=three["c"].created_at) == [1, 1, 1]
    assert counted(fingerprint=three["b"].fingerprint) == [2]
    assert counted(fingerprint=three["a"].fingerprint, tenant="acme") == [1]
    assert counted(job=9) == []


def test_counts_stop_at_their_bound(three, monkeypatch):
    monkeypatch.setattr(letters, "COUNTED", 1)
    monkeypatch.setattr(letters, "MOST_CAUSES", 2)

    found = causes(LetterFilter(), 10)

    assert [(one.letters, one.complete) for one in found.causes] == [(1, False)] * 2
    assert not found.complete


def test_a_curve_has_each_letter_in_the_step_of_its_time(three):
    found = causes(LetterFilter(), 10).causes

    drawn = curve(LetterFilter(), found)

    assert {sum(values) for values in drawn.values.values()} == {1, 2}
    assert sum(map(sum, drawn.values.values())) == 5
    assert drawn.values[three["a"].fingerprint][0] == 1  # the oldest is in the first step
    assert drawn.since == three["a"].created_at


def test_letters_of_one_moment_have_a_curve(three):
    DlqEntry.objects.update(created_at=timezone.now())

    assert sum(map(sum, curve(LetterFilter(), causes(LetterFilter(), 10).causes).values.values())) == 5


def test_without_letters_there_is_none():
    assert causes(LetterFilter(), 10) == ([], True)
    assert curve(LetterFilter(), []) is None


@pytest.mark.parametrize("at_once", [1, 2, 5, 50_000])
def test_a_count_stops_at_its_bound_and_says_so(three, monkeypatch, at_once):
    monkeypatch.setattr(letters, "COUNTED_AT_ONCE", at_once)
    assert count_letters(LetterFilter(), 100, 5.0) == (5, True)
    assert count_letters(LetterFilter(), 3, 5.0) == (3, False)
    assert count_letters(LetterFilter(tag="odd"), 100, 5.0) == (2, True)
    assert count_letters(LetterFilter("acme", fingerprint=three["a"].fingerprint), 100, 5.0) == (1, True)


# Orders.


def chosen(campaign: Campaign) -> list[int]:
    return [id_ for chunk in CampaignChunk.objects.filter(campaign=campaign).order_by("number") for id_ in chunk.ids]


def test_an_order_is_for_the_letters_that_match_when_it_is_given(three):
    wanted = LetterFilter(fingerprint=three["b"].fingerprint)
    assert foresee(wanted, 1)[:3] == (2, True, 1)

    campaign = deal_with(Verb.REPLAY, wanted, operator(), Pace(rate=50.0))

    assert sorted(chosen(campaign)) == [three["b"].task_id, three["c"].task_id]
    assert (campaign.kind, campaign.rate, campaign.task_type) == ("replay", 50.0, "T_PLAIN")
    assert three["b"].fingerprint in campaign.selection


def test_the_latest_are_taken_if_there_are_more_than_the_cap(three):
    campaign = deal_with(Verb.DISCARD, LetterFilter(), operator(), Pace(cap=2))

    assert chosen(campaign) == [three["e"].task_id, three["d"].task_id]
    assert campaign.more


def test_letters_chosen_one_by_one_are_only_those_that_the_filter_allows(three):
    ids = [three[key].id for key in "ad"]
    wanted = LetterFilter(tenant="acme")
    assert foresee(wanted, 10, ids).letters == 1

    assert chosen(deal_with(Verb.REPLAY, wanted, operator(), Pace(), letters=ids)) == [three["d"].task_id]


@pytest.mark.parametrize("given", [None, [1]])
def test_an_order_for_nothing_is_refused(given):
    with pytest.raises(NothingToDo):
        deal_with(Verb.REPLAY, LetterFilter(), operator(), Pace(), letters=given)


def test_only_replay_and_discard_are_done_to_letters(three):
    with pytest.raises(InvalidTask, match="replay or discard"):
        deal_with(Verb.CANCEL, LetterFilter(), operator(), Pace())


def test_orders_to_replay_are_limited_and_those_to_discard_are_not(three):
    for _ in range(retry_limit.ORDERS_A_MINUTE):
        deal_with(Verb.REPLAY, LetterFilter(), operator(), Pace())

    with pytest.raises(RetryLimited, match="Give one order"):
        deal_with(Verb.REPLAY, LetterFilter(), operator(), Pace())
    deal_with(Verb.REPLAY, LetterFilter(tenant="acme"), operator(), Pace())  # another's is not used up
    deal_with(Verb.DISCARD, LetterFilter(), operator(), Pace())
    Campaign.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    deal_with(Verb.REPLAY, LetterFilter(), operator(), Pace())


@pytest.mark.parametrize("verb", [Verb.RETRY, Verb.REPLAY])
def test_a_task_that_was_retried_often_of_late_is_left_alone(verb):
    often, once = dead("often", "once")
    for _ in range(retry_limit.RETRIES_A_MINUTE):
        operate(verb, [often], operator())

    done = operate(verb, [often, once], operator())

    assert done.answers == {often: Answer.LIMITED, once: Answer.REPLAYED}
    # What is refused does not count, or whoever asks in a loop would never be let through again.
    assert AuditEntry.objects.filter(task_id=often, outcome="limited").count() == 1
    assert operate(Verb.CANCEL, [often], operator()).answers == {often: Answer.CANCELLED}


def test_tags_are_added_and_removed_with_a_record(three):
    letter = three["a"]

    assert tag_letters([letter.id], operator(), add=["seen", "odd"], remove=["none"]) == {letter.id: ["odd", "seen"]}
    assert tag_letters([letter.id], operator("again"), remove=["odd"]) == {letter.id: ["seen"]}

    assert list(AuditEntry.objects.filter(verb="tag").order_by("id").values_list("subject", "detail")) == [
        (f"dead letter {letter.id}", {"added": ["seen", "odd"], "removed": ["none"]}),
        (f"dead letter {letter.id}", {"added": [], "removed": ["odd"]}),
    ]


def test_a_letter_that_would_have_too_many_tags_keeps_those_it_has(three):
    letter = three["a"]
    tag_letters([letter.id], operator(), add=[f"t{n}" for n in range(19)])

    with pytest.raises(InvalidTask, match="more than 20"):
        tag_letters([letter.id], operator(), add=["one-more"])

    letter.refresh_from_db()
    assert len(letter.tags) == 20


def test_a_closed_letter_gets_no_tags(three):
    replay([three["a"].task_id], by="rae")

    assert tag_letters([three["a"].id], operator(), add=["seen"]) == {}


def test_walking_gives_every_task_once(three, monkeypatch):
    monkeypatch.setattr(letters, "STRETCH", 2)

    assert [id_ for page in walk_tasks(LetterFilter()) for id_ in page] == [three[key].task_id for key in "edcba"]
