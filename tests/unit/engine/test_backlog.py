"""The backlog of a dispatcher: which lanes have one, and when tenants share it."""

from tasks_app.engine.beat.backlog import CONTENDED_CLAIMS, Backlog


def after_claims(number: int = CONTENDED_CLAIMS, *, several_tenants: bool = True) -> Backlog:
    made = Backlog("test")
    made.several_tenants = several_tenants
    for _ in range(number):
        made.note_full_claim("low")
    return made


def test_a_lane_has_a_backlog_from_its_first_full_claim_until_one_is_not_full():
    backlog = after_claims(1)
    assert (set(backlog), "low" in backlog, "high" in backlog) == ({"low"}, True, False)

    backlog.end("low")

    assert not backlog


def test_a_backlog_that_lasts_is_shared_between_tenants():
    assert after_claims(CONTENDED_CLAIMS - 1).contended.lanes == []
    assert after_claims().contended.lanes == ["low"]
    assert after_claims(several_tenants=False).contended.lanes == []


def test_only_full_claims_in_a_row_count():
    backlog = after_claims(CONTENDED_CLAIMS - 1)
    backlog.end("low")

    backlog.note_full_claim("low")

    assert backlog.contended.lanes == []


def test_the_end_of_a_backlog_ends_the_contention():
    backlog = after_claims()

    assert (backlog.end("low"), backlog.end("high"), backlog.contended.lanes) == (True, False, [])


def test_locked_rows_are_noted_for_one_poll():
    backlog = after_claims(0)
    backlog.note_locked("low")
    assert "low" in backlog.locked

    backlog.begin_poll()

    assert "low" not in backlog.locked


def test_with_other_shards_there_is_no_backlog():
    backlog = after_claims()

    backlog.forget()

    assert (list(backlog), backlog.contended.lanes) == ([], [])
