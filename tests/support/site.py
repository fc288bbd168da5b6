"""Sites in tests: being a process of one, being alive there, and a call whose transaction stays open."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction
from django.test import override_settings

from tasks_app.engine.nodes import new_node_id
from tasks_app.lifecycle.installation import look
from tasks_app.models import Node
from tasks_app.sql import execute
from tests.support.sides import sides


@contextmanager
def at(site: str, **more: object) -> Iterator[None]:
    """This process is one of that site, which has been told to stand by."""
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"SITE": site, "STANDBY": 1} | more):
        yield


def beat_at(site: str, *, seconds_ago: float = 0.0) -> None:
    """A beat of that site has given a sign of life."""
    node = Node.objects.create(node_id=new_node_id(), kind=Node.BEAT, name=f"beat at {site}", site=site)
    execute(
        "UPDATE punctual_node SET seen_at = clock_timestamp() - make_interval(secs => %s) WHERE node_id = %s",
        [seconds_ago, node.node_id],
    )


def silent(seconds: float) -> None:
    """Nobody at the active site has given a sign of life for so long."""
    look()
    execute("UPDATE punctual_installation SET site_since = clock_timestamp() - make_interval(secs => %s)", [seconds])
    execute("UPDATE punctual_node SET seen_at = clock_timestamp() - make_interval(secs => %s)", [seconds])
    execute(
        "INSERT INTO punctual_sign (kind, address, at) "
        "VALUES ('beat', '', clock_timestamp() - make_interval(secs => %s)) "
        "ON CONFLICT (kind, address) DO UPDATE SET at = excluded.at",
        [seconds],
    )


class Held:
    """A call that was made, in a transaction that is not over."""

    def __init__(self) -> None:
        self.value: object = None
        self.made = threading.Event()
        self.go_on = threading.Event()
        self.end: Future | None = None

    def commit(self) -> object:
        self.go_on.set()
        self.end.result(20)
        return self.value


@contextmanager
def held_open(call: Callable[[], object]) -> Iterator[Held]:
    held = Held()

    def run() -> None:
        try:
            with transaction.atomic():
                held.value = call()
                held.made.set()
                held.go_on.wait(20)
        finally:
            held.made.set()

    with sides(1) as begin:
        held.end = begin(0, run)
        held.made.wait(20)
        try:
            yield held
        finally:
            held.go_on.set()
            held.end.exception(20)
