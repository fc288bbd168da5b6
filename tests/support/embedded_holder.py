"""Owns a process that holds a stack, so that a test can kill it: `python -m tests.support.embedded_holder HOME`.

It prints one line of JSON when the stack answers, or the sentence of the error, and stays until stdin ends.
"""

from __future__ import annotations

import importlib
import json
import os
import pwd
import signal
import sys
import threading
from pathlib import Path

from tasks_app import embedded


def main(home: str, *flags: str) -> int:
    if "as-nobody" in flags:
        become_nobody()
    try:
        services = start_in_thread(home) if "untied" in flags else embedded.start(Path(home))
    except embedded.EmbeddedError as error:
        say({"error": str(error)})
        return 1
    child = fork_idle_child() if "fork" in flags else None
    with services:
        say(
            {
                "database_url": services.database_url,
                "redis_url": services.redis_url,
                "postgres": services.postgres.pid,
                "valkey": services.valkey.pid,
                "child": child,
            }
        )
        sys.stdin.read()
    return 0


def become_nobody() -> None:
    """Drop root for good; what is imported later is imported now, since our Python may lie where nobody can't go."""
    importlib.import_module("psycopg")
    importlib.import_module("encodings.idna")
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)


def start_in_thread(home: str) -> embedded.Services:
    """Start from another thread than the main one: such servers aren't tied to us and survive our death."""
    started: list[embedded.Services] = []
    thread = threading.Thread(target=lambda: started.append(embedded.start(Path(home))))
    thread.start()
    thread.join()
    return started[0]


def fork_idle_child() -> int:
    """A child like those of a worker pool: it has all that we have, and outlives us. It is past its fork hooks."""
    ours, childs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(childs, b".")
        signal.pause()
    os.read(ours, 1)
    return pid


def say(content: dict) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
