"""For every rule: the smallest scope where leaving it out breaks a promise, and which promise that is."""

from __future__ import annotations

from typing import NamedTuple

from .promises import (
    ATTEMPT,
    BUDGET,
    CALL,
    CONSTRAINT,
    CURRENT,
    EARLY,
    EFFECT,
    EVENT,
    FENCE,
    INTENT,
    NEIGHBOUR,
    OWNER,
    REPORT,
    SKIPPED,
    STUCK,
    TIDY,
    TOLD,
)
from .rules import Scope

ONE = Scope()
EDITED = Scope(edits=1)
CANCELLED = Scope(cancels=1)
CANCELLED_OK = Scope(cancels=1, outcomes=("ok",))
DOUBTED = Scope(doubts=1)
AHEAD = Scope(ahead=True, cancels=1, workers=1, outcomes=("ok",))
ONE_AWAY = Scope(outcomes=("away",), reports=1, workers=1)
MOVED = Scope(mover=True, edits=1, outcomes=("ok",))
MOVED_TWICE = Scope(mover=True, edits=2, editors=2, article=False, workers=1, batches=1, outcomes=("ok",))
SCHEDULED_AGAIN = Scope(mover=True, edits=1, verbs=("schedule",), article=False, outcomes=("ok",))
PAIR = Scope(units=2, outcomes=("ok",))
PAIR_DOUBTED = Scope(units=2, doubts=1)

COUNTEREXAMPLES = {
    "claim_and_batch_row_are_one_transaction": (STUCK, ONE),
    "claim_by_id_repeats_due_at": (EARLY, Scope(wheel=True, edits=1, outcomes=("ok", "snooze"))),
    "return_batch_requires_started_at_null": (CALL, Scope(refusals=1)),
    "start_requires_started_at_null": (CALL, Scope(doubles=1)),
    "start_requires_finished_at_null": (FENCE, ONE),
    "start_is_asked_for_again": (TIDY, DOUBTED),
    "start_again_requires_the_ticket": (CALL, Scope(doubles=1, doubts=1)),
    "load_repeats_status_and_batch_no": (SKIPPED, CANCELLED),
    "empty_start_closes_the_batch": (TIDY, CANCELLED),
    "early_is_looked_at_again": (SKIPPED, AHEAD),
    "early_waits_for_its_time": (EARLY, AHEAD),
    "early_is_given_back_for_its_time": (EARLY, AHEAD),
    "heartbeat_requires_finished_at_null": (FENCE, ONE),
    "return_requires_finished_at_null": (FENCE, ONE),
    "return_repeats_batch_no": (OWNER, PAIR_DOUBTED),
    "return_takes_only_tasks_never_begun": (CALL, ONE),
    "effect_and_settle_are_one_transaction": (EFFECT, ONE),
    "settle_requires_finished_at_null": (FENCE, ONE),
    "settle_repeats_batch_no": (OWNER, PAIR_DOUBTED),
    "settle_rolls_back_on_lost_ids": (EFFECT, CANCELLED),
    "settle_closes_only_an_empty_batch": (STUCK, PAIR),
    "settle_events_come_from_returning": (EVENT, CANCELLED),
    "change_and_its_events_are_one_transaction": (TOLD, ONE),
    "timeout_ends_the_session": (STUCK, Scope(timeouts=True)),
    "leaving_running_clears_batch_no": (CONSTRAINT, ONE),
    "reap_sets_finished_at": (STUCK, ONE),
    "reap_requires_finished_at_null": (FENCE, ONE),
    "reap_is_one_statement": (ATTEMPT, ONE),
    "reap_waits_for_locked_tasks": (STUCK, EDITED),
    "reap_repeats_status_and_batch_no": (OWNER, CANCELLED),
    "reap_of_unstarted_uses_no_retry": (ATTEMPT, ONE),
    "reap_of_several_uses_no_retry": (ATTEMPT, PAIR),
    "reap_of_several_marks_solo": (NEIGHBOUR, PAIR),
    "reap_of_one_marks_solo": (
        NEIGHBOUR,
        Scope(units=2, workers=1, edits=1, outcomes=("ok",), verbs=("reschedule",)),
    ),
    "solo_is_copied_on_takeover": (
        NEIGHBOUR,
        Scope(units=2, workers=1, batches=3, edits=1, outcomes=("dead",), verbs=("ensure",)),
    ),
    "report_requires_away": (EFFECT, Scope(outcomes=("away",), reports=1, cancels=1, workers=1)),
    "report_names_its_run": (OWNER, ONE_AWAY),
    "lose_looks_again_at_the_lease": (OWNER, ONE_AWAY),
    "away_takes_an_early_report": (REPORT, ONE_AWAY),
    "reschedule_locks_then_decides": (INTENT, EDITED),
    "reschedule_writes_due_at_too": (EARLY, EDITED),
    "replaced_row_loses_current_at_once": (CURRENT, EDITED),
    "replacement_is_one_transaction": (INTENT, EDITED),
    "insert_of_0_rows_looks_again": (INTENT, Scope(scheduled=False, edits=2, editors=2, article=False)),
    "ensure_renews_success": (INTENT, EDITED),
    "ensure_replaces_running": (INTENT, EDITED),
    "edit_locks_the_article_first": (STUCK, EDITED),
    "mover_takes_only_what_is_over": (INTENT, Scope(mover=True)),
    "insert_comes_before_a_last_look_back": (
        CURRENT,
        Scope(mover=True, edits=2, editors=2, article=False, workers=1, scheduled=False, outcomes=("ok",)),
    ),
    "takeover_brings_the_row_back": (CURRENT, MOVED),
    "bring_back_looks_again_at_the_row": (CURRENT, MOVED_TWICE),
    "insert_comes_before_the_look_for_its_idem_key": (CURRENT, SCHEDULED_AGAIN),
    "cancel_clears_due_at": (CONSTRAINT, CANCELLED),
    "cancel_takes_a_rolling_success": (EFFECT, Scope(rolling=True, cancels=1)),
    "replay_requires_current": (CURRENT, Scope(replays=1, edits=1, outcomes=("ok", "dead"))),
    "replay_requires_dead": (EFFECT, Scope(replays=1)),
    "replay_starts_a_new_budget": (BUDGET, Scope(replays=1, failures=1)),
    "discard_requires_current": (EFFECT, Scope(discards=1, edits=1, outcomes=("ok", "dead"))),
    "discard_requires_dead": (CONSTRAINT, Scope(discards=1)),
}

