"""Safeguards that operators force and end during a run, and a witness: a trigger that writes down every curb.

The witness knows nothing of safeguards. While it saw a curb, what that holds back must not have been claimed and then
started; when the run is over there must be no curb left, and every task has run (the oracle looks at those).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from django.db import connection

# What is forced: a safeguard, its subject, and the stage.
HOLDS = {
    "degraded": ("dead_letters", "", 1),  # only `critical` fires
    "low": ("delay", "", 2),  # `low` is paused
    "type": ("dead_letters", "CHAOS_ROW_ASYNC", 1),  # the type is held
    "trial": ("breaker", "CHAOS_ROW", 2),  # one of the type at a time
    "retries": ("failures", "CHAOS_LINE", 1),  # retries of the type are slowed
    "tenant": ("breaker", "tenant:default/CHAOS_ROW_BATCH", 2),  # one of the tenant's at a time
}
HOLD_SECONDS = 10.0
LONGEST_SECONDS = 600.0  # if nobody ends it, it is over after the drain, and so seen
# A beat reads the curbs again every two seconds; one that didn't for longer than its lease has no shard any more.
READ_SECONDS = 2.0 + 3.0
TRIALS = 2.0  # more than the rate says: what was in the bucket, and one that a beat had claimed already

_WITNESS = """
CREATE TABLE chaos_curb
    (id bigint, kind text, target text, rate float8, max_running int, of_tenant text, here bool, at timestamptz);
CREATE FUNCTION chaos_curb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO chaos_curb
        VALUES (OLD.id, OLD.kind, OLD.target, OLD.rate, OLD.max_running, OLD.of_tenant, FALSE, clock_timestamp());
    ELSE
        INSERT INTO chaos_curb
        VALUES (NEW.id, NEW.kind, NEW.target, NEW.rate, NEW.max_running, NEW.of_tenant, TRUE, clock_timestamp());
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_curb AFTER INSERT OR DELETE ON punctual_curb FOR EACH ROW EXECUTE FUNCTION chaos_curb();
"""


class Stretch(NamedTuple):
    """A curb, and the seconds since the epoch in which it was there; it still is if it has no end."""

    kind: str
    target: str
    rate: float | None
    max_running: int | None
    begin: float
    end: float | None
    of_tenant: str = ""  # whose tasks a worker sends back once they are started; empty: none is claimed


class Claim(NamedTuple):
    """A batch that was claimed then, and started."""

    lane: str
    task_type: str
    tasks: int
    at: float
    ran: int = 0  # of them
    started: float = 0.0


def begin() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_WITNESS)


def force(name: str, seconds: float) -> None:
    from tasks_app.engine.operations import safeguards
    from tasks_app.lifecycle.audit import Operator

    safeguard, subject, stage = HOLDS[name]
    by = Operator("chaos", "to see what becomes of it")
    connection.close()  # ours was cut with the others
    safeguards.force(safeguard, by, subject=subject, seconds=seconds, stage=stage)


def end(name: str) -> None:
    from tasks_app.core.errors import NothingToDo
    from tasks_app.engine.operations import safeguards
    from tasks_app.lifecycle.audit import Operator

    safeguard, subject, _ = HOLDS[name]
    connection.close()
    with suppress(NothingToDo):
        safeguards.end(safeguard, Operator("chaos", "enough of it"), subject=subject)


def stretches() -> list[Stretch]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT b.kind, b.target, b.rate, b.max_running, date_part('epoch', b.at), date_part('epoch', e.at),"
            " b.of_tenant"
            " FROM chaos_curb b LEFT JOIN chaos_curb e ON e.id = b.id AND NOT e.here WHERE b.here ORDER BY b.at"
        )
        return [Stretch(*row) for row in cursor.fetchall()]


def open_incidents() -> list[str]:
    from tasks_app.models import SafeguardIncident

    rows = SafeguardIncident.objects.filter(closed_at__isnull=True)
    return [f"the incident of {row.name} {row.subject}".rstrip() for row in rows]


def wrong_curbs(found: Sequence[Stretch], claims: Iterable[Claim], still_open: Iterable[str] = ()) -> Iterator[str]:
    by_lane: dict[str, list[Claim]] = {}
    by_type: dict[str, list[Claim]] = {}
    for claim in claims:
        by_lane.setdefault(claim.lane, []).append(claim)
        by_type.setdefault(claim.task_type, []).append(claim)
    for one in found:
        if one.end is None:
            yield f"a curb is left: {one.kind} {one.target}"
            continue
        mine = (by_lane if one.kind == "lane" else by_type).get(one.target, [])
        if one.of_tenant:  # a worker asks when it starts a batch
            tasks = sum(claim.ran for claim in mine if one.begin + READ_SECONDS < claim.started < one.end)
        else:
            tasks = sum(claim.tasks for claim in mine if one.begin + READ_SECONDS < claim.at < one.end)
        if tasks > _allowed(one):
            whose = f" of tenant {one.of_tenant}" if one.of_tenant else ""
            words = f"tasks of {one.kind} {one.target}{whose} ran although it was held back"
            yield f"{tasks} {words}, and may {_allowed(one):g}"
    for words in still_open:
        yield f"{words} has not ended"
    kinds = Counter((one.kind, one.rate == 0 or one.max_running == 0) for one in found if not one.of_tenant)
    if not any(one.of_tenant for one in found):
        yield "nothing was held back of one tenant"
    for kind, whole in (("lane", True), ("type", True), ("type", False), ("retries", False), ("triggers", False)):
        if not kinds[kind, whole]:
            yield f"nothing was held back by a curb on {kind}{' as a whole' if whole else ''}"


def _allowed(one: Stretch) -> float:
    """Tasks that may run while it is there, and the beats know of it."""
    if one.kind not in ("lane", "type"):
        return float("inf")  # of retries, first tries are not told apart here
    if one.rate == 0 or one.max_running == 0:
        return 0
    return TRIALS + (one.rate or 0.0) * (one.end - one.begin) if one.max_running == 1 else float("inf")
