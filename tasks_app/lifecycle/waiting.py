"""Tasks that were sent back until a condition clears, and their release when it does."""

from functools import cache

from tasks_app.sql import run

STEP, MOST_RELEASED = 500, 10_000  # the rest become due by themselves, within about a minute
FIRST_RATE, HIGHEST_RATE, GROWS_AFTER = 10.0, 400.0, 250  # tasks a second; twice as many after so many tasks


def release(task_type: str, tenant: str, code: str, words: str) -> dict[int, float]:
    """Make those due whose last return had this code and began with these words. Returns the first due time in each
    shard."""
    asked = {"task_type": task_type, "tenant": tenant, "code": code, "words": words, "most": STEP, "after": []}
    dues: dict[int, float] = {}
    for _ in range(MOST_RELEASED // STEP):
        rows = run("release_waiting", asked)
        dues = {shard: due for shard, due, _ in rows} | dues
        if sum(number for *_, number in rows) < STEP:
            break
    return dues


def release_slowly(task_type: str, tenant: str, code: str, words: str, most: int = MOST_RELEASED) -> dict[int, float]:
    """The same, one by one at a rising rate: the released tasks must neither overload what they wait for
    nor crowd out other tasks."""
    asked = {"task_type": task_type, "tenant": tenant, "code": code, "words": words}
    rows = run("release_waiting", asked | {"most": most, "after": _waits()[:most]})
    return {shard: due for shard, due, _ in rows}


@cache
def _waits() -> list[float]:
    """Seconds until each of those that are released slowly is due."""
    after, rate, waits = 0.0, FIRST_RATE, []
    for place in range(MOST_RELEASED):
        waits.append(round(after, 3))
        if place and place % GROWS_AFTER == 0:
            rate = min(2 * rate, HIGHEST_RATE)
        after += 1 / rate
    return waits