# Rules without a counterexample of their own, kept as belt and braces.
NO_COUNTEREXAMPLE = {
    "settle_repeats_status": "batch_no is NULL outside RUNNING, so a row with our batch_no is RUNNING",
    "past_is_looked_at_after_the_live": "the look after the insert sees what it missed; find and cancel insert nothing",
    "heartbeat_skips_lost_ids": "it saves calls whose outcome could not be written anyway; settle decides",
}


class TwoGuards(NamedTuple):
    """Either rule alone keeps the promises (other than `blind`) in this scope; with both gone `breaks` is broken."""

    first: str
    second: str
    blind: str
    breaks: str
    scope: Scope = DOUBTED


TWO_GUARDS = [
    TwoGuards("settle_requires_finished_at_null", "settle_repeats_batch_no", FENCE, OWNER),
    TwoGuards("return_requires_finished_at_null", "return_repeats_batch_no", FENCE, OWNER),
    TwoGuards("reap_requires_finished_at_null", "reap_repeats_status_and_batch_no", FENCE, OWNER),
    TwoGuards("reap_sets_finished_at", "settle_repeats_batch_no", STUCK, OWNER),
    TwoGuards("past_is_looked_at_after_the_live", "insert_comes_before_a_last_look_back", FENCE, CURRENT, MOVED),
    TwoGuards("leaving_running_clears_batch_no", "settle_repeats_status", CONSTRAINT, EFFECT, CANCELLED_OK),
]
