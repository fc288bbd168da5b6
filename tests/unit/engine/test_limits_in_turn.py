"""Types with a limit and types without take turns at the free slots of a poll."""

import pytest

from tasks_app.engine.beat.limits import Limits
from tasks_app.lifecycle.claim import ClaimedBatch

BATCH = ClaimedBatch("1", "default", "T", 1)


class Poll:
    """The order in which claims were made; each gives what it is set to."""

    def __init__(self) -> None:
        self.limits = Limits("test")
        self.gives: dict[str, list[ClaimedBatch] | Exception] = {"limited": [], "due": [], "backlog": []}

    def order(self) -> list[str]:
        made: list[str] = []

        def claim(name: str):
            def claim_it() -> list[ClaimedBatch]:
                made.append(name)
                given = self.gives[name]
                if isinstance(given, Exception):
                    raise given
                return given

            return claim_it

        for _ in self.limits.in_turn(claim("limited"), [claim("due"), claim("backlog")]):
            pass
        return made


def test_types_with_a_limit_come_last_at_first():
    assert Poll().order() == ["due", "backlog", "limited"]


@pytest.mark.parametrize(
    ("got", "first"),
    [
        pytest.param(["due"], "limited", id="types without a limit"),
        pytest.param(["limited"], "due", id="types with a limit"),
        pytest.param(["due", "limited"], "due", id="both"),
    ],
)
def test_whichever_got_batches_last_is_last_in_the_next_poll(got, first):
    poll = Poll()
    poll.gives |= {name: [BATCH] for name in got}
    poll.order()

    assert poll.order()[0] == first


def test_a_poll_without_batches_changes_no_order():
    poll = Poll()
    poll.gives["due"] = [BATCH]
    poll.order()
    poll.gives["due"] = []

    assert (poll.order()[0], poll.order()[0]) == ("limited", "limited")


@pytest.mark.parametrize(("fails", "first"), [("due", "limited"), ("limited", "due")])
def test_whichever_failed_is_last_in_the_next_poll(fails, first):
    poll = Poll()
    poll.gives[fails] = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        poll.order()
    poll.gives[fails] = []

    assert poll.order()[0] == first
