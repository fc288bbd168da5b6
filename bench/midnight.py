"""midnight: 20,000 audited articles with the same publish time go live, beside a cron job in lane critical, as one that
hands out coupons at a sale (002 section 18.1); and as many are moved by one bulk call."""

import time
from datetime import datetime, timedelta

from .articles import analyse, empty_articles, make_articles, schedule_publishings
from .stack import Stack, empty_tables, percentile, query

GOALS = {
    "last_published_late_s": {"at_most": 2},
    "coupon_job_p95_ms": {"at_most": 1_800},
    "bulk_move_s": {"at_most": 5},
}
ARTICLES = 20_000
WARM_UP = 2_000  # the evening before: by midnight the pace of the type is known


def run(stack: Stack) -> dict:
    move_seconds = _bulk_move()
    first, last, coupons = _go_live(stack)
    return {
        "last_published_late_s": round(last, 3),
        "first_published_late_s": round(first, 4),
        "articles_per_s": round(ARTICLES / (last - first)),
        "coupon_job_p95_ms": round(percentile(coupons, 0.95), 1),
        "bulk_move_s": round(move_seconds, 3),
    }


def _bulk_move() -> float:
    """The same articles, to be published tomorrow, moved by an hour."""
    from articles_app.lifecycle import NewTime, change_publish_times

    _empty()
    ids = make_articles(ARTICLES, "AUDIT_SUCCESS", "date_trunc('hour', now()) + interval '1 day'")
    schedule_publishings(ids)
    analyse()
    rows = query("SELECT id, publish_time, revision FROM article")
    changes = [NewTime(id_, at + timedelta(hours=1), revision) for id_, at, revision in rows]
    started = time.monotonic()
    answers = change_publish_times(changes, actor="bench")
    seconds = time.monotonic() - started
    ((wrong,),) = query(
        "SELECT count(*) FROM article a LEFT JOIN punctual_task t ON t.biz_key = a.id::text AND t.current"
        " WHERE t.due_at IS DISTINCT FROM a.publish_time OR a.revision <> 2"
    )
    if wrong or {str(answer.outcome) for answer in answers} != {"UPDATED"}:
        raise SystemExit(f"{wrong} of {ARTICLES} articles were moved wrongly")
    return seconds


def _go_live(stack: Stack) -> tuple[float, float, list[float]]:
    """How late the first and the last one went live, and by how many milliseconds the runs of the job started late."""
    from django_punctual import Operator
    from django_punctual.jobs import JobRequest, create_job

    _empty()
    coupons = JobRequest(name="coupons", task_type="BENCH_NOOP", cron="* * * * * ?", lane="critical")
    create_job(coupons, Operator("bench", "measured"))
    stack.start()
    _wait_live(schedule_now(WARM_UP, "now()"), 60)
    # All the same moment, far enough ahead to be scheduled by then.
    ((midnight,),) = query("SELECT date_trunc('second', clock_timestamp()) + interval '12 s'")
    ids = schedule_now(ARTICLES, "%(midnight)s", midnight=midnight)
    _wait_live(ids, 120)
    late = _coupons_late(midnight)
    stack.stop()
    first, last, live, events = query(
        "SELECT extract(epoch FROM min(published_at) - %(m)s)::float8,"
        " extract(epoch FROM max(published_at) - %(m)s)::float8,"
        " count(*), (SELECT count(*) FROM article_event WHERE verb = 'publish' AND article_id >= %(first)s)"
        " FROM article WHERE id >= %(first)s AND status = 'PUBLISHED'",
        {"m": midnight, "first": ids.start},
    )[0]
    if (live, events) != (ARTICLES, ARTICLES) or first < 0:
        raise SystemExit(f"{live} of {ARTICLES} articles are live with {events} events, the first {first} s late")
    return first, last, late


def _coupons_late(midnight: datetime) -> list[float]:
    """Of the runs in the five seconds around midnight, once they have started."""
    deadline = time.monotonic() + 60
    runs = (
        "SELECT extract(epoch FROM start_time - fire_time)::float8 * 1000 FROM punctual_any_task"
        " WHERE job IS NOT NULL AND start_time IS NOT NULL"
        " AND fire_time BETWEEN %(at)s - interval '2 s' AND %(at)s + interval '2 s'"
    )
    while len(found := query(runs, {"at": midnight})) < 5:
        if time.monotonic() > deadline:
            raise SystemExit(f"{len(found)} of 5 runs of the job started")
        time.sleep(0.1)
    return [ms for (ms,) in found]


def schedule_now(count: int, at: str, **params: object) -> range:
    ids = make_articles(count, "AUDIT_SUCCESS", at, **params)
    schedule_publishings(ids)
    analyse()
    return ids


def _wait_live(ids: range, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    # Asked of the tasks' batches, so that asking costs nothing.
    live = "SELECT coalesce(sum(ok), 0) FROM punctual_batch WHERE task_type = 'ARTICLE_PUBLISH'"
    while query(live)[0][0] < ids.stop - 1:
        if time.monotonic() > deadline:
            raise SystemExit(f"not all articles were live within {timeout:g} s")
        time.sleep(0.05)


def _empty() -> None:
    empty_tables()
    empty_articles()
