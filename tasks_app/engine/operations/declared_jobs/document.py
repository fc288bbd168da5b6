"""What a file says: its jobs as declarations, and what is wrong with them, each with its place.

Fields are read by the types that JobRequest gives them, so a new one can be declared without further work.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple, get_type_hints

from tasks_app.core.errors import InvalidTask, PunctualError, nearest
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.tenants import TENANT_LENGTH
from tasks_app.lifecycle.jobs.declared import Declaration
from tasks_app.lifecycle.jobs.request import FIELDS, OF_A_CHILD, OF_A_SCHEDULE, WHEN, JobRequest
from tasks_app.lifecycle.request import checked_name
from tasks_app.models.declared_job import SOURCE_LENGTH

from .fitting import fitting, kind_of, text_of

MOST_JOBS = 5_000  # in one file: they are applied in one transaction
_DEFAULTS = {field.name: field.default for field in fields(JobRequest)}
_REQUIRED = tuple(field.name for field in fields(JobRequest) if field.default is MISSING)
_OF_FILE = ("source", "tenant", "defaults", "jobs")
_OF_JOB = (*FIELDS, "tenant", "renamed_from")
_OF_DEFAULTS = tuple(name for name in _OF_JOB if name not in ("name", "renamed_from"))
_NEVER = {
    "delay": "every apply would mean another time. Use at",
    "status": "whether a job is paused is for people to say, not for a file",
    "paused": "whether a job is paused is for people to say, not for a file",
}


class BadFile(PunctualError):
    """The file can't be applied; nothing was changed. `problems`: each with its place."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class Value:
    """Something in a file: a scalar, a list of Values, or a dict of them; and the line that it is in."""

    value: object
    line: int | None = None

    @property
    def plain(self) -> object:
        if isinstance(self.value, dict):
            return {name: one.plain for name, one in self.value.items()}
        if isinstance(self.value, list):
            return [one.plain for one in self.value]
        return self.value


class Placed(NamedTuple):
    """A declaration, and where it stands."""

    declaration: Declaration
    tenant: str
    file: str
    line: int | None = None
    lines: Mapping[str, int | None] = {}  # of its fields

    @property
    def name(self) -> str:
        return self.declaration.request.name

    @property
    def parents(self) -> list[tuple[str, str]]:
        """The jobs that it comes after, each with its tenant."""
        return [(self.tenant, name) for name in self.declaration.request.parents]

    def problem(self, words: str, field: str | None = None) -> str:
        """What is wrong with it, with its place."""
        return f"{_place(self.file, self.lines.get(field or '', self.line))}: job {self.name!r}: {words}"


class JobFile(NamedTuple):
    name: str  # as it was asked for
    source: str
    named: bool  # somebody has said what its source is; else it is the file's name
    jobs: Sequence[Placed]


def file_of(whole: Value, file: str, source: str | None) -> JobFile:
    """What a file says; BadFile tells all that is wrong with it."""
    given = whole.value
    if not isinstance(given, dict):
        raise BadFile([f"{_place(file, whole.line)}: the file is {kind_of(given)}; it must be like `jobs: [...]`."])
    for name in given:
        if name not in _OF_FILE:
            words = f"a file has no {name!r}; it has {', '.join(_OF_FILE)}.{nearest(name, _OF_FILE)}"
            raise BadFile([f"{_place(file, given[name].line)}: {words}"])
    jobs = given.get("jobs")
    if jobs is None or not isinstance(jobs.value, list):
        found = "has no `jobs:`" if jobs is None else f"has {kind_of(jobs.value)} as its jobs"
        words = "it must have a list of jobs, `jobs: []` if it declares none."
        raise BadFile([f"{_place(file, jobs and jobs.line)}: the file {found}; {words}"])
    problems: list[str] = []
    tenant = _told(problems, file, given, "tenant")
    stated = source or _told(problems, file, given, "source")
    defaults = _defaults(problems, file, given.get("defaults"))
    placed = [_job(problems, file, number, one, defaults, tenant) for number, one in enumerate(jobs.value, 1)]
    return checked_file(file, stated, [one for one in placed if one is not None], problems)


def checked_file(file: str, source: str | None, jobs: Sequence[Placed], problems: Iterable[str] = ()) -> JobFile:
    """The file, if nothing is wrong with it as a whole either."""
    problems = [*problems, *_too_many(file, jobs), *_twice(jobs), *_bad_renames(jobs)]
    stated = source or file.rpartition("/")[2]
    try:
        checked_name("source", stated, SOURCE_LENGTH)
    except InvalidTask as error:
        problems.append(f"{file}: {error}")
    if problems:
        raise BadFile(problems)
    return JobFile(file, stated, bool(source), jobs)


def checked_request(request: JobRequest) -> JobRequest:
    """Its fields, each of the type that it should have."""
    given = {
        name: getattr(request, name) for name in FIELDS if getattr(request, name) is not _DEFAULTS.get(name, MISSING)
    }
    read: dict[str, Any] = {name: fitting(_hints()[name], value) for name, value in given.items()}
    return replace(request, **read)


