"""`python -m django_punctual.embedded`: a PostgreSQL and a Valkey to try things on, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from . import EmbeddedError, Services, start

LOOK_SECONDS = 1.0


def main() -> int:
    home = Path(os.environ.get("PUNCTUAL_HOME") or ".punctual").resolve()
    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told.set())
    try:
        with start(home) as services:
            _say(f"export DATABASE_URL='{services.database_url}'\nexport REDIS_URL='{services.redis_url}'")
            _say(f"# PostgreSQL and Valkey keep their data in {home}; Ctrl-C stops them.")
            while not told.wait(LOOK_SECONDS):
                _refuse_death(services)
    except EmbeddedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _refuse_death(services: Services) -> None:
    for server in services.servers:
        if not server.alive:
            raise EmbeddedError(
                f"{server.title} ended with status {server.exit_status}. Its log {server.log} ends with:\n"
                f"{server.log_tail()}"
            )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
