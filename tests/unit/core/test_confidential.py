"""What a tenant's key encrypts: opened where it belongs and nowhere else, and never taken for what it is not."""

import copy
import json
import pickle

import pytest

from tasks_app.core.confidential import (
    ENCRYPTED,
    DataKey,
    Encrypted,
    Unreadable,
    as_json,
    as_text,
    key_number,
    number_within,
    of_job,
    of_task,
    of_unit,
    open_json,
    own_words,
    refuse_reserved,
)
from tasks_app.core.errors import InvalidTask
from tasks_app.core.result import NotKept, result_text

KEY = DataKey(7, b"k" * 32)
UNIT = of_unit("acme", "MAIL", "a")


def hidden(text: str = "secret", bound_to: bytes = UNIT) -> Encrypted:
    [found] = KEY.encrypt([text], [bound_to])
    return found


def test_what_is_encrypted_opens_where_it_belongs():
    assert KEY.decrypt(hidden("grün").envelope, UNIT) == "grün"
    assert hidden().key == 7


@pytest.mark.parametrize(
    "elsewhere",
    [
        of_unit("acme", "MAIL", "b"),
        of_unit("acme", "SMS", "a"),
        of_unit("evil", "MAIL", "a"),
        of_job("acme", 1),
        of_task("acme", 1, "result"),
    ],
)
def test_copied_to_another_row_it_does_not_open(elsewhere):
    with pytest.raises(Unreadable, match="belongs to another row"):
        KEY.decrypt(hidden().envelope, elsewhere)


def test_no_two_places_are_the_same():
    places = [of_unit("a", "b", "c"), of_unit("ab", "", "c"), of_unit("a", "bc", ""), of_job("a", 1), of_job("a1", 1)]
    places += [of_task("a", 1, what) for what in ("result", "error", "trace", "log")] + [of_task("a", 11, "log")]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("place", [-1, -10, -30])
def test_what_was_changed_does_not_open(place):
    text = hidden().envelope
    changed = text[:place] + ("A" if text[place] != "A" else "B") + text[len(text) + place + 1 :]

    with pytest.raises(Unreadable):
        KEY.decrypt(changed, UNIT)


def test_another_key_does_not_open_it():
    with pytest.raises(Unreadable):
        DataKey(7, b"x" * 32).decrypt(hidden().envelope, UNIT)


def test_the_same_text_is_never_encrypted_the_same_way():
    found = KEY.encrypt(["x"] * 100, [UNIT] * 100)
    assert len({one.envelope for one in found}) == 100


def test_it_reads_as_a_word_wherever_it_is_shown_and_is_stored_as_it_was():
    one = hidden()

    assert (str(one), f"{one}", json.dumps({"payload": one})) == (ENCRYPTED, ENCRYPTED, '{"payload": "encrypted"}')
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), as_json(one.as_json), as_text(one.as_text)):
        assert (other, other.envelope) == (ENCRYPTED, one.envelope)
    stored = json.dumps(one.as_json)
    assert (stored, number_within(stored), open_json(stored, KEY, UNIT)) == (one.json_text, "7", "secret")


def test_in_bytes_it_opens_with_what_names_the_key_beside_it_and_not_if_one_of_them_was_changed():
    stored, [data] = KEY.beside.json_text, KEY.encrypt_bytes(["grün"], [UNIT])

    assert (number_within(stored), KEY.beside.key, open_json(stored, KEY, UNIT, data)) == ("7", 7, "grün")
    assert KEY.decrypt(KEY.beside.envelope, UNIT, data) == "grün"
    for other in (None, b"", data[:20], data[:-1] + bytes([data[-1] ^ 1])):
        with pytest.raises(Unreadable):
            open_json(stored, KEY, UNIT, other)
    assert KEY.decrypt(hidden("in the text").envelope, UNIT, data) == "in the text"


@pytest.mark.parametrize("value", [{}, {"$punctual": 1}, {"$punctual": "1:7:x", "more": 1}, ["$punctual"], "x", None])
def test_what_only_looks_like_it_is_not_taken_for_it(value):
    assert as_json(value) is value
    assert number_within(json.dumps(value)) is None


@pytest.mark.parametrize("envelope", ["", "2:7:x", "1:x:y", "1:" + "9" * 30 + ":x", "x"])
def test_an_envelope_that_nobody_here_has_made_names_no_key(envelope):
    with pytest.raises(Unreadable):
        key_number(envelope)


def test_nobody_else_can_write_what_looks_encrypted():
    with pytest.raises(InvalidTask, match=r"payload has the key '\$punctual'"):
        refuse_reserved("payload", hidden().as_json)
    with pytest.raises(NotKept, match="reserved"):
        result_text(hidden().as_json)
    text = hidden().as_text
    assert as_text(own_words(text)) == own_words(text) == f" {text}"
    assert own_words("plain") == "plain"


def test_a_key_is_never_shown():
    assert repr(KEY) == "<DataKey 7>"
