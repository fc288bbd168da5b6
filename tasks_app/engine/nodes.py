"""The identity of this process, and how it reports itself as live."""

import json
import os
import re
import socket
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from tasks_app import __version__
from tasks_app.conf import conf
from tasks_app.core import own_process
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.models import Node
from tasks_app.sealing import keyring
from tasks_app.sql import run


def process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:200]


@dataclass(frozen=True, slots=True)
class Drain:
    """Since when a worker takes nothing more, who wanted it and why."""

    at: datetime | None = None  # None: it takes batches
    by: str = ""
    reason: str = ""


NOT_DRAINED = Drain()
_worker: str | None = None  # the name of the worker that this process is, or is a child of


def be_worker(name: str) -> None:
    """This process is the worker of this name or a child of it; its own children inherit that if they are forked."""
    global _worker
    _worker = name


def slot_name() -> str:
    """Who starts a batch here: the worker, and which of its children if it has any."""
    own = process_name()
    return own if _worker in (None, own) else f"{_worker}:{os.getpid()}"[:200]


def worker_of(slot: str) -> str:
    """The name of the worker that a slot belongs to."""
    found = re.fullmatch(r"(.+:\d+):\d+", slot)
    return found[1] if found else slot


def is_here(name: str) -> bool:
    """Whether a process of this name is one of this machine, or of this container."""
    return name.rpartition(":")[0] == socket.gethostname()


def report_worker(node_id: UUID, name: str, slots: int, lanes: list[str], known: Drain = NOT_DRAINED) -> Drain:
    """And hear whether it is drained; `known`: what it heard before."""
    told = {"node_id": node_id, "kind": Node.WORKER, "name": name, "slots": slots, "lanes": lanes}
    told |= {"site": conf().site, "figures": own_figures()}
    told |= {"drained_at": known.at, "drained_by": known.by, "drain_reason": known.reason}
    return Drain(*run("report_node", told)[0])


def own_figures() -> str:
    """Of this process and its children, its version, and the ids of the installation's keys that it has; and that it
    reads payloads in bytes, which older ones don't (see data_keys.py)."""
    try:
        keys = keyring().ids
    except InvalidConfiguration:  # they can't be read: it has none, and that is told of it
        keys = []
    return json.dumps(own_process.figures() | {"in_bytes": True, "keys": keys, "version": own_version()})


def own_version() -> str:
    """Punctual's, and that of the project if its settings name one."""
    return f"{__version__} {conf().RELEASE}".strip()


def forget(node_id: UUID) -> None:
    """A clean shutdown: nobody has to wait until this node's silence is noticed."""
    Node.objects.filter(node_id=node_id).delete()


def new_node_id() -> UUID:
    return uuid4()
