"""console: every page beside 1,000,000 live tasks, finished ones, 100,000 jobs and 200 workers; and 50 open consoles.

50,000,000 tasks are finished with PUNCTUAL_SCALE=full, as in `make prove`, or with --rows 50000000; else 1,000,000.
Pages are asked of a real gunicorn over HTTP. An open console does what its script does: it has a stream, and asks for
its page when the stream says so.
"""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg

from . import catalogue, past, planner
from .articles import make_articles, schedule_publishings
from .cost import cpu_seconds
from .stack import ROOT, Stack, execute, percentile, query

GOALS = {"page_p95_ms": {"at_most": 300}, "open_percent": {"at_most": 5}}
OPTIONS = ("rows",)
TASKS = 1_000_000
ARTICLES = 1_000_000
PRODUCTS = 100_000
JOBS, SCHEDULES = 100_000, 600
WORKERS = 200
ROUNDS = 15  # of every page; the second slowest of them says which pages are slow
SLOW, MORE_ROUNDS = 10, 45  # pages that get so many more: of 15 rounds, p95 would be the slowest one
DEEP = 40  # pages turned before a deep page is measured
CONSOLES, OPEN_SECONDS = 50, 60
READ_SECONDS = 5
SETTLING_SECONDS = (
    15  # until the pages of as many consoles have been looked at once, and the pace of their streams is found
)
LIST = "/admin/punctual/scheduletask/"
ARTICLE_LIST = "/admin/articles_app/article/"
PRODUCT_LIST = "/admin/inventory_app/product/"
WEB = "bench-console"  # as PostgreSQL knows the sessions of the web's processes
# What people have open: most of them the overview.
OPEN_PAGES = ("/admin/", "/admin/", LIST, "/admin/punctual/jobdefinition/", "/admin/punctual/node/")
# Pages that are no pages to look at: they lead on, are sent by forms, or bring a file.
NO_PAGES = re.compile(
    r"_(delete|add|live|stream|export|history|parts|panel)$|^(logout|login|jsi18n|stream|autocomplete)$"
)

# A system in the middle of its day: most tasks done, many scheduled for the next days, some due, running, failed, dead.
# Past the lifecycle, which would take longer than what is measured.
_TASKS = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, claimed_due, lane, shard, attempt,
                           retry_count, max_retry, start_time, finish_time, error_code, error_msg, payload)
SELECT 'default', (ARRAY['BENCH_NOOP', 'ARTICLE_AUDIT', 'ARTICLE_PUBLISH'])[1 + n %% 3], 'bench-' || n, s.status, at,
       CASE WHEN s.status IN ('INIT', 'FAIL') THEN at END, at,
       (ARRAY['critical', 'default', 'default', 'low'])[1 + n %% 4], n %% 16,
       (s.status = 'FAIL')::int, (s.status IN ('FAIL', 'DEAD'))::int, 5,
       CASE WHEN s.status = 'SUCCESS' THEN at END, CASE WHEN s.status IN ('SUCCESS', 'DEAD') THEN at END,
       CASE WHEN s.status IN ('FAIL', 'DEAD') THEN 'BROKEN' ELSE '' END,
       CASE WHEN s.status IN ('FAIL', 'DEAD') THEN repeat('it is broken ', 50) ELSE '' END, '{"n": 1}'
FROM generate_series(1, %(count)s) AS n
CROSS JOIN LATERAL (
    SELECT CASE WHEN n %% 1000 = 0 THEN 'DEAD' WHEN n %% 1000 = 1 THEN 'CANCELLED' WHEN n %% 200 = 2 THEN 'FAIL'
                WHEN n %% 10 < 4 THEN 'INIT' ELSE 'SUCCESS' END
) AS s(status)
CROSS JOIN LATERAL (
    SELECT CASE WHEN s.status IN ('INIT', 'FAIL') THEN now() - interval '10 minutes' + n * interval '0.3 s'
                ELSE now() - n * interval '0.1 s' END
) AS t(at)
"""
_FAILURES = """
INSERT INTO punctual_attempt (task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg)
SELECT id, n, gen_random_uuid(), 'bench', now(), now(), error_code, error_msg
FROM punctual_task, generate_series(1, 3) AS n WHERE status IN ('FAIL', 'DEAD')
"""
_LETTERS = """
INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg)
SELECT id, tenant, task_type, error_code, error_msg FROM punctual_task WHERE status = 'DEAD'
"""
# An hour of a busy day, 60 batches a second in its last minute and a half: what is not rolled up yet.
_BATCHES = """
INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, started_at,
                            finished_at, ok, run_us, lateness)