def placed(
    declaration: Declaration, file: str, line: int | None = None, lines: Mapping[str, int | None] | None = None
) -> Placed:
    tenant = REGISTRY.tenant_of(declaration.request.task_type, declaration.tenant)
    return Placed(declaration, checked_name("tenant", tenant, TENANT_LENGTH), file, line, lines or {})


@cache
def _hints() -> dict[str, object]:
    return get_type_hints(JobRequest, include_extras=True)


def _job(
    problems: list[str], file: str, number: int, one: Value, defaults: Mapping[str, Value], tenant: str | None
) -> Placed | None:
    given = one.value
    if not isinstance(given, dict):
        problems.append(f"{_place(file, one.line)}: job {number} is {kind_of(given)}; it must have fields.")
        return None
    name = given["name"].value if "name" in given else None
    who = f"job {name!r}" if isinstance(name, str) else f"job {number}"
    defaults = {name: value for name, value in defaults.items() if name not in _replaced(given)}
    before = len(problems)
    values: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for field, value in {**defaults, **given}.items():
        try:
            read = _field(field, value, _OF_JOB)
        except InvalidTask as error:
            problems.append(f"{_place(file, value.line)}: {who}: {error}")
            continue
        if read is not None:
            (values if field in FIELDS else more)[field] = read
    for field in _REQUIRED:
        if field not in values and len(problems) == before:
            problems.append(f"{_place(file, one.line)}: {who}: {field} is missing.")
    if len(problems) > before:
        return None
    more.setdefault("tenant", tenant)
    lines = {field: value.line for field, value in given.items()}
    try:
        return placed(Declaration(JobRequest(**values), **more), file, one.line, lines)
    except InvalidTask as error:
        problems.append(f"{_place(file, one.line)}: {who}: {error}")
        return None


def _replaced(given: Mapping[str, Value]) -> tuple[str, ...]:
    """The defaults that don't count for a job which says itself when it runs: by a time, or after others."""
    if "parents" in given and given["parents"].value:
        return tuple(OF_A_SCHEDULE)
    return (*WHEN, *OF_A_CHILD) if any(given[when].value is not None for when in WHEN if when in given) else ()


def _field(name: str, value: Value, known: Sequence[str]) -> object:
    """None: as if it were left out."""
    if name in _NEVER:
        raise InvalidTask(f"a file can't have {name!r}: {_NEVER[name]}.")
    if name not in known:
        raise InvalidTask(f"a job has no field {name!r}.{nearest(name, known)}")
    if value.value is None:
        return None
    try:
        return fitting(_hints().get(name, str), value.plain)
    except InvalidTask as error:
        raise InvalidTask(f"{name}: {error}") from None


def _defaults(problems: list[str], file: str, given: Value | None) -> dict[str, Value]:
    if given is None or given.value is None:
        return {}
    if not isinstance(given.value, dict):
        problems.append(f"{_place(file, given.line)}: defaults is {kind_of(given.value)}; it must have fields of jobs.")
        return {}
    good = {}
    for name, value in given.value.items():
        try:
            _field(name, value, _OF_DEFAULTS)
            good[name] = value
        except InvalidTask as error:
            problems.append(f"{_place(file, value.line)}: defaults: {error}")
    return good


def _told(problems: list[str], file: str, given: Mapping[str, Value], name: str) -> str | None:
    """The name that a file has for itself, or for the tenant of its jobs."""
    if name not in given or given[name].value is None:
        return None
    try:
        return text_of(given[name].plain)
    except InvalidTask as error:
        problems.append(f"{_place(file, given[name].line)}: {name}: {error}")
        return None


def _too_many(file: str, jobs: Sequence[Placed]) -> Iterator[str]:
    if len(jobs) > MOST_JOBS:
        words = "they are applied in one transaction. Split it into several files, each with a `source:` of its own."
        yield f"{file}: {len(jobs):,} jobs are too many; a file has at most {MOST_JOBS:,}, since {words}"


def _twice(jobs: Sequence[Placed]) -> Iterator[str]:
    seen: dict[tuple[str, str], Placed] = {}
    for one in jobs:
        first = seen.setdefault((one.tenant, one.name), one)
        if first is not one:
            yield one.problem(f"it is declared twice, first {_line(first)}. Remove one of them.")


def _bad_renames(jobs: Sequence[Placed]) -> Iterator[str]:
    names = {(one.tenant, one.name) for one in jobs}
    seen: dict[tuple[str, str], Placed] = {}
    for one in jobs:
        old = one.declaration.renamed_from
        if not old:
            continue
        if (one.tenant, old) in names:
            words = f"renamed_from is {old!r}, but the file still has a job of this name. Rename it in two steps"
            yield one.problem(f"{words}: apply the one, then the other.", "renamed_from")
        elif (first := seen.setdefault((one.tenant, old), one)) is not one:
            yield one.problem(f"renamed_from is {old!r}, and so is that of job {first.name!r}.", "renamed_from")


def _line(one: Placed) -> str:
    return f"in line {one.line}" if one.line else "above"


def _place(file: str, line: int | None) -> str:
    return f"{file}:{line}" if line else file
