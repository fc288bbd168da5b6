"""Owns a stack that lives as long as a `with`: temporary data, its own servers, an empty database with its tables.

For what must start from nothing and leave nothing: the demo, the benches, the chaos runs. It sets this process's
environment and Django up, so there is one of them in a process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tasks_app import embedded
from tasks_app.embedded.standby import Standby


@dataclass(frozen=True)
class TemporaryStack:
    folder: Path  # for logs and the like; gone at the end
    services: embedded.Services
    env: Mapping[str, str]  # what a process of this stack needs in its environment
    standby: Standby | None = None  # of the database: the second server in DATABASE_URL


@contextmanager
def temporary_stack(
    name: str, settings_module: str, *, with_standby: bool = False, synchronous: bool = True, **env: str
) -> Iterator[TemporaryStack]:
    """Servers that answer, Django set up with these settings, the tables made; the processes are the caller's."""
    with tempfile.TemporaryDirectory(prefix=f"punctual-{name}-") as folder:
        home = Path(folder) / "home"
        services = embedded.start(home)
        standby = Standby(services.postgres, Path(folder) / "standby") if with_standby else None
        try:
            if standby is not None:
                standby.follow()
                if synchronous:
                    standby.be_synchronous()
            env = {
                "DATABASE_URL": services.database_url if standby is None else standby.url_of_both,
                "REDIS_URL": services.redis_url,
                "PUNCTUAL_HOME": str(home),
                "DJANGO_SETTINGS_MODULE": settings_module,
                **env,
            }
            os.environ.update(env)
            _make_tables()
            yield TemporaryStack(Path(folder), services, env, standby)
        finally:
            _close_connections()
            if standby is not None:
                standby.discard()
            services.discard()


def _make_tables() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    # run_syncdb: the effects of benches and chaos handlers are tables without migrations.
    call_command("migrate", verbosity=0, run_syncdb=True)


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()