SELECT gen_random_uuid(), 'BENCH_NOOP', 'default', array(SELECT generate_series(n, n + 99)), 'bench', at, at, at, at,
       100, 1000, array_fill(1, ARRAY[104])
FROM generate_series(1, 216000) AS n CROSS JOIN LATERAL (SELECT now() - n * interval '16.6 ms') AS t(at)
"""
_WORKERS = """
INSERT INTO punctual_node (node_id, kind, name, slots, lanes, seen_at, started_at)
SELECT gen_random_uuid(), 'WORKER', 'w' || n || '@bench:' || n, 4, ARRAY['critical', 'default', 'low'],
       now() + interval '1 day', now()
FROM generate_series(1, %(workers)s) AS n
"""
_RUNNING = """
WITH batch AS (
    INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, started_at)
    SELECT gen_random_uuid(), 'BENCH_NOOP', 'default', array_agg(id), 'bench', now(), now() + interval '1 day', now()
    FROM (SELECT id FROM punctual_task WHERE status = 'INIT' ORDER BY id LIMIT 2000) AS few GROUP BY id / 500
    RETURNING batch_no, ids
)
UPDATE punctual_task t SET status = 'RUNNING', batch_no = b.batch_no, claimed_due = due_at, due_at = NULL
FROM batch b WHERE t.id = ANY (b.ids)
"""


def run(stack: Stack, rows: int | None = None) -> dict:
    _fill(stack, rows)
    with _web(stack) as (client, pages, web):
        took = _measure(client, pages)
        walked = _turn_pages(client)
        stack.start(workers=1)  # so that things change while consoles are open
        used, looks = asyncio.run(_stay_open(client, _sessions(), web))
    often = [page for page, times in took.items() if len(times) > ROUNDS]
    slowest = sorted(often, key=lambda page: percentile(took[page], 0.95), reverse=True)
    return {
        "page_p95_ms": round(percentile(took[slowest[0]], 0.95) * 1000),
        "page_max_ms": round(max(map(max, took.values())) * 1000),
        "page_p50_ms": round(percentile([one for many in took.values() for one in many], 0.50) * 1000),
        "deep_p95_ms": round(percentile(walked, 0.95) * 1000),
        "slowest": [_told(page, took[page]) for page in slowest[:5]],
        "pages": len(took),
        "open_percent": round(used / OPEN_SECONDS * 100, 1),
        "looks_per_s": round(looks / OPEN_SECONDS, 1),
        "look_ms": round(used / max(looks, 1) * 1000),
    }


def _fill(stack: Stack, rows: int | None) -> None:
    from django.contrib.auth.models import User

    User.objects.create_superuser("bench", password="bench")
    planner.fill(JOBS, SCHEDULES)
    past.fill(stack, rows)
    execute(_WORKERS, {"workers": WORKERS})
    execute(_TASKS, {"count": TASKS})
    catalogue.fill(PRODUCTS)
    for statement in (_FAILURES, _LETTERS, _RUNNING):
        execute(statement)
    make_articles(ARTICLES - 50_000, "PUBLISHED", "now() - interval '1 day' - n * interval '1 second'")
    waiting = make_articles(50_000, "AUDIT_SUCCESS", "now() - interval '1 hour' + n * interval '1 second'")
    schedule_publishings(waiting)
    for table in ("punctual_task", "punctual_attempt", "punctual_dead_letter", "article", "article_event"):
        execute(f"VACUUM ANALYZE {table}")
    # Last, so that they end now.
    from tasks_app.engine.beat.roll_up import roll_up

    execute(_BATCHES)
    roll_up()
    execute("VACUUM ANALYZE punctual_batch")


@contextmanager
def _web(stack: Stack) -> Iterator[tuple[httpx.Client, list[str], int]]:
    """gunicorn as `make up` runs it, a client that is logged in, the pages to ask for, and the process's number."""
    log = stack.folder / "web.log"
    command = [sys.executable, "-m", "gunicorn", "scheduler_project.wsgi", "--bind", "127.0.0.1:0", "--workers", "2"]
    with log.open("w") as out:
        process = subprocess.Popen([*command, "--no-control-socket"], cwd=ROOT, env=_named(), stderr=out)
    try:
        with httpx.Client(base_url=_address(log), timeout=60, follow_redirects=True) as client:
            token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', client.get("/admin/login/").text)[1]
            answer = client.post(
                "/admin/login/", data={"username": "bench", "password": "bench", "csrfmiddlewaretoken": token}
            )
            if answer.status_code != 200 or "sessionid" not in client.cookies:
                raise SystemExit(f"could not log in: {answer.status_code}")
            yield client, _pages(), process.pid
    finally:
        process.terminate()
        process.wait(20)


