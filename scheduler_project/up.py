"""Owns `make up`: from a bare checkout to a running scheduler, and back to nothing on Ctrl-C.

The databases are the embedded ones unless DATABASE_URL and REDIS_URL name others; how a process is kept
running is the supervisor's business.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tasks_app import embedded
from tasks_app.core.isolation import ENGINE
from tasks_app.embedded import reachability
from tasks_app.embedded.postgres import Postgres

from .supervisor import ProcessSpec, Server, Supervisor, run_to_end

BASE_DIR = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
DEFAULT_PORT = 8000
# The example services, by the variable that names a real one: file, first port to try, path, and what it is instead of.
EXAMPLES = {
    "MODERATION_URL": ("moderation_service.py", 8765, "/audit", "or to nothing for the local rule list"),
    "STOCK_URL": ("stock_service.py", 8766, "/stock", "or to nothing for none"),
}
PORTS_TO_TRY = 100
# Workers know of each other through the database; Celery's own chatter between them is only load.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
# Django's checks were made with the tables. A worker would load all pages and the API to make them again.
CHECKED = {"CELERY_SKIP_CHECKS": "1"}
# Without the letters and digits that people confuse.
READABLE = "abcdefghjkmnpqrstuvwxyz23456789"


# With the name of the variable behind it: set when that is the example service, which then is one of our processes.
EXAMPLE_PORT = "PUNCTUAL_EXAMPLE_PORT_"
SPARE = "PUNCTUAL_SPARE_WORKERS"  # how few and how many are started beside the one there is, such as 0-3


class UpError(Exception):
    """`make up` can't go on; the text is the one sentence that says why."""


class Stopped(BaseException):
    """Somebody pressed Ctrl-C, or sent SIGTERM, before the processes were running."""


@dataclass
class Run:
    """What one `make up` knows: its urls, its port and, once there is one, its supervisor."""

    port: int
    database_url: str = ""
    redis_url: str = ""
    servers: list[Server] = field(default_factory=list)
    supervisor: Supervisor | None = None
    stopped: bool = False

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.supervisor is not None:
            self.supervisor.request_stop()
        elif not self.stopped:
            self.stopped = True
            raise Stopped


def processes(port: int, env: dict[str, str], owner: dict[str, str] | None = None) -> list[ProcessSpec]:
    """Everything that `make up` keeps running besides the databases; add a line to add a process.

    `owner` is for what copies the whole server, and the others have just the rights that they need.
    """
    python, app = sys.executable, "scheduler_project"
    celery = [python, "-m", "celery", "--quiet", "-A", app]
    examples = [
        ProcessSpec(name, [python, str(BASE_DIR / "examples" / EXAMPLES[url][0]), "--port", given], env, BASE_DIR)
        for name, url in (("audit", "MODERATION_URL"), ("stock", "STOCK_URL"))
        if (given := env.get(EXAMPLE_PORT + url))
    ]
    backup = [python, str(BASE_DIR / "manage.py"), "backup", "stream"]
    scale = [python, str(BASE_DIR / "manage.py"), "scale", "--workers", env.get(SPARE, "")]
    return [
        *examples,
        ProcessSpec("web", [python, "-m", "gunicorn", f"{app}.wsgi", "--bind", f"{HOST}:{port}"], env, BASE_DIR),
        ProcessSpec("beat", [*celery, "beat", "--loglevel", "INFO"], env, BASE_DIR),
        ProcessSpec("worker", [*celery, "worker", "--loglevel", "INFO", *QUIET], env, BASE_DIR),
        *([ProcessSpec("backup", backup, env | (owner or {}), BASE_DIR)] if os.environ.get("BACKUP_URLS") else []),
        *([ProcessSpec("scale", scale, env, BASE_DIR)] if env.get(SPARE) else []),
    ]


