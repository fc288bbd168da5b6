"""Somebody else's project with its own processes, in an environment of its own and on a database of its own."""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.support.stack import ROOT, Process
from tests.support.wait import wait_until

TEMPLATE = ROOT / "tests" / "shop"
OWNER, PASSWORD = "owner", "a password of the shop"
_NO_CACHES = shutil.ignore_patterns("__pycache__")


class Shop:
    def __init__(self, folder: Path, programs: Path, *, database_url: str, redis_url: str, **env: str) -> None:
        self.folder = folder / "project"
        self.programs = programs
        self.logs_folder = folder
        self.redis_url = redis_url
        self.processes: list[Process] = []
        self.web: Process | None = None
        self.url = ""
        shutil.copytree(TEMPLATE, self.folder, ignore=_NO_CACHES)
        self._server = database_url
        self._name = f"shop_{os.getpid()}"
        with psycopg.connect(database_url, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {self._name} TEMPLATE template0")
        self.database = psycopg.connect(database_url, dbname=self._name, autocommit=True)
        # Nothing of the tests' own environment: not its settings, not its packages, not its pip.
        self.env = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": redis_url,
            "BROKER_URL": _for_celery(redis_url),
            **_libpq(database_url),
            "PGDATABASE": self._name,
            **env,
        }

    def run(self, command: str, *, code: int | None = 0) -> str:
        """What it printed; it must end with this code, unless any will do."""
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=720
        )
        assert code is None or done.returncode == code, f"$ {command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, command: str) -> Process:
        log = self.logs_folder / f"{len(self.processes)}.log"
        with log.open("w") as out:
            popen = subprocess.Popen(
                ["/bin/bash", "-c", command],
                cwd=self.folder,
                env=self.env,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process = Process(command, popen, log)
        self.processes.append(process)
        return process

    def serve(self) -> None:
        """Start its web process, or another in its place."""
        if self.web is not None:
            self.web.kill()
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.web = self.start(f"python manage.py runserver --noreload --insecure 127.0.0.1:{port}")
        self.wait(lambda: not self.web.alive or _listens(port))
        assert self.web.alive, self.web.text()

    def stop(self, *processes: Process) -> None:
        for process in processes or self.processes:
            process.kill()

    def wait(self, condition: Callable[[], object], timeout: float = 90) -> None:
        wait_until(condition, timeout, describe=self.logs)

    def logs(self) -> str:
        return "\n".join(f"--- {one.name}\n{one.text()[-3000:]}" for one in self.processes)

    def rows(self, statement: str, *values: object) -> list[tuple]:
        return self.database.execute(statement, values or None).fetchall()

    def write(self, statement: str, *values: object) -> None:
        self.database.execute(statement, values or None)

    def hire_owner(self) -> None:
        """A superuser, who logs in at any page of the admin."""
        hashed = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1)
        self.write(
            "INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name,"
            " email, date_joined) VALUES (%s, %s, true, true, true, '', '', '', now())",
            OWNER,
            hashed,
        )

    def schema(self) -> list[tuple]:
        """All that is declared in its database."""
        return [row for statement in _CATALOGUE for row in self.rows(statement)]

    def files(self) -> dict[str, str]:
        return {
            path.relative_to(self.folder).as_posix(): path.read_text()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.suffix != ".pyc"
        }

    def close(self) -> None:
        for process in self.processes:
            process.signal_all(signal.SIGCONT)
            process.kill()
        self.database.close()
        with psycopg.connect(self._server, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)")


_CATALOGUE = (
    "SELECT 'column', table_name, column_name, data_type, is_nullable, column_default, is_identity"
    " FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 2, 3",
    "SELECT 'relation', relkind::text, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 2, 3",
    "SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 2",
    "SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace ORDER BY 2",
    "SELECT 'trigger', pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 2",
    "SELECT 'function', pg_get_functiondef(oid) FROM pg_proc"
    " WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p') ORDER BY 2",
    "SELECT 'type', typname FROM pg_type WHERE typnamespace = 'public'::regnamespace ORDER BY 2",
    "SELECT 'extension', extname FROM pg_extension ORDER BY 2",
    "SELECT 'schema', nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp' ORDER BY 2",
    "SELECT 'setting', setconfig FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid"
    " WHERE datname = current_database()",
    # What Django notes about the apps.
    "SELECT 'model', app_label, model FROM django_content_type ORDER BY 2, 3",
    "SELECT 'right', codename, name FROM auth_permission ORDER BY 2, 3",
    "SELECT 'migration', app, name FROM django_migrations ORDER BY 2, 3",
    "SELECT 'log', object_repr FROM django_admin_log ORDER BY 2",
)


def _libpq(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    found = {
        "PGHOST": query.get("host") or parts.hostname or "",
        "PGPORT": query.get("port") or str(parts.port or ""),
        "PGUSER": unquote(parts.username or ""),
        "PGPASSWORD": unquote(parts.password or ""),
    }
    return {name: value for name, value in found.items() if value}


def _for_celery(redis_url: str) -> str:
    return re.sub(r"^unix://", "redis+socket://", redis_url)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
