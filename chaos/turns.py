"""Jobs that must not run over themselves, and a witness: a trigger that writes down when each instance began and ended.

The witness knows nothing of turns. An instance is under way from the moment it is due until it is over or gone; a
decision that lets one go has seen the end of the one before it, and so is written down after that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.db import connection

POLICIES = ("skip", "queue_one", "queue_all", "replace")
# Every second: done at once, after a while, after longer than that, and only at the second try.
PAYLOADS = ({}, {"snooze": 0.7}, {"snooze": 2.5}, {"fails": True})
WANTED = {"skip": "OVERLAP", "queue_one": "OVERLAP", "queue_all": "SUCCESS", "replace": "OVERTAKEN"}

_WITNESS = """
CREATE TABLE chaos_turn (job bigint, task bigint, under_way bool, at timestamptz, xid xid8);
CREATE FUNCTION chaos_witness() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO chaos_turn VALUES (OLD.job, OLD.id, FALSE, clock_timestamp(), pg_current_xact_id());
    ELSE
        INSERT INTO chaos_turn VALUES (NEW.job, NEW.id, NEW.status <> 'BLOCKED' AND (NEW.due_at IS NOT NULL OR
            NEW.status NOT IN ('SUCCESS', 'DEAD', 'CANCELLED')), clock_timestamp(), pg_current_xact_id());
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_witness AFTER INSERT OR UPDATE ON punctual_task
FOR EACH ROW WHEN (NEW.job IS NOT NULL) EXECUTE FUNCTION chaos_witness();
CREATE TRIGGER chaos_witness_of_ends AFTER DELETE ON punctual_task
FOR EACH ROW WHEN (OLD.job IS NOT NULL) EXECUTE FUNCTION chaos_witness();
"""


class Seen(NamedTuple):
    """What the witness wrote down: in which transaction an instance of a job began to be under way, or ceased to be."""

    job: int
    task: int
    under_way: bool
    xid: int


def begin() -> None:
    from django_punctual import Operator
    from django_punctual.jobs import JobRequest, create_job

    with connection.cursor() as cursor:
        cursor.execute(_WITNESS)
    for policy in POLICIES:
        for number, payload in enumerate(PAYLOADS):
            fields = {"every": 1, "overlap": policy, "payload": payload, "catch_up": "none"}
            request = JobRequest(f"{policy}-{number}", "CHAOS_TURN", **fields)
            create_job(request, Operator("chaos", "it must not run over itself"))


def end() -> None:
    """No more firings; what waits is taken back, and what is under way ends."""
    from django_punctual import Operator
    from django_punctual.jobs import pause_job
    from tasks_app.models import JobDefinition

    connection.close()  # ours was cut with the others
    for job in JobDefinition.objects.filter(overlap__in=POLICIES):
        pause_job(job.id, Operator("chaos", "the load has ended"))


def witnessed() -> list[Seen]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT w.job, w.task, w.under_way, w.xid::text::bigint FROM chaos_turn w"
            " JOIN punctual_job d ON d.id = w.job WHERE d.overlap <> 'allow' ORDER BY w.at"
        )
        return [Seen(*row) for row in cursor.fetchall()]


def results() -> dict[str, Counter]:
    """By job, how its instances ended: the code of those that were cancelled."""
    found: dict[str, Counter] = defaultdict(Counter)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT d.name, t.status, t.error_code FROM punctual_job d JOIN punctual_any_task t ON t.job = d.id"
            " WHERE d.overlap <> 'allow'"
        )
        for name, status, code in cursor.fetchall():
            found[name][code if status == "CANCELLED" else status] += 1
    return found


def overlaps(seen: Iterable[Seen]) -> Iterator[str]:
    """Where two instances of a job were under way after one and the same transaction."""
    steps: dict[tuple[int, int], list[Seen]] = {}
    for one in seen:
        steps.setdefault((one.job, one.xid), []).append(one)
    now: dict[int, set[int]] = defaultdict(set)
    for (job, _), step in steps.items():
        for one in step:
            (now[job].add if one.under_way else now[job].discard)(one.task)
        if len(now[job]) > 1:
            yield f"tasks {sorted(now[job])} of job {job} were under way together"


def wrong_turns(seen: Iterable[Seen], ended: dict[str, Counter]) -> Iterator[str]:
    yield from overlaps(seen)
    allowed = {"SUCCESS", "OVERLAP", "OVERTAKEN"}
    for name, counts in ended.items():
        for result in counts.keys() - allowed:
            yield f"{counts[result]} instances of {name} are {result}"
        if not counts["SUCCESS"]:
            yield f"no instance of {name} has run"
    for policy, wanted in WANTED.items():
        of_policy = sum((counts for name, counts in ended.items() if name.rpartition("-")[0] == policy), Counter())
        if not of_policy[wanted]:
            yield f"no instance was {wanted} by the policy {policy}: {dict(of_policy)}"