def main(arguments: Sequence[str] = ()) -> int:
    sys.stdout.reconfigure(errors="replace", line_buffering=True)  # type: ignore[union-attr]
    _parser().parse_args(arguments)
    try:
        with suppress(Stopped):
            up(Run(choose_port(os.environ.get("PORT", ""))))
        print("Stopped.")
    except (UpError, embedded.EmbeddedError, reachability.Unreachable) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        pass
    _close_stdout()
    return 0


def _parser() -> argparse.ArgumentParser:
    """There is nothing to choose but by the environment; --help says what."""
    return argparse.ArgumentParser(
        prog="python -m scheduler_project.up",
        description="Runs the whole scheduler: its databases, migrations, demo content and processes. Ctrl-C ends it.",
        epilog=f"""environment variables:
  DATABASE_URL, REDIS_URL   servers to use instead of its own
  PORT                      of the web process; otherwise the first free one from {DEFAULT_PORT}
  PUNCTUAL_HOME             where its data is kept; otherwise .punctual
  PUNCTUAL_ADMIN_PASSWORD   otherwise one is made, and kept there
  {SPARE}    how few and how many workers to start beside the first, such as 0-3
  MODERATION_URL, STOCK_URL services of your own instead of the examples
  BACKUP_URLS               where backups go""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def up(run: Run) -> None:
    """Databases, migrations, demo content, processes; then wait, and end all of it in the opposite order."""
    _handle_signals(run)
    home, password = prepare_home(home_directory())
    with ExitStack() as ending:
        spare = choose_spare(os.environ.get(SPARE, ""))
        env = start_databases(run, home, ending) | choose_examples() | own_address(run) | spare
        manage("seed_demo", env | {"PUNCTUAL_ADMIN_PASSWORD": password})
        owner = {"DATABASE_URL": run.database_url}
        env |= engine_login(run) | CHECKED
        run.supervisor = Supervisor(processes(run.port, env, owner), servers=run.servers)
        ending.callback(run.supervisor.stop)
        run.supervisor.start()
        _announce_when_ready(run, password)
        run.supervisor.run_until_stopped()


def engine_login(run: Run) -> dict[str, str]:
    """In our own server, whose superuser makes and changes the tables, the processes log in as a role that can't."""
    postgres = next((server for server in run.servers if isinstance(server, Postgres)), None)
    return {"DATABASE_URL": postgres.let_in(ENGINE)} if postgres else {}


def own_address(run: Run) -> dict[str, str]:
    """Where the example services can report to, unless the environment names the address that others use."""
    named = "PUNCTUAL_API_URL" in os.environ or "PUBLIC_URL" in os.environ
    return {} if named else {"PUNCTUAL_API_URL": f"{run.url}api/v1"}


def home_directory() -> Path:
    return Path(os.environ.get("PUNCTUAL_HOME") or BASE_DIR / ".punctual")


def prepare_home(wanted: Path) -> tuple[Path, str]:
    """Home's real path and the admin password kept in it."""
    try:
        home = embedded.open_home(wanted)
        return home, admin_password(home)
    except OSError as error:
        raise UpError(
            f"PUNCTUAL_HOME is {wanted}, which can't be used: {error.strerror}. Set it to a directory that you can "
            "write to."
        ) from error


def choose_port(wanted: str) -> int:
    """The port of the web process: the wanted one or none; without a wish, the first free one from 8000."""
    if wanted:
        if not wanted.isdecimal() or not 0 < int(wanted) < 65536:
            raise UpError(f"PORT is {wanted!r}; it must be a number from 1 to 65535.")
        if not _is_free(int(wanted)):
            raise UpError(
                f"PORT is {wanted}, but {HOST}:{wanted} is in use or not allowed. Stop what listens there, "
                "or set PORT to another number."
            )
        return int(wanted)
    for port in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY):
        if _is_free(port):
            if port != DEFAULT_PORT:
                print(f"Port {DEFAULT_PORT} is in use, using {port} instead.")
            return port
    raise UpError(
        f"The ports {DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TO_TRY - 1} of {HOST} are all in use. "
        "Set PORT to a free one."
    )


