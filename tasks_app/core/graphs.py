"""Graphs of jobs: the words of waiting for parents, and what can be said of a graph without asking anybody."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

MOST_JOBS = 10_000  # in one graph: the instances of all of them are made in one transaction

Node = TypeVar("Node")
Ordered = TypeVar("Ordered", int, str)


class When(StrEnum):
    """What a job waits for."""

    ALL_SUCCESS = "all_success"  # every parent succeeded
    ALL_DONE = "all_done"  # every parent is over, however it ended
    ANY_FAILED = "any_failed"  # a parent gave up or was cancelled: for clean-up


class IfParentFails(StrEnum):
    """What becomes of an instance that waits for a success which did not come."""

    WAIT = "wait"  # until somebody replays the parent
    CANCEL = "cancel"


PARENT_FAILED = "PARENT_FAILED"  # error_code of an instance that was cancelled since a parent failed
NOT_NEEDED = "NOT_NEEDED"  # and of one that nothing is left to do for
NO_FAILURES = (NOT_NEEDED, "OVERLAP", "OVERTAKEN")  # cancelled with these, nothing has failed


class RunState(StrEnum):
    """How a run of a whole graph stands."""

    WAITING = "waiting"  # nothing of it has begun
    RUNNING = "running"
    STUCK = "stuck"  # nothing goes on until somebody acts
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # over, and something of it gave up or was cancelled
    UNKNOWN = "unknown"  # over; nothing that is still kept of it failed, and some of it is kept no longer


def find_cycle(parents: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """Nodes that wait for each other, the first of them again at the end; none if there is no such circle."""
    done: set[Node] = set()
    for start in parents:
        path: dict[Node, None] = {}
        ways = [iter([start])]
        while ways:
            node = next(ways[-1], None)
            if node is None:
                ways.pop()
                if path:
                    done.add(path.popitem()[0])
            elif node in path:
                circle = list(path)
                return [*circle[circle.index(node) :], node]
            elif node not in done:
                path[node] = None
                ways.append(iter(parents.get(node, ())))
    return []


def roots_of(nodes: Iterable[Node], parents: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """The ancestors of these that wait for nobody; a node without parents is its own."""
    todo, seen, found = list(nodes), set(), set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        above = list(parents.get(node, ()))
        todo += above
        if not above:
            found.add(node)
    return found


def two_roots_of_each(parents: Mapping[Ordered, Sequence[Ordered]]) -> dict[Ordered, list[Ordered]]:
    """For each node, the first two of its ancestors that wait for nobody; in one pass. There must be no circle."""
    found: dict[Ordered, list[Ordered]] = {}
    todo = list(parents)
    while todo:
        node = todo[-1]
        above = parents.get(node, ())
        if node not in found and (waiting := [parent for parent in above if parent not in found]):
            todo += waiting
            continue
        todo.pop()
        found[node] = sorted({root for parent in above for root in found[parent]})[:2] if above else [node]
    return found


def descendants_of(nodes: Iterable[Node], parents: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """All that wait for one of these, directly or through others; without these themselves unless they wait too."""
    children: dict[Node, list[Node]] = {}
    for child, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(child)
    todo, found = list(nodes), set()
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def layers(parents: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """The nodes by how many others come before them on the longest way, each layer in the order given."""
    depth: dict[Node, int] = {}
    todo = list(parents)
    while todo:
        node = todo[-1]
        waiting = [parent for parent in parents[node] if parent in parents and parent not in depth]
        if waiting:
            todo += waiting
            continue
        todo.pop()
        depth[node] = 1 + max((depth[parent] for parent in parents[node] if parent in depth), default=-1)
    found: list[list[Node]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for node in parents:
        found[depth[node]].append(node)
    return found


class Span(NamedTuple):
    """When a node ran; None: not yet."""

    began: datetime | None
    ended: datetime | None


def critical_path(parents: Mapping[Node, Sequence[Node]], spans: Mapping[Node, Span]) -> list[Node]:
    """The nodes that the end of the run waited for: from the last that ended back to whoever let each begin."""
    ended = {node: span.ended for node, span in spans.items() if span.ended is not None}
    if not ended:
        return []
    path = [max(ended, key=lambda node: ended[node])]
    while before := [parent for parent in parents.get(path[-1], ()) if parent in ended]:
        path.append(max(before, key=lambda node: ended[node]))
    return path[::-1]
