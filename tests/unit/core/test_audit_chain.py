"""The form that entries are hashed in: equal values have equal texts, and others have others."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tasks_app.core.audit_chain import FIELDS, GENESIS, canonical, digest_of, link_hash, moment, parsed
from tasks_app.models import AuditEntry


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"b": 1, "a": [true, false, null]}', '{"a":[true,false,null],"b":1}'),
        # By UTF-16 code units, as RFC 8785 has it: the emoji's first unit is below that of U+FB33.
        ('{"\\ufb33": 1, "\\ud83d\\ude00": 2, "\\u00f6": 3, "1": 4}', '{"1":4,"ö":3,"😀":2,"\ufb33":1}'),
        ('"\\u20ac\\u000f\\nA\'B\\"\\\\\\/\\u007f"', '"€\\u000f\\nA\'B\\"\\\\/\x7f"'),
        ("[1.10, 1.0, 100, -0.50, 0.0, 0]", "[1.1,1,100,-0.5,0,0]"),
        (
            "[123456789012345678901234567890.1234567890123456789]",
            "[123456789012345678901234567890.1234567890123456789]",
        ),
        ('{"": {}}', '{"":{}}'),
    ],
)
def test_the_form_is_that_of_rfc_8785_with_exact_numbers(text, form):
    assert canonical(parsed(text)) == form
    assert canonical(parsed(form)) == form


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e5"])
def test_what_jsonb_never_writes_is_no_number(text):
    with pytest.raises(ValueError, match="is no number"):
        canonical(parsed(text))


def test_a_moment_is_the_same_wherever_it_is_told():
    at = datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=2)))

    assert moment(at) == moment(at.astimezone(UTC)) == "2026-10-25T00:30:00.000000Z"


def test_all_columns_of_an_entry_are_hashed():
    assert set(FIELDS) == {field.name for field in AuditEntry._meta.concrete_fields}


@pytest.mark.parametrize("name", FIELDS)
def test_whatever_is_changed_the_digest_differs(name):
    entry = dict.fromkeys(FIELDS)

    assert digest_of(entry) != digest_of(entry | {name: "x"})


LINK = {
    "tenant": "acme",
    "place": 7,
    "previous": GENESIS,
    "digest": b"d" * 32,
    "entry_id": 9,
    "at": "a",
    "chained_at": "b",
}
OTHERS = {
    "tenant": "",
    "place": 8,
    "previous": b"p" * 32,
    "digest": b"e" * 32,
    "entry_id": 8,
    "at": "b",
    "chained_at": "c",
}


@pytest.mark.parametrize("name", LINK)
def test_whatever_is_changed_the_hash_of_a_place_differs(name):
    assert link_hash(**LINK) != link_hash(**LINK | {name: OTHERS[name]})


def test_the_form_of_version_1_stays_what_it_is():
    """Trails out there were hashed with it."""
    entry = json.loads(
        '{"id": 1, "operation": "o", "actor": "ö", "verb": "v", "subject": "s", "outcome": "x", "reason": "r"}'
    )
    entry |= {
        "task_id": None,
        "tenant": None,
        "task_type": None,
        "address": "::1",
        "created_at": "2026-11-01T00:00:00.000000Z",
    }
    entry |= {"detail": parsed('{"n": 1.50}')}

    assert digest_of(entry).hex() == "710739417c458827cc7d28457dec403990e9ba5853fb7df60a2176b46aecb443"