def choose_spare(wanted: str) -> dict[str, str]:
    """How few and how many workers may be started and stopped beside the one there is, as they are needed."""
    least, _, most = wanted.partition("-")
    if wanted and not (least.isdecimal() and most.isdecimal() and int(least) <= int(most) <= 100):
        raise UpError(f"{SPARE} is {wanted!r}; give how few and how many, such as 0-3, at most 100.")
    return {SPARE: wanted} if wanted else {}


def choose_examples() -> dict[str, str]:
    """The services that our apps talk to: those that the environment names, else the examples, run by us."""
    chosen: dict[str, str] = {}
    for url, (file, first, path, nothing) in EXAMPLES.items():
        if url in os.environ:
            continue
        taken = set(chosen.values())
        ports = range(first, first + PORTS_TO_TRY)
        port = next((port for port in ports if str(port) not in taken and _is_free(port)), None)
        if port is None:
            raise UpError(
                f"The ports {first} to {first + PORTS_TO_TRY - 1} of {HOST} are all in use, and the example {file} "
                f"needs one. Set {url} to a service of your own, {nothing}."
            )
        chosen |= {EXAMPLE_PORT + url: str(port), url: f"http://{HOST}:{port}{path}"}
    return chosen


def admin_password(home: Path) -> str:
    """The password of the demo's admin user: from the environment, or made once and kept in home."""
    given = os.environ.get("PUNCTUAL_ADMIN_PASSWORD")
    if given:
        return given
    password = "-".join("".join(secrets.choice(READABLE) for _ in range(4)) for _ in range(3))
    return embedded.kept_secret(home, "admin-password", password)


def start_databases(run: Run, home: Path, ending: ExitStack) -> dict[str, str]:
    """Make sure that both databases answer; the answer is what the processes need in their environment."""
    run.database_url = os.environ.get("DATABASE_URL", "")
    run.redis_url = os.environ.get("REDIS_URL", "")
    # First what may be wrong, then what takes time.
    if run.database_url:
        reachability.check_database(run.database_url)
    if run.redis_url:
        reachability.check_redis(run.redis_url)
    if not (run.database_url and run.redis_url):
        services = ending.enter_context(
            embedded.start(home, postgres=not run.database_url, valkey=not run.redis_url, demo=True)
        )
        run.servers = services.servers
        run.database_url = run.database_url or services.database_url or ""
        run.redis_url = run.redis_url or services.redis_url or ""
    return {
        "DATABASE_URL": run.database_url,
        "REDIS_URL": run.redis_url,
        "PUNCTUAL_HOME": str(home),
        "DEMO": "1",
    }


def manage(command: str, env: dict[str, str]) -> None:
    """Run a management command to its end."""
    whole = [sys.executable, str(BASE_DIR / "manage.py"), command]
    status = run_to_end(ProcessSpec("setup", whole, env, BASE_DIR))
    if status != 0:
        raise UpError(f"`manage.py {command}` failed with exit status {status}; what it printed is above.")


def _announce_when_ready(run: Run, password: str) -> None:
    supervisor = run.supervisor
    while supervisor and not supervisor.stop_requested:
        supervisor.run_once()
        if answers(run.port):
            print(_banner(run, password))
            return
        supervisor.pause()


def _banner(run: Run, password: str) -> str:
    lines = [f"Punctual  {run.url}", f"Login     admin / {password}", "Stop      Ctrl-C"]
    width = max(map(len, lines)) + 2
    rule = "─" * width
    return "\n".join([f"┌{rule}┐", *(f"│ {line:<{width - 1}}│" for line in lines), f"└{rule}┘"])


def _handle_signals(run: Run) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up is meant to change nothing.
        if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue
        signal.signal(number, run.on_signal)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _close_stdout() -> None:
    """Where nobody reads our output any more, let the interpreter's last flush not fail."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
