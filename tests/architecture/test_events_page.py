"""docs/events.md, the catalogue and the code that tells: each names what the others name."""

import re
from pathlib import Path

from tasks_app.core.events import KINDS
from tasks_app.management.commands.events import page_of

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "events.md").read_text()
# It is sent to one subscriber, and not told to all.
NEVER_WRITTEN = {"test.event"}
_AREAS = "task|job|lane|limit|subscription|campaign|installation|site|tenant|member|test|article|product"
_NAME = re.compile(rf"""(?<!attrgetter\()["']((?:{_AREAS})\.[a-z_]+)["']""")


def told_in(*folders: str) -> set[str]:
    texts = (
        path.read_text()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".sql")
        and "migrations" not in path.parts
        and path.parts[-2:] != ("core", "events.py")
    )
    return {name for text in texts for name in _NAME.findall(text)}


def test_the_page_lists_every_kind_as_the_catalogue_has_it():
    """To write it anew: `manage.py events --page`, below the heading `## Every event`."""
    listed = PAGE.split("## Every event\n", 1)[1]

    assert listed.strip() == page_of(KINDS.values()).strip()


def test_what_is_told_is_in_the_catalogue_and_the_other_way_round():
    told = told_in(
        "tasks_app/sql", "tasks_app/lifecycle", "tasks_app/engine/operations", "articles_app", "inventory_app"
    )

    assert told - KINDS.keys() == set()
    assert KINDS.keys() - told == set()


def test_every_statement_that_writes_the_outbox_does_it_in_a_known_way():
    writers = [
        path.stem for path in (ROOT / "tasks_app").rglob("*.sql") if "INTO punctual_outbox (" in path.read_text()
    ]

    whole = {"mark_fail", "mark_not_yet", "mark_success", "reap", "start"}  # which repeat what `tell` has
    assert sorted(set(writers) - whole) == [
        *("emit", "quarantine", "tell", "tell_cancelled", "tell_missed", "tell_replaced", "tell_updated")
    ]


def test_every_statement_that_tells_is_given_what_is_kept():
    """One that forgets it would fail; one that has it and tells nothing would be a mistake as well."""
    sql = {path.stem: path.read_text() for path in (ROOT / "tasks_app" / "sql").rglob("*.sql")}
    tellers = {
        name for name, text in sql.items() if re.search(r"^--include (tell|created)$|^\), emitted AS", text, re.M)
    }
    tellers -= {"created", "tell"}

    assert tellers == {
        *("mark_success", "mark_fail", "mark_not_yet", "mark_skipped", "mark_away", "reap", "start"),
        *("complete", "failed_away"),
        *("cancel_tasks", "discard", "retire", "replay", "move", "shift", "tell_moved"),
        *(
            "insert_told_task",
            "insert_told_tasks",
            "insert_told_alike",
            "insert_told_new_alike",
            "insert_keyed_tasks",
            "insert_replacements",
        ),
        *("instances_made", "trigger_job", "take_back", "take_back_days_off", "take_back_firing"),
        *("decide_turns", "cancel_waiting"),
        *("plan_families", "take_back_families", "take_back_waiting", "release", "insert_again"),
        *("mend_blocked", "mend_superseded"),
    }