def _named() -> dict[str, str]:
    """The environment in which the web's sessions have a name of their own."""
    url = os.environ["DATABASE_URL"]
    return os.environ | {"DATABASE_URL": f"{url}{'&' if '?' in url else '?'}application_name={WEB}"}


def _address(log) -> str:
    deadline = time.monotonic() + 30
    while not (found := re.search(r"Listening at: (http://\S+)", log.read_text())):
        if time.monotonic() > deadline:
            raise SystemExit(f"the web process did not come up:\n{log.read_text()}")
        time.sleep(0.05)
    return found[1]


def _pages() -> list[str]:
    """Searches, single things in each state, and every other page there is."""
    states = ("DUE", "INIT", "RUNNING", "FAIL", "DEAD", "SUCCESS", "CANCELLED", "BLOCKED")
    ((soon, now),) = query(
        "SELECT to_char(now() + interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI'), to_char(now(), 'YYYY-MM-DD\"T\"HH24:MI')"
    )
    tasks = [
        *(f"?state={state}" for state in states),
        "?lane=low",
        "?lane=backfill",
        "?type=ARTICLE_AUDIT",
        "?type=NEVER_SEEN",
        "?type=BENCH_NOOP&state=DEAD&lane=low",
        "?key=bench-777777",
        "?key=bench-77*",
        "?key=nothing",
        "?key=bench-*&state=CANCELLED",
        f"?when=due&since={soon}",
        f"?when=ran&until={now}",
        f"?when=ran&since={now}&state=SUCCESS",
    ]
    shown = ("drafts", "audit", "scheduled", "overdue", "failed", "live")
    articles = [*(f"?show={one}" for one in shown), "?q=Title+777777", "?q=Title", "?q=nothing+of+it", "?p=90"]
    products = [
        *(f"?show={one}" for one in ("never", "late", "oldest", "failing")),
        "?q=C777",
        "?q=Product+7777",
        "?q=no",
    ]
    ids = {
        state: query("SELECT id FROM punctual_task WHERE status = %s LIMIT 1", [state])[0][0]
        for state in ("INIT", "RUNNING", "FAIL", "DEAD", "SUCCESS", "CANCELLED")
    }
    ((article,),) = query("SELECT min(id) + 500 FROM article WHERE status = 'AUDIT_SUCCESS'")
    ((batch,),) = query("SELECT batch_no FROM punctual_batch WHERE finished_at IS NULL LIMIT 1")
    ((job,),) = query("SELECT min(id) + 500 FROM punctual_job")
    ((letter,),) = query("SELECT max(id) FROM punctual_dead_letter")
    ((over,),) = query("SELECT min(id) + 500 FROM punctual_past")
    return [
        *_plain_pages(),
        *(LIST + one for one in tasks),
        *(ARTICLE_LIST + one for one in articles),
        *(PRODUCT_LIST + one for one in products),
        *(f"{LIST}{id_}/change/" for id_ in (*ids.values(), over)),
        f"{ARTICLE_LIST}{article}/change/",
        f"/admin/punctual/taskbatch/{batch}/change/",
        f"/admin/punctual/jobdefinition/{job}/change/",
        f"/admin/punctual/dlqentry/{letter}/change/",
        "/admin/punctual/tenant/show/default/",
    ]


def _plain_pages(resolver=None, prefix: str = "/") -> Iterator[str]:
    """All whose addresses name nothing in particular."""
    from django.urls import URLPattern, get_resolver

    for one in (resolver or get_resolver()).url_patterns:
        where = prefix + str(one.pattern)
        if not isinstance(one, URLPattern):
            yield from _plain_pages(one, where)
        elif (
            where.startswith("/admin/") and one.name and not NO_PAGES.search(one.name) and not set("<(^$") & set(where)
        ):
            yield where


def _told(page: str, times: list[float]) -> str:
    middle, high = (percentile(times, share) * 1000 for share in (0.50, 0.95))
    return f"{page} p50 {middle:.0f}, p95 {high:.0f}, max {max(times) * 1000:.0f} ms"


def _measure(client: httpx.Client, paths: list[str]) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {path: [] for path in paths if _is_page(client, path)}
    for _ in range(ROUNDS):
        for path, times in took.items():
            times.append(_seconds(client, path))
    slow = sorted(took, key=lambda path: sorted(took[path])[-2], reverse=True)[:SLOW]
    for _ in range(MORE_ROUNDS):
        for path in slow:
            took[path].append(_seconds(client, path))
    return took


