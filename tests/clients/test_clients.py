"""The clients of docs/clients.md at work against the real web process, alone and through what loses their answers."""

import contextlib
import io
import re
import shutil
import textwrap
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import httpx
import pytest
from django.db import connection
from punctual_client import (
    ApiError,
    AsyncPunctual,
    JobIn,
    JobPatch,
    Lane,
    Patience,
    PauseIn,
    ProblemCode,
    Punctual,
    RescheduleIn,
    TaskIn,
    TaskOut,
    TaskStatus,
)
from punctual_client.generated.api.tasks import create_task

from chaos.proxy import Proxy
from clients.__main__ import TYPESCRIPT, compile_typescript, install_node_modules, node
from tasks_app.engine.watch.audit_browse import STRETCH
from tasks_app.models import AuditEntry, ScheduleTask
from tests.support.stack import ROOT

PAGE = (ROOT / "docs" / "clients.md").read_text()
ONCE = Patience(tries=1)


def from_the_page(language: str, **meant: str) -> str:
    block = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]
    for written, instead in ({'"INVOICE_SEND"': '"T_QUIET"'} | meant).items():
        assert written in block
        block = block.replace(written, instead)
    return block


SAID = textwrap.dedent(re.search(r"It prints\n\n((?:    .+\n)+)", PAGE)[1])


@pytest.fixture
def punctual(web, token) -> Iterator[Punctual]:
    with Punctual(web.url, token) as punctual:
        yield punctual


@pytest.fixture
def lossy(web) -> Iterator[Proxy]:
    """Between a client and the web process."""
    target = urlsplit(web.url)
    proxy = Proxy((target.hostname, target.port))
    yield proxy
    proxy.close()


@pytest.fixture
def front() -> Iterator[Callable[..., str]]:
    """Something else in place of the API: it gives these answers in turn, and then the last. Says its address."""
    servers = []

    def start(*answers: tuple[int, dict[str, str], bytes]) -> str:
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, body = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: object) -> None: ...

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


TROUBLE = """
import { ApiError, Punctual } from "./index.js";
declare const process: { env: Record<string, string> };
const { URL, TOKEN, OTHERS } = process.env as { URL: string; TOKEN: string; OTHERS: string };

const punctual = new Punctual({ url: URL, token: TOKEN });
console.log((await punctual.createTask({ body: { task_type: "T_QUIET", key: 7, delay: 3600 } })).id);
for (const url of OTHERS.split(" ")) {
  const other = new Punctual({ url, token: TOKEN, patience: { tries: 2 } });
  await other.readHealth().catch((error: ApiError) => console.log(error.message));
}
"""
RARE = """
import { Punctual, every } from "./index.js";
declare const process: { env: Record<string, string> };
const punctual = new Punctual({ url: process.env["URL"]!, token: process.env["TOKEN"]! });
for await (const deed of every((after) => punctual.listAudit({ query: { reason: "rare", after } }))) {
  console.log(deed.subject);
}
"""
WRONG = """
import { Punctual } from "./index.js";
const punctual = new Punctual({ url: "https://x", token: "y" });
// @ts-expect-error: a type is a string
export const one = () => punctual.createTask({ body: { task_type: 7, key: "a" } });
// @ts-expect-error: there is no such lane
export const two = () => punctual.createTask({ body: { task_type: "A", key: "a", lane: "turbo" } });
// @ts-expect-error: a task has an id
export const three = () => punctual.readTask({ path: {} });
// @ts-expect-error: a task has no such field
export const four = async () => (await punctual.readTask({ path: { task_id: 7 } })).due;
"""


