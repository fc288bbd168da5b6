"""An answer to an edit that did not hold is seen."""

from datetime import UTC, datetime, timedelta

import pytest

from chaos.edits import Effects, Row, wrong_edits

AT = datetime(2090, 1, 2, 9, tzinfo=UTC)
LATER = AT + timedelta(seconds=3)
DONE, OFF = Row("SUCCESS", LATER), Row("CANCELLED", AT)


def calls(*answers: str, state: str = "accepted", task_type: str = "CHAOS_ROW") -> list[dict]:
    """A task is asked for, and edited; the last of them got this far."""
    found = []
    for place, answer in enumerate(("CREATED", *answers)):
        note = {"key": "edit-1", "type": task_type}
        told = state if place == len(answers) else "accepted"
        found += [note | {"state": "asked"}, note | {"state": told, "answer": answer}]
        found[-1]["to"] = (LATER if place else AT).isoformat()
    return found


def found(asked: list[dict], *rows: Row, effects: Effects = Effects(rows=1)) -> list[str]:  # noqa: B008  (frozen)
    return list(wrong_edits(asked, {"edit-1": list(rows)}, {"edit-1": effects}))


@pytest.mark.parametrize(
    "evidence",
    [
        (calls(), Row("SUCCESS", AT)),
        (calls("UPDATED"), DONE),
        (calls("REPLACED"), OFF, DONE),
        (calls("REPLACED", state="unknown"), Row("SUCCESS", AT)),
        (calls("CANCELLED", state="unknown"), DONE),
    ],
)
def test_what_was_answered_and_is_so_passes(evidence):
    assert found(*evidence) == []


def test_a_line_of_a_run_that_was_replaced_or_lost_is_no_harm():
    lines = calls("REPLACED", task_type="CHAOS_LINE")

    assert found(lines, OFF, DONE, effects=Effects(lines=2)) == []
    assert found(lines, OFF, DONE, effects=Effects(lines=3, explained=1)) == []
    assert len(found(lines, OFF, DONE, effects=Effects(lines=3))) == 1
    assert len(found(lines, OFF, DONE, effects=Effects())) == 1


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ((calls(),), "was accepted, and there is no such task"),
        ((calls("UPDATED"), Row("RUNNING", LATER)), "is still RUNNING"),
        ((calls("UPDATED"), Row("SUCCESS", AT)), "was moved to 2090-01-02T09:00:03+00:00"),
        ((calls("REPLACED"), DONE), "was replaced 1 times, and has 1 rows"),
        ((calls("CANCELLED"), DONE), "was cancelled, and has succeeded all the same"),
        ((calls("UPDATED"), Row("CANCELLED", LATER)), "was never cancelled, and has succeeded 0 times"),
        ((calls("REPLACED"), DONE, DONE), "has succeeded 2 times"),
    ],
)
def test_harm_is_seen(evidence, words):
    assert any(f"edit-1 {words}" in one for one in found(*evidence))