def _is_page(client: httpx.Client, path: str) -> bool:
    """Asked for twice, for each of the web's processes to plan its statements."""
    for _ in range(2):
        answer = client.get(path, follow_redirects=False)
        if answer.status_code in (301, 302, 400, 405):
            return False  # it leads on, or is sent by a form
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}")
    return True


def _seconds(client: httpx.Client, path: str) -> float:
    begun = time.monotonic()
    _get(client, path)
    return time.monotonic() - begun


def _sessions() -> list[str]:
    """Of as many people, who may do the same."""
    from django.contrib.auth.models import Group, Permission, User
    from django.test import Client

    operators = Group.objects.create(name="operators")
    operators.permissions.set(Permission.objects.filter(content_type__app_label="punctual"))
    sessions = []
    for number in range(CONSOLES):
        user, browser = User.objects.create_user(f"operator-{number}", is_staff=True), Client()
        user.groups.add(operators)
        browser.force_login(user)
        sessions.append(browser.cookies["sessionid"].value)
    return sessions


class Meter:
    """Processor time of the web's processes and of their sessions in PostgreSQL. Not of all of PostgreSQL: what a beat
    has it do while it catches up is many times as much, and less from minute to minute."""

    def __init__(self, web: int) -> None:
        self._web = web
        self._database = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
        self._sessions: dict[int, float] = {}  # as they were last seen, since those that end take their time with them

    def read(self) -> float:
        for (pid,) in self._database.execute("SELECT pid FROM pg_stat_activity WHERE application_name = %s", [WEB]):
            self._sessions[pid] = cpu_seconds({pid})
        return cpu_seconds({self._web}) + sum(self._sessions.values())


async def _stay_open(client: httpx.Client, sessions: list[str], web: int) -> tuple[float, int]:
    """Seconds of a processor that consoles take that are open for a while, with what they cost the database; and how
    often they looked."""
    meter = Meter(web)
    looks = 0

    async def console(page: str, session: str, opened: asyncio.Event) -> None:
        nonlocal looks
        cookies = {"sessionid": session}
        async with httpx.AsyncClient(base_url=client.base_url, cookies=cookies, timeout=None) as own:
            found = re.search(r'data-topics="([^"]*)" data-stream="([^"]+)"', (await own.get(page)).text)
            topics, address = set(found[1].split()), found[2]
            read_at = 0
            async with own.stream("GET", address) as stream:
                if stream.status_code != 200:
                    raise SystemExit(f"{address} answered {stream.status_code}")
                opened.set()
                async for line in stream.aiter_lines():
                    if line.startswith("data:") and topics & set(line.removeprefix("data:").split()):
                        told_at = int(line.rpartition("@")[2])
                        since = str(max(read_at, told_at)) if read_at else "1"
                        answer = await own.get(page, headers={"Punctual-Live": since})
                        read_at = int(answer.headers.get("Punctual-Live", 0))
                        looks += answer.status_code == 200  # after the wait: others have counted meanwhile

    async def used() -> float:
        before = meter.read()
        for _ in range(OPEN_SECONDS // READ_SECONDS):
            await asyncio.sleep(READ_SECONDS)
            after = meter.read()
        return after - before

    without = await used()
    consoles = []
    for number, session in enumerate(sessions):  # one after the other, as people come
        opened = asyncio.Event()
        consoles.append(asyncio.create_task(console(OPEN_PAGES[number % len(OPEN_PAGES)], session, opened)))
        consoles[-1].add_done_callback(lambda _, opened=opened: opened.set())
        await opened.wait()
    await asyncio.sleep(SETTLING_SECONDS)
    looks = 0
    beside = await used()
    for one in consoles:
        if one.done():
            one.result()  # raises
        one.cancel()
    return max(0.0, beside - without), looks


def _turn_pages(client: httpx.Client) -> list[float]:
    """Page after page of some lists, as the links lead."""
    took = []
    for query_ in ("", "?state=INIT", "?key=bench-*", "?state=FAIL"):
        path = LIST + query_
        for turn in range(DEEP):
            begun = time.monotonic()
            text = _get(client, path)
            if turn >= 2:
                took.append(time.monotonic() - begun)
            onward = re.search(r'rel="next" href="([^"]+)"', text)
            if onward is None:
                break
            path = LIST + onward[1].replace("&amp;", "&")
    return took


def _get(client: httpx.Client, path: str) -> str:
    answer = client.get(path)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}")
    return answer.text
