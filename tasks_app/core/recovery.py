"""A recovery as plain Python: its grades and steps, by when each should be done, and what is held back meanwhile."""

from enum import StrEnum

from .lanes import LANES, URGENT_LANE

CURB = "recovery"  # the name under which it holds things back, beside those of safeguards
COMPLETED, RECOVERING = "RECOVERY_COMPLETED", "RECOVERING"

REPLAY_MINUTES = 15  # of events that subscribers get again
LETTERS_TAG = "transient_error"
LETTERS_MOST = 5_000
HOLD_MINUTES = 60  # after the last step, what it holds is let go: whoever ran it may be gone
HOLD_MOST_MINUTES = 1_440


class Grade(StrEnum):
    P1 = "P1"  # nothing was dispatched: the primary, all beats or the whole site were away
    P2 = "P2"  # it was dispatched, but late: retries pile up


class Step(StrEnum):
    FREEZE = "freeze"
    TAKEOVER = "takeover"
    RESUME = "resume"
    REAP = "reap"
    DOCTOR = "doctor"
    REPLAY = "replay"
    LETTERS = "letters"
    COMPENSATE = "compensate"
    UNFREEZE = "unfreeze"


WORDS = {
    Step.FREEZE: "hold back what can wait",
    Step.TAKEOVER: "take over the leases of dead beats",
    Step.RESUME: "let the lanes go on, the most urgent first",
    Step.REAP: "make due again what dead workers had",
    Step.DOCTOR: "check what must always hold",
    Step.REPLAY: f"deliver the events of the last {REPLAY_MINUTES} minutes again",
    Step.LETTERS: f"run dead letters again that are tagged {LETTERS_TAG}",
    Step.COMPENSATE: "compare the rows of apps with their tasks",
    Step.UNFREEZE: "let go what was held back",
}
# Minutes after the beginning by which each should be done.
LIMITS = {Step.FREEZE: 3, Step.TAKEOVER: 10, Step.RESUME: 10} | dict.fromkeys(list(Step)[3:], 30)

_WHEN_LATE = (Step.FREEZE, Step.REAP, Step.DOCTOR, Step.LETTERS, Step.COMPENSATE, Step.UNFREEZE)
STEPS = {Grade.P1: tuple(Step), Grade.P2: _WHEN_LATE}

CAN_WAIT = ("low", "backfill")  # until all is over
IN_TURN = tuple(lane for lane in LANES if lane not in CAN_WAIT)  # one after the other, from the first on
HELD = {Grade.P1: tuple(lane for lane in LANES if lane != URGENT_LANE), Grade.P2: CAN_WAIT}
