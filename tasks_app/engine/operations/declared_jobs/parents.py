"""The parents of declared jobs: what the graphs would be after a file was applied, and what can't be of that."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Q

from tasks_app.core.errors import nearest
from tasks_app.core.graphs import find_cycle, layers
from tasks_app.lifecycle.jobs.family import graph_of
from tasks_app.models import JobDefinition

from .document import JobFile, Placed

Unit = tuple[str, str]  # tenant and name
Graph = Mapping[Unit, Sequence[Unit]]


class Changes(NamedTuple):
    """What a file would do to jobs."""

    declared: Sequence[tuple[Placed, JobDefinition | None]]  # as it has them, each with the job that it is now
    pruned: Sequence[JobDefinition]


def problems_of_parents(file: JobFile, changes: Changes) -> Iterator[str]:
    """All jobs that the file touches are looked at, and those that come before or after them, too."""
    wanted = {(one.tenant, one.name): one for one, _ in changes.declared}
    after, orphans = _after(changes, wanted)
    wrong = [*_without_parent(file, wanted, after, orphans)]
    if not wrong:
        circle = find_cycle(after)
        wrong = [_circle(file, wanted, circle)] if circle else [*_two_roots(file, wanted, after)]
    yield from wrong


def _after(changes: Changes, wanted: Mapping[Unit, Placed]) -> tuple[Graph, Sequence[tuple[Unit, Unit]]]:
    """The graphs as they would be; and who else waits for a job that would be deleted, with that."""
    known = {job.id: (one.tenant, one.name) for one, job in changes.declared if job is not None}
    pruned = {job.id for job in changes.pruned}
    named = {unit for one in wanted.values() for unit in one.parents} - wanted.keys()
    tenants, names = {tenant for tenant, _ in named}, {name for _, name in named}
    rows = JobDefinition.objects.filter(Q(id__in=[*known, *pruned]) | Q(tenant__in=tenants, name__in=names))
    if not named and not any(one.declaration.request.parents for one in wanted.values()):
        rows = rows.filter(Q(has_parents=True) | Q(has_children=True))  # the others have nothing to do with graphs
    graph = graph_of(rows.values_list("id", flat=True))
    units = {id_: (tenant, name) for id_, tenant, name in _names(graph)} | known
    orphans = [
        (units[id_], units[one]) for id_, above in graph.items() for one in above
        if one in pruned and id_ not in pruned and id_ not in known
    ]  # fmt: skip
    stays = {units[id_]: [units[one] for one in above] for id_, above in graph.items() if id_ not in pruned}
    return stays | {unit: one.parents for unit, one in wanted.items()}, orphans


def _names(ids: Mapping[int, object]) -> Sequence[tuple[int, str, str]]:
    names: Sequence[tuple[int, str, str]] = JobDefinition.objects.filter(id__in=list(ids)).values_list(
        "id", "tenant", "name"
    )
    return names


def _without_parent(
    file: JobFile, wanted: Mapping[Unit, Placed], after: Graph, orphans: Sequence[tuple[Unit, Unit]]
) -> Iterator[str]:
    for (_, child), (_, parent) in orphans:
        words = f"--prune would delete job {parent!r}, but {child!r} comes after it, and is not in the file"
        yield f"{file.name}: {words}. Take it out of the parents of {child!r} first."
    for one in wanted.values():
        for tenant, name in one.parents:
            if (tenant, name) not in after:
                hint = nearest(name, [other for owner, other in after if owner == tenant])
                words = f"parents has {name!r}, but there would be no job of that name."
                yield one.problem(words + (hint or " Declare it in the file, too, or create it first."), "parents")


def _circle(file: JobFile, wanted: Mapping[Unit, Placed], circle: Sequence[Unit]) -> str:
    way = " → ".join(repr(name) for _, name in reversed(circle))
    words = f"parents: these jobs would wait for each other: {way}. Leave one of these parents out."
    return _told(file, next((wanted[unit] for unit in circle if unit in wanted), None), words)


def _two_roots(file: JobFile, wanted: Mapping[Unit, Placed], after: Graph) -> Iterator[str]:
    """Told of the job at which two graphs meet, and not of all that come after it."""
    roots: dict[Unit, frozenset[Unit]] = {}
    for unit in (unit for layer in layers(after) for unit in layer):
        above = [roots[one] for one in after[unit]]
        roots[unit] = frozenset().union(*above) or frozenset([unit])
        if len(roots[unit]) > 1 and all(len(one) == 1 for one in above):
            both = " and ".join(repr(name) for _, name in sorted(roots[unit])[:2])
            words = f"parents: {unit[1]!r} would come after {both}, each with a schedule of its own; a graph has one."
            way = "Make one of them wait for the other, or give both the same parent, and that one the schedule."
            yield _told(file, wanted.get(unit), f"{words} {way}")


def _told(file: JobFile, one: Placed | None, words: str) -> str:
    return f"{file.name}: {words}" if one is None else one.problem(words, "parents")
