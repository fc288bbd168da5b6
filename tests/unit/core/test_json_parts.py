"""Parts of a JSON text are counted before it is read, and what stands in strings is none."""

import json

import pytest

from tasks_app.core.json_parts import MOST_PARTS, too_many_parts

FULL = [0] * (MOST_PARTS - 1)  # the list is a part, too


def test_as_many_as_allowed_are_not_too_many():
    assert too_many_parts(json.dumps(FULL).encode()) == 0
    assert too_many_parts(json.dumps([*FULL, 0]).encode()) == MOST_PARTS + 1


@pytest.mark.parametrize("text", ["a,b[{" * MOST_PARTS, '\\",[' * MOST_PARTS, '",' * MOST_PARTS])
def test_nothing_in_a_string_is_a_part(text):
    assert too_many_parts(json.dumps({"payload": text}).encode()) == 0


@pytest.mark.parametrize("code", ["utf-8", "utf-16", "utf-32-le"])
def test_no_encoding_hides_parts(code):
    hidden = "\u0122" if code != "utf-8" else ""  # has the byte of a quote in it

    assert too_many_parts(json.dumps([hidden, *FULL], ensure_ascii=False).encode(code)) >= MOST_PARTS + 1


def test_a_string_that_does_not_end_hides_none_before_it():
    assert too_many_parts((json.dumps([*FULL, 0]) + '"a').encode()) == MOST_PARTS + 1