@pytest.fixture(scope="module")
def typescript(tmp_path_factory) -> Callable[..., str]:
    """Runs a story. All of them are compiled once, with their types checked, beside the client."""
    install_node_modules()
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(TYPESCRIPT / "src", folder / "src")
    shutil.copy(TYPESCRIPT / "tsconfig.json", folder)
    (folder / "package.json").write_text('{"type": "module"}')
    ours = {'"https://punctual.example.com"': 'process.env["URL"]!', '"pnc_…"': 'process.env["TOKEN"]!'}
    page = from_the_page("typescript", **ours, **{'"punctual-client"': '"./index.js"'})
    page = "declare const process: { env: Record<string, string> };\n" + page
    for name, story in (("page", page), ("trouble", TROUBLE), ("rare", RARE), ("wrong", WRONG)):
        (folder / "src" / f"{name}.ts").write_text(story)
    compile_typescript(folder)

    def run(name: str, **env: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in env.items():
                patch.setenv(variable, value)
            return node(str(folder / "dist" / f"{name}.js"))

    return run


# ---- the page ----


def test_the_python_of_the_page_does_what_it_says(web, token):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        story = from_the_page("python", **{"https://punctual.example.com": web.url, "pnc_…": token})
        exec(compile(story, "docs/clients.md", "exec"), {})

    assert said.getvalue() == SAID


def test_the_typescript_of_the_page_does_what_it_says(web, token, typescript):
    assert typescript("page", URL=web.url, TOKEN=token) == SAID


# ---- every verb ----


def test_a_key_of_ones_own_is_replayed_and_says_so(punctual):
    body = TaskIn("T_QUIET", "a", delay=3600)
    first = punctual.create_task(body, idempotency_key="k1")

    again = create_task.sync_detailed(client=punctual.client, body=body, idempotency_key="k1")

    assert isinstance(again.parsed, TaskOut)
    assert again.parsed.id == first.id
    assert again.headers["Idempotency-Replayed"] == "true"
    with pytest.raises(ApiError) as refused:
        punctual.create_task(TaskIn("T_QUIET", "b", delay=3600), idempotency_key="k1")
    assert refused.value.code == ProblemCode.SCH_422_KEY_REUSED


def test_a_task_is_moved_and_cancelled_by_its_id(punctual):
    task = punctual.create_task(TaskIn("T_QUIET", "Größe 7/8", delay=3600, lane=Lane.LOW))

    assert punctual.reschedule_task(task.id, RescheduleIn(delay=7200)).outcome == "UPDATED"
    assert punctual.read_task(task.id).lane is Lane.LOW
    assert punctual.cancel_task(task.id).answer == "cancelled"
    assert punctual.read_task(task.id).status is TaskStatus.CANCELLED
    assert punctual.explain_task(task.id).rule


def test_a_job_is_made_changed_paused_triggered_and_deleted(punctual):
    job = punctual.create_job(JobIn("report", "T_QUIET", every=3600))

    with pytest.raises(ApiError) as stale:
        punctual.edit_job(job.id, JobPatch(every=60), if_match=str(job.revision + 1))
    assert (stale.value.status, stale.value.code) == (412, "SCH_412_STALE")
    assert punctual.edit_job(job.id, JobPatch(every=7200), if_match=str(job.revision)).every == 7200
    assert punctual.pause_job(job.id, PauseIn(reason="tea")).status == "PAUSED"
    assert punctual.resume_job(job.id).status == "ACTIVE"

    fired = punctual.trigger_job(job.id)
    assert [task.id for task in punctual.iterate_instances(job.id)] == [fired.task_id]
    assert punctual.preview_job(job.id, count=3).times
    punctual.delete_job(job.id)
    with pytest.raises(ApiError, match="404 SCH_404_NOT_FOUND"):
        punctual.read_job(job.id)


def test_pages_are_walked_through_to_the_end(punctual):
    for number in range(5):
        punctual.create_task(TaskIn("T_QUIET", number, delay=3600))

    assert [task.key for task in punctual.iterate_tasks(limit=2)] == ["4", "3", "2", "1", "0"]
    page = punctual.list_tasks(limit=2)
    assert (len(page.items), bool(page.next_)) == (2, True)


@pytest.fixture
def rare_deed(token) -> str:
    """The reason of an entry in the audit that lies deeper than a look of the API goes."""
    alike = {"operation": uuid4(), "verb": "cancel", "tenant": "default"}
    AuditEntry.objects.create(actor="anna", subject="task 0", reason="A rare one", **alike)
    AuditEntry.objects.create(actor="olga", subject="task 1", **alike)
    fields = ", ".join(
        field.column for field in AuditEntry._meta.concrete_fields if field.column not in ("id", "subject")
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO punctual_audit_entry (subject, {fields}) SELECT 'task ' || number, {fields}"
            " FROM punctual_audit_entry, generate_series(2, %s) AS number WHERE actor = 'olga'",
            [2 * STRETCH - 1],
        )
    return "rare"


def test_pages_without_anything_are_not_the_end(punctual, rare_deed, web, token, typescript):
    async def walk() -> list[str]:
        async with AsyncPunctual(web.url, token) as client:
            return [deed.subject async for deed in client.iterate_audit(reason=rare_deed)]

    page = punctual.list_audit(reason=rare_deed)
    assert (page.items, bool(page.next_)) == ([], True)

    assert [deed.subject for deed in punctual.iterate_audit(reason=rare_deed)] == ["task 0"]
    assert anyio.run(walk) == ["task 0"]
    assert typescript("rare", URL=web.url, TOKEN=token) == "task 0\n"


def test_the_asynchronous_client_does_the_same(web, token):
    async def story() -> list[str]:
        async with AsyncPunctual(f"{web.url}/api/v1/", token) as punctual:
            async with anyio.create_task_group() as together:
                for number in range(3):
                    together.start_soon(punctual.create_task, TaskIn("T_QUIET", number, delay=3600))
            with pytest.raises(ApiError) as taken:
                await punctual.create_task(TaskIn("T_QUIET", 0))
            assert taken.value.task.status == "INIT"
            assert (await punctual.read_health()).status
            return [task.key async for task in punctual.iterate_tasks(limit=2)]

    assert sorted(anyio.run(story)) == ["0", "1", "2"]


# ---- when things go wrong ----


def test_a_write_whose_answer_was_lost_is_sent_again_and_done_once(lossy, token):
    lossy.lose_answers(b"POST /api/v1/tasks ", times=2)
    with Punctual(f"http://127.0.0.1:{lossy.port}", token) as punctual:
        task = punctual.create_task(TaskIn("T_QUIET", "a", delay=3600))

    assert lossy.answers_to_lose == 0
    assert [row.id for row in ScheduleTask.objects.all()] == [task.id]


def test_the_asynchronous_client_sends_it_again_too(lossy, token):
    async def story() -> int:
        async with AsyncPunctual(f"http://127.0.0.1:{lossy.port}", token) as punctual:
            return (await punctual.create_task(TaskIn("T_QUIET", "a", delay=3600))).id

    lossy.lose_answers(b"POST /api/v1/tasks ")

    created = anyio.run(story)

    assert lossy.answers_to_lose == 0
    assert [row.id for row in ScheduleTask.objects.all()] == [created]


def test_typescript_sends_it_again_and_tells_what_others_answer(lossy, token, front, typescript):
    lossy.lose_answers(b"POST /api/v1/tasks ")
    proxy = front((502, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>"))
    moved = front((301, {"Location": "https://elsewhere/"}, b""))

    said = typescript("trouble", URL=f"http://127.0.0.1:{lossy.port}/", TOKEN=token, OTHERS=f"{proxy} {moved}")

    created, of_proxy, of_moved = said.splitlines()
    assert lossy.answers_to_lose == 0
    assert [row.id for row in ScheduleTask.objects.all()] == [int(created)]
    assert of_proxy.startswith("502 ") and "did not answer as the API does: <h1>Bad Gateway" in of_proxy
    assert "redirects to https://elsewhere/" in of_moved


def test_who_is_busy_is_asked_again_after_what_it_says(front):
    busy = (503, {"Retry-After": "0", "Content-Type": "text/html"}, b"<h1>Busy</h1>")
    url = front(busy, busy, (200, {"Content-Type": "application/json"}, b'{"status": "ok"}'))

    with Punctual(url, "pnc_x") as punctual:
        assert punctual.read_liveness().status == "ok"


def test_who_asks_for_more_time_than_there_is_gets_no_second_call(front):
    url = front((429, {"Retry-After": "3600"}, b""), (200, {}, b"never"))

    with Punctual(url, "pnc_x") as punctual, pytest.raises(ApiError, match="429") as refused:
        punctual.read_health()
    assert refused.value.retry_after == 3600


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((502, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>"), "did not answer as the API does: <h1>Bad"),
        ((301, {"Location": "https://elsewhere/"}, b""), "redirects to https://elsewhere/"),
        ((404, {"Content-Type": "application/problem+json"}, b'{"code": 7}'), "404 .* did not answer as the API does"),
        ((500, {}, b""), "its answer is empty"),
    ],
)
def test_what_somebody_else_answers_is_an_error_without_a_problem(front, answer, told):
    with Punctual(front(answer), "pnc_x", patience=ONCE) as punctual, pytest.raises(ApiError, match=told) as refused:
        punctual.create_task(TaskIn("T_QUIET", "a"))

    assert (refused.value.status, refused.value.code, refused.value.task) == (answer[0], "", None)


def test_a_wrong_token_and_nobody_there_are_told_apart(web, transactional_db, lossy):
    with Punctual(web.url, "pnc_wrong") as punctual, pytest.raises(ApiError, match="SCH_401_UNAUTHENTICATED"):
        punctual.read_health()

    lossy.cut()
    with Punctual(f"http://127.0.0.1:{lossy.port}", "pnc_x", patience=ONCE) as punctual:
        with pytest.raises(httpx.TransportError):
            punctual.read_health()


@pytest.mark.parametrize(
    ("url", "token"), [("punctual.example.com", "pnc_x"), ("https://x", ""), ("https://x", "a\nb")]
)
def test_an_address_or_a_token_that_can_not_be_is_refused_at_once(url, token):
    with pytest.raises(ValueError, match=r"must begin with https://|looks like pnc_"):
        Punctual(url, token)


def test_words_of_a_newer_server_are_kept():
    assert (Lane("turbo"), Lane("turbo").value) == ("turbo", "turbo")
    assert Lane("low") is Lane.LOW
