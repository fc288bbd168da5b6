"""Sealed secrets: who can open them, and what a rotation does."""

import pytest

from tasks_app.core.keyring import (
    CannotUnseal,
    Keyring,
    derived_key,
    key_id_of,
    local_key,
    new_key,
    problems_of,
)

OLD, NEW = local_key(new_key()), local_key(new_key())


def test_a_secret_opens_for_what_it_belongs_to():
    sealed = Keyring([NEW]).seal("whsec_ü", "row 1")

    assert "whsec" not in sealed
    assert Keyring([NEW]).unseal(sealed, "row 1") == "whsec_ü"


def test_the_same_secret_sealed_twice_looks_different():
    assert Keyring([NEW]).seal("x", "row 1") != Keyring([NEW]).seal("x", "row 1")


def test_a_secret_copied_to_another_row_stays_closed():
    sealed = Keyring([NEW]).seal("x", "row 1")

    with pytest.raises(CannotUnseal, match="belongs to another row"):
        Keyring([NEW]).unseal(sealed, "row 2")


@pytest.mark.parametrize("part", [2, 3])
def test_a_secret_put_together_from_two_stays_closed(part):
    """A key from one and a text from the other, both of the same row."""
    one, other = (Keyring([NEW]).seal(text, "row 1").split(".") for text in "xy")
    one[part] = other[part]

    with pytest.raises(CannotUnseal):
        Keyring([NEW]).unseal(".".join(one), "row 1")


@pytest.mark.parametrize("place", [-1, -30, 20, 60])
def test_a_secret_that_was_changed_stays_closed(place):
    sealed = Keyring([NEW]).seal("some secret of ours", "row 1")
    changed = list(sealed)
    changed[place] = "A" if changed[place] != "A" else "Q"

    with pytest.raises(CannotUnseal):
        Keyring([NEW]).unseal("".join(changed), "row 1")


@pytest.mark.parametrize("text", ["", "whsec_abc", "v2.a.b.c", "v1.a.b", "v1.x.AAAA.AAAA"])
def test_what_is_no_sealed_secret_is_told(text):
    with pytest.raises(CannotUnseal):
        Keyring([NEW]).unseal(text, "row 1")


def test_the_first_key_seals_and_each_opens_its_own():
    sealed = Keyring([OLD]).seal("x", "row 1")
    both = Keyring([NEW, OLD])

    assert both.unseal(sealed, "row 1") == "x"
    assert (key_id_of(sealed), key_id_of(both.seal("x", "row 1"))) == (OLD.id, NEW.id)


def test_without_its_key_the_sentence_says_which_one_is_missing():
    sealed = Keyring([OLD]).seal("x", "row 1")

    with pytest.raises(CannotUnseal, match=f"sealed with the key {OLD.id}, which this process does not have"):
        Keyring([NEW]).unseal(sealed, "row 1")


def test_a_rotation_seals_with_the_first_key_and_the_old_one_is_no_longer_needed():
    sealed = Keyring([OLD]).seal("x", "row 1")
    fresh = Keyring([NEW, OLD]).rewrap(sealed, "row 1")

    assert Keyring([NEW]).unseal(fresh, "row 1") == "x"
    assert Keyring([NEW]).rewrap(fresh, "row 1") == fresh
    assert sealed.rsplit(".", 1)[1] == fresh.rsplit(".", 1)[1]  # the secret itself was not touched


def test_a_rotation_does_not_freshen_what_cannot_be_opened():
    sealed = Keyring([OLD]).seal("x", "row 1")

    with pytest.raises(CannotUnseal):
        Keyring([NEW, OLD]).rewrap(sealed, "row 2")
    broken = sealed[:-4] + ("AAAA" if not sealed.endswith("AAAA") else "BBBB")
    with pytest.raises(CannotUnseal):
        Keyring([NEW, OLD]).rewrap(broken, "row 1")


class ServiceKey:
    """What a key management service would do elsewhere."""

    id = "service-1"

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        return NEW.wrap(key, bound_to)

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        return NEW.unwrap(wrapped, bound_to)


def test_a_key_may_live_in_a_service_of_its_own():
    sealed = Keyring([ServiceKey(), OLD]).seal("x", "row 1")

    assert key_id_of(sealed) == "service-1"
    assert Keyring([OLD, ServiceKey()]).unseal(sealed, "row 1") == "x"
    assert list(problems_of([ServiceKey(), new_key()])) == []


@pytest.mark.parametrize("key", ["", "short", "c2hvcnQ=", "!" * 44, "ü" * 44, 7, b"x" * 32])
def test_what_is_no_key_is_refused_without_being_shown(key):
    [problem] = problems_of([key])

    assert "entry 1 " in problem and "`manage.py secrets key`" in problem
    assert len(str(key)) < 5 or str(key) not in problem


def test_a_key_made_from_djangos_is_the_same_every_time_and_not_that_one():
    assert derived_key("a").id == derived_key("a").id != derived_key("b").id
