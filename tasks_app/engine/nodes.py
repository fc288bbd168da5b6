"""The identity of this process, and how it reports itself as live."""

import json
import os
import socket
from uuid import UUID, uuid4

from tasks_app.conf import conf
from tasks_app.core import own_process
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.models import Node
from tasks_app.sealing import keyring
from tasks_app.sql import run


def process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:200]


def is_here(name: str) -> bool:
    """Whether a process of this name is one of this machine, or of this container."""
    return name.rpartition(":")[0] == socket.gethostname()


def report_worker(node_id: UUID, name: str, slots: int, lanes: list[str]) -> None:
    told = {"node_id": node_id, "kind": Node.WORKER, "name": name, "slots": slots, "lanes": lanes}
    run("report_node", told | {"site": conf().site, "figures": own_figures()})


def own_figures() -> str:
    """Of this process and its children, and the ids of the installation's keys that it has, for its node."""
    try:
        keys = keyring().ids
    except InvalidConfiguration:  # they can't be read: it has none, and that is told of it
        keys = []
    return json.dumps(own_process.figures() | {"keys": keys})


def forget(node_id: UUID) -> None:
    """A clean shutdown: nobody has to wait until this node's silence is noticed."""
    Node.objects.filter(node_id=node_id).delete()


def new_node_id() -> UUID:
    return uuid4()
