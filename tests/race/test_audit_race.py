"""Nobody who leaves an entry waits for another; places are in the order of commit, and each is given once."""

from tasks_app.database import atomic
from tasks_app.lifecycle import audit_chain
from tasks_app.lifecycle.audit_chain import chain
from tasks_app.models import AuditEntry, AuditLink, AuditTrail
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results
from tests.support.trail import deed, found

pytestmark = commits


def subjects() -> list[str]:
    names = dict(AuditEntry.objects.values_list("id", "subject"))
    return [names[entry] for entry in AuditLink.objects.order_by("tenant", "place").values_list("entry", flat=True)]


def test_who_commits_first_comes_first_whoever_began_first():
    one, two = overlap_results(lambda: deed("began first"), lambda: (deed("began second"), chain()))

    assert not two.waited, "it is the same trail, and nobody waited"
    assert one.error is None and two.error is None
    assert subjects() == ["began second"]
    chain()
    assert subjects() == ["began second", "began first"]
    assert found() == []


def test_what_was_rolled_back_has_no_place():
    overlap(lambda: deed("never was"), lambda: deed("was"), commit=False)

    assert chain().entries == 1
    assert (subjects(), found()) == (["was"], [])


def test_of_two_beats_that_chain_one_leaves_it_to_the_other():
    deed("a")

    first, second = overlap(chain, chain)

    assert (first.entries, second.busy) == (1, True)
    assert AuditLink.objects.count() == 1


def test_who_waits_for_the_other_goes_on_from_its_places():
    """An anchor waits."""
    deed("a")

    def other() -> int:
        with atomic():
            return chain(wait=True).entries

    (first, second) = overlap(lambda: (chain(), deed("b"))[0], other)

    assert (first.entries, second) == (1, 1)
    assert (AuditTrail.objects.get().place, subjects(), found()) == (2, ["a", "b"], [])


def test_a_place_that_somebody_gave_without_the_lock_is_not_given_twice(monkeypatch):
    """If there were no lock, the second would fail and not fork the trail."""
    deed("a")
    monkeypatch.setattr(audit_chain, "lock_trails", lambda wait: True)

    one, two = overlap_results(chain, chain)

    assert one.error is None and two.error is not None
    assert (AuditLink.objects.count(), found()) == (1, [])
