"""The rules of the protocol, each of which can be left out, and the scope that a search stays inside."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol as it is when all are True; `without` gives a wrong one."""

    # claim and publish
    claim_and_batch_row_are_one_transaction: bool = True
    claim_by_id_repeats_due_at: bool = True
    return_batch_requires_started_at_null: bool = True
    # start
    start_requires_started_at_null: bool = True
    start_requires_finished_at_null: bool = True
    start_is_asked_for_again: bool = True
    start_again_requires_the_ticket: bool = True
    load_repeats_status_and_batch_no: bool = True
    empty_start_closes_the_batch: bool = True
    # what was claimed ahead of its time
    early_is_looked_at_again: bool = True
    early_waits_for_its_time: bool = True
    early_is_given_back_for_its_time: bool = True
    # heartbeat and return
    heartbeat_requires_finished_at_null: bool = True
    heartbeat_skips_lost_ids: bool = True
    return_requires_finished_at_null: bool = True
    return_repeats_batch_no: bool = True
    return_takes_only_tasks_never_begun: bool = True
    # settle
    effect_and_settle_are_one_transaction: bool = True
    settle_requires_finished_at_null: bool = True
    settle_repeats_batch_no: bool = True
    settle_repeats_status: bool = True
    settle_rolls_back_on_lost_ids: bool = True
    settle_closes_only_an_empty_batch: bool = True
    settle_events_come_from_returning: bool = True
    change_and_its_events_are_one_transaction: bool = True  # of every verb, not of settle alone
    timeout_ends_the_session: bool = True
    leaving_running_clears_batch_no: bool = True
    # reap
    reap_sets_finished_at: bool = True
    reap_requires_finished_at_null: bool = True
    reap_is_one_statement: bool = True
    reap_waits_for_locked_tasks: bool = True
    reap_repeats_status_and_batch_no: bool = True
    reap_of_unstarted_uses_no_retry: bool = True
    reap_of_several_uses_no_retry: bool = True
    reap_of_several_marks_solo: bool = True
    reap_of_one_marks_solo: bool = True
    solo_is_copied_on_takeover: bool = True
    # away
    report_requires_away: bool = True
    report_names_its_run: bool = True
    lose_looks_again_at_the_lease: bool = True
    away_takes_an_early_report: bool = True
    # reschedule and ensure
    reschedule_locks_then_decides: bool = True
    reschedule_writes_due_at_too: bool = True
    replaced_row_loses_current_at_once: bool = True
    replacement_is_one_transaction: bool = True
    insert_of_0_rows_looks_again: bool = True
    ensure_renews_success: bool = True
    ensure_replaces_running: bool = True
    edit_locks_the_article_first: bool = True
    # the mover, and what it moved
    mover_takes_only_what_is_over: bool = True
    past_is_looked_at_after_the_live: bool = True
    insert_comes_before_a_last_look_back: bool = True
    takeover_brings_the_row_back: bool = True
    bring_back_looks_again_at_the_row: bool = True
    insert_comes_before_the_look_for_its_idem_key: bool = True
    # cancel, replay and discard
    cancel_clears_due_at: bool = True
    cancel_takes_a_rolling_success: bool = True
    replay_requires_current: bool = True
    replay_requires_dead: bool = True
    replay_starts_a_new_budget: bool = True
    discard_requires_current: bool = True
    discard_requires_dead: bool = True

    def without(self, *names: str) -> Rules:
        return replace(self, **dict.fromkeys(names, False))


ALL_RULES = Rules()
RULE_NAMES = tuple(field.name for field in fields(Rules))


@dataclass(frozen=True, slots=True)
class Scope:
    """How much of everything a search may use, which is what makes it finite.

    Crashes, lost messages, leases running out, heartbeats and returns need no bound: each needs a claim first.
    """

    units: int = 1
    scheduled: bool = True  # one INIT row per unit to begin with; otherwise none
    rolling: bool = False
    workers: int = 2
    batches: int = 2
    failures: int = 2  # the failure that is final
    outcomes: tuple[str, ...] = ("ok", "fail")
    verbs: tuple[str, ...] = ("reschedule", "ensure")
    edits: int = 0
    editors: int = 1  # at the same time
    article: bool = True  # an edit locks the article (business row) before the task row
    cancels: int = 0
    replays: int = 0
    discards: int = 0
    doubles: int = 0  # messages delivered twice
    doubts: int = 0  # commits that succeed although the caller sees an error, and does it again
    refusals: int = 0  # publishes that the broker does not answer; the dispatcher then takes the batch back
    reports: int = 0  # about tasks that are away, or were
    takeovers: bool = False  # at any time another beat may return what was claimed and is not started
    pauses: bool = False  # at any delivery the lane may be paused: then the batch goes back instead of starting
    timeouts: bool = False
    mover: bool = False  # at any time what is over may be moved to the past
    wheel: bool = False  # claims by id, from memory, beside claims by due_at
    ahead: bool = False  # nothing is due to begin with, and what is not may be claimed
