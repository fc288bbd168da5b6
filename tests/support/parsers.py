"""What reads text of users, each with the largest it can be given and texts that are hard for it; and what looks as if
it did, with the reason why it does not."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from importlib import import_module
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.core.exceptions import BadRequest, SuspiciousOperation, ValidationError
from django.core.management import CommandError
from django.http import Http404
from django.test import RequestFactory

from tasks_app.api.problems import Problem
from tasks_app.core.errors import PunctualError
from tasks_app.core.payloads.kind import Unfit
from tasks_app.core.result import NotKept
from tasks_app.engine.envelope import NotOurs

LINE = 8_192  # bytes of a header, or of an address with its query
BODY = 212_992  # bytes of a request about one thing; docs/api.md
MANY = 2_621_440  # and about many things, or of a form
HEAD = 65_536  # bytes of all headers of a request
FILE = 10 * 2**20  # bytes of what the web process takes at most

# What a parser may say to bad input; anything else is an error of ours.
REFUSALS = (
    ValueError,
    PunctualError,
    ValidationError,
    Problem,
    Http404,
    BadRequest,
    SuspiciousOperation,
    NotOurs,
    CommandError,
    ArgumentTypeError,
    Unfit,
    NotKept,
)

_AGAIN = ("a", "9", " ", "\n", "[", '"', "\\", "*", ".", "%", "é", "\0")


class Given(NamedTuple):
    """Made only where it is read: all of them at once would be gigabytes."""

    words: str
    make: Callable[[], Any]


@dataclass(frozen=True)
class Parser:
    """`call` gets each of these; by default the function itself does."""

    given: Sequence[Given]
    call: Callable[[Any], object] | None = None


def texts(size: int, *seeds: str) -> list[Given]:
    """Of this size: each seed again and again, and what is hard for parsers in general; and each seed alone."""
    made = [Given(f"{one!r} again and again", partial(_again, one, size)) for one in _AGAIN]
    made += [Given(f"{one!r} again and again, with ! at its end", partial(_again, one, size, "!")) for one in seeds]
    return made + [Given(repr(one), lambda one=one: one) for one in seeds]


def typed(*seeds: str) -> list[Given]:
    """As much as a form takes: by the general ones, only those that a field of Django's could go through."""
    return texts(MANY, "a", "%", ".", *seeds)[len(_AGAIN) :]


def _again(one: str, size: int, end: str = "") -> str:
    return one * ((size - len(end)) // len(one)) + end


def raw(size: int, *seeds: str) -> list[Given]:
    return [Given(words, lambda make=make: make().encode()[:size]) for words, make in texts(size, *seeds)]


def values(size: int) -> list[Given]:
    """JSON that a body of this size can have in it: wide, deep, with long and with many names."""
    few = min(size // 3, 250_000)
    return [
        *(Given(f"the text {one!r}…", partial(_again, one, size)) for one in "a*\x1fé9"),
        Given("a list of 0", lambda: [0] * few),
        Given("a list of 'a'", lambda: ["a"] * few),
        Given("a list of []", lambda: [[]] * few),
        Given("a list of {}", lambda: [{}] * few),
        Given("many names", lambda: {str(number): "a" * 5 for number in range(min(size // 16, 120_000))}),
        Given("a long name", lambda: {"a" * size: 0}),
        Given("a long number", lambda: 10 ** min(size, 4_000)),
        Given("200 levels", _deep),
    ]


def _deep() -> object:
    deep: object = 0
    for _ in range(200):
        deep = [deep, {"a": 0}]
    return deep


def each(*given: tuple[str, Callable[[], Any]]) -> list[Given]:
    return [Given(*one) for one in given]


def _listed(made: Callable[[], Iterator[Any]]) -> list[Given]:
    """What a generator makes, each on its own."""
    return [
        Given(f"{made.__name__} number {number}", lambda number=number: next(islice(made(), number, None)))
        for number in range(sum(1 for _ in made()))
    ]


def call_of(name: str, parser: Parser) -> Callable[[Any], object]:
    return parser.call or function_of(name)


def function_of(name: str) -> Any:
    file, _, path = name.partition(":")
    found = import_module(file.removesuffix(".py").replace("/", "."))
    for one in path.split("."):
        found = getattr(found, one)
    return found


def refused_at_most(call: Callable[[Any], object], make: Callable[[], Any]) -> None:
    """What the parser says to it; a generator is read to its end."""
    try:
        found = call(make())
        if isinstance(found, Iterator):
            for _ in found:
                pass
    except REFUSALS:
        pass


# ---- what can't be called with a text alone ----


def _form(path: str, *fields: str, **options: Any) -> Callable[[str], object]:
    """The form with this text in each of these fields; it says what is wrong, and raises nothing."""

    def call(text: str) -> object:
        made = function_of(path)(data=dict.fromkeys(fields, text), **options)
        try:
            return made.is_valid()
        except SuspiciousOperation:  # Django's own limits, which are answered with 400
            return None
        except Exception as error:
            raise AssertionError(f"{path} raised an error") from error

    return call


def _field(path: str, **options: Any) -> Callable[[str], object]:
    return lambda text: function_of(path)(**options).clean(text)


def _request(name: str, method: str = "POST", address: str = "/", **kept: Any) -> Callable[[bytes], object]:
    """A function that takes the request with this body."""

    def call(body: bytes) -> object:
        request = RequestFactory().generic(method, address, body, content_type="application/json")
        vars(request).update(kept)
        return function_of(name)(request)

    return call


def _api_body(body: bytes) -> object:
    """As the API takes a task: the body, its fields, and the payload as it is stored."""
    from tasks_app.api.edges import StrictParser
    from tasks_app.api.schemas import TaskIn
    from tasks_app.lifecycle.request import checked_json

    try:
        read = StrictParser().parse_body(RequestFactory().post("/", body, "application/json"))
    except RecursionError:  # ninja answers that the body can't be read, as it does to any exception
        return None
    return checked_json("payload", TaskIn.model_validate(read).payload)


def _body(before: str, again: str, after: str, size: int) -> bytes:
    return (before + again * ((size - len(before) - len(after)) // len(again.encode())) + after).encode()


def _bodies(size: int) -> list[Given]:
    task = '{"task_type":"T_QUIET","key":"a","payload":'
    parts = [
        *((f"{task}[", f"{one},", "0]}") for one in ("[]", '""', '{"a":0}')),
        *((task, again, "") for again in ("[", '{"a":', " ", "1")),
        *((f'{task}"', again, '"}') for again in ("a", "\\u0000", '\\"', "é")),
        (f'{task}"', "\\", ""),
        (task, "1", "}"),
    ]
    made = [
        Given(f"{one} and {size:,} bytes of {again}", partial(_body, one, again, end, size))
        for one, again, end in parts
    ]
    names = Given(
        "many names", lambda: (f"{task}{{" + ",".join([f'"{n}":0' for n in range(size // 11)]) + "}}").encode()
    )
    return [*made, names]


def _arrives(data: bytes) -> object:
    """As a server reads it: in pieces of 64 KiB, and its beginning byte by byte."""
    from scheduler_project.arrival import Arrival, TooLarge

    arrival = Arrival()
    try:
        for place in range(2_000):
            if arrival.feed(data[place : place + 1]):
                return arrival
        for place in range(2_000, len(data), 65_536):
            if arrival.feed(data[place : place + 65_536]):
                return arrival
    except TooLarge:
        return None
    return arrival


@_listed
def _requests() -> Iterator[bytes]:
    first = b"POST /api/v1/tasks HTTP/1.1\r\nHost: a\r\n"
    chunked = first + b"Transfer-Encoding: chunked\r\n\r\n"
    yield first + b"a: b\r\n" * (HEAD // 6)
    yield first + b"Content-Length:" + b" " * HEAD
    yield first + b"Content-Length: 9\r\n" * (HEAD // 19)
    yield first + b"Content-Length: 10485760\r\n\r\n" + b"a" * FILE
    yield chunked + b"1\r\na\r\n" * 100_000
    yield chunked + b"1" + b" " * HEAD
    yield chunked + b"1;" + b"a" * HEAD
    yield chunked + b"0\r\n" + b"a: b\r\n" * (HEAD // 6)


def _answered(answer: bytes) -> object:
    """As a callback's receiver answers."""
    import socket
    import time
    from threading import Thread

    from tasks_app.outgoing.connection import Connection, NoHttp

    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs, suppress(OSError):
            theirs.sendall(answer)

    sender = Thread(target=send)
    sender.start()
    try:
        return Connection(ours).exchange(b"GET / HTTP/1.1\r\n\r\n", time.monotonic() + 60, 65_536)
    except (NoHttp, OSError):
        return None
    finally:
        ours.close()
        sender.join()


@_listed
def _answers() -> Iterator[bytes]:
    first = b"HTTP/1.1 200 OK\r\n"
    chunked = first + b"Transfer-Encoding: chunked\r\n\r\n"
    yield b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000
    yield first + b"a: b\r\n" * 10_000
    yield first + b":" * HEAD
    yield first + b"Content-Length: " + b"9" * 15 + b"\r\n\r\n" + b"a" * HEAD
    yield chunked + b"1\r\na\r\n" * 70_000
    yield chunked + b"1" + b" " * HEAD
    yield chunked + b"0\r\n" + b"a: b\r\n" * 10_000


def _calendar(*lines: str) -> bytes:
    begin = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nSUMMARY:a\nDTSTART;VALUE=DATE:20260101\n"
    return (begin + "\n".join(lines) + "\nEND:VEVENT\nEND:VCALENDAR\n").encode()


@_listed
def _calendars() -> Iterator[bytes]:
    size = 499_800  # of 500,000 bytes
    event = "BEGIN:VEVENT\nUID:1\nDTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
    yield ("BEGIN:VCALENDAR\n" + event * (size // len(event)) + "END:VCALENDAR\n").encode()
    yield b"BEGIN:VCALENDAR\n" + b"\n " * (size // 2)
    yield b"BEGIN:VCALENDAR\n" + b'A;B="' * (size // 5)
    yield _calendar("SUMMARY:" + "\\" * size)
    yield _calendar("DURATION:PT" + "9H" * (size // 2))
    yield _calendar("EXDATE:" + "20260101," * (size // 9))
    yield _calendar(*["RRULE:FREQ=YEARLY;BYYEARDAY=" + ",".join(map(str, range(1, 367)))] * 300)
    yield _calendar("RRULE:FREQ=MONTHLY;BYDAY=" + "1MO," * (size // 4))
    yield _calendar("RRULE:FREQ=YEARLY;INTERVAL=1;COUNT=999999999;BYWEEKNO=53;BYDAY=MO,TU,WE,TH,FR,SA,SU")
    yield _calendar("EXRULE:FREQ=DAILY", "RRULE:FREQ=DAILY")


_WILD = "*a" * 5 + "*"
_CRONS = ("* * * * * *", "0 0 31 2 *", "0 0 0 29 2 MON#5", "1," * 120 + "1 * * * *", "*/1," * 60 + "1 * * * *")
_TYPED = partial(import_module, "tests.support.testapp.typed")


def _typed(method: str, name: str = "TYPED_SEND") -> Callable[[Any], object]:
    """A handler with parameters takes this payload."""

    def call(value: Any) -> object:
        from tasks_app.core.handlers import REGISTRY

        _TYPED()
        return getattr(REGISTRY.require(name).parameters, method)({"order_id": value, "at_most": value})

    return call


def _callback(value: Any) -> object:
    """The texts of a call: checked, and filled."""
    from tasks_app.core.callbacks import PLACEHOLDERS, Callback, checked_callback, filled

    checked_callback(Callback("https://example.com/", json=value))
    return filled(value, dict.fromkeys(PLACEHOLDERS, "a"))


def _target(value: Any) -> None:
    for sink in ("webhook", "function", "stream", "queue", value):
        for given in (value, {"name": value}, {"url": value}, {"queue": value}, {"broker": value, "stream": value}):
            refused_at_most(
                partial(function_of("tasks_app/core/targets.py:target_of"), sink), lambda given=given: given
            )


@_listed
def _templates() -> Iterator[object]:
    for size in (65_536, BODY):
        yield from ("{{" * (size // 2), "{{ key }}" * (size // 9), "{{" + " " * (size - 4) + "}}", "{{a" * (size // 3))
        yield ["{{key}}"] * 1_000
        yield ["{{" + "a" * 60 + "}}"] * (size // 64)
        yield {str(number): "{{ token }}" for number in range(size // 20)}


def _instants(size: int = LINE) -> list[Given]:
    return texts(size, "2027-03-01T09:00:00+01:00", "2027-03-01", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59Z")


def _second(name: str, first: object, *more: object) -> Callable[[Any], object]:
    return lambda value: function_of(name)(first, value, *more)


_PLAIN = texts(BODY)
_JSON = values(BODY)
_SCALAR = _JSON[::3]  # for what takes one value, and refuses lists and objects whatever is in them
_LINES = texts(LINE)
_ANSWERS = raw(HEAD, "[1,", '{"a":[')

# By `file:function`, the largest it can be given and how.
READ: dict[str, Parser] = {
    # Bodies, headers and addresses of requests.
    "tasks_app/api/edges.py:StrictParser.parse_body": Parser(_bodies(MANY), _api_body),
    "tasks_app/api/door.py:_is_urgent": Parser(
        _bodies(MANY)[2::9], _request("tasks_app/api/door.py:_is_urgent", punctual_view="create_tasks")
    ),
    "tasks_app/api/idempotency.py:_meant": Parser(_bodies(BODY)[1::3]),
    "tasks_app/api/auth.py:_addressed": Parser(
        texts(LINE, "9"),
        lambda text: function_of("tasks_app/api/auth.py:_addressed")(
            SimpleNamespace(
                GET={"tenant": text, "task": text, "run": text}, resolver_match=SimpleNamespace(kwargs={"token": text})
            )
        ),
    ),
    "tasks_app/api/jobs.py:_firing": Parser(_instants()),
    "tasks_app/api/schemas.py:id_of": Parser(texts(LINE, "9")),
    "tasks_app/admin/batches.py:_batch": Parser(texts(LINE, "{}-")),
    "tasks_app/admin/forms.py:parse_bookmark": Parser(texts(LINE, "0:", "9")),
    "tasks_app/admin/jobs.py:_which": Parser(
        _instants(),
        lambda text: function_of("tasks_app/admin/jobs.py:_which")(SimpleNamespace(timezone="UTC"), text),
    ),
    "tasks_app/admin/workers.py:_until": Parser(
        _instants(),
        lambda text: function_of("tasks_app/admin/workers.py:_until")(SimpleNamespace(GET={"until": text})),
    ),
    "tasks_app/archive/search.py:ColdBookmark.read": Parser(texts(LINE, "2027-03-01T09:00:00+01:00|a|1|1", "|")),
    "tasks_app/engine/watch/browse.py:Bookmark.read": Parser(texts(LINE, "0:", "9")),
    "tasks_app/engine/watch/browse.py:_unit_place": Parser(texts(LINE, '["a","b","c",1]', "[")),
    "tasks_app/engine/watch/browse.py:_moment_and_id": Parser(texts(LINE, "2027-03-01T09:00:00+01:00/7", "/9")),
    "tasks_app/engine/watch/letters.py:Place.read": Parser(texts(LINE, "1-1", "9-")),
    "tasks_app/engine/web/throttle.py:_place": Parser(texts(LINE, "::1", "1.")),
    "tasks_app/core/networks.py:plain": Parser(texts(LINE, "::1", "1.")),
    "tasks_app/core/networks.py:contains": Parser(
        texts(LINE, "::1", "1."), lambda text: function_of("tasks_app/core/networks.py:contains")([], text)
    ),
    "scheduler_project/proxy.py:client_of": Parser(
        texts(HEAD, "1.2.3.4,", ","),
        lambda text: function_of("scheduler_project/proxy.py:client_of")(
            text, "10.0.0.1", [import_module("ipaddress").ip_network("0.0.0.0/0")]
        ),
    ),
    "scheduler_project/arrival.py:Arrival.feed": Parser(_requests, _arrives),
    "scheduler_project/room.py:kind_of": Parser(raw(HEAD, "POST /api/v1/tasks/", "A", "GET /", "POST http://")),
    "articles_app/admin/times.py:zone_named": Parser(_LINES),
    "articles_app/admin/times.py:read_local": Parser(
        _instants(), lambda text: function_of("articles_app/admin/times.py:read_local")(text, UTC)
    ),
    "articles_app/admin/week.py:_date": Parser(_instants(), _second("articles_app/admin/week.py:_date", "day")),
    "articles_app/admin/week.py:_after": Parser(texts(LINE, "2027-03-01~7", "~", "9")),
    "articles_app/admin/form.py:ArticleForm.creation": Parser(
        texts(MANY, "{-}"),
        lambda text: function_of("articles_app/admin/form.py:ArticleForm.creation").fget(
            SimpleNamespace(data={"creation": text})
        ),
    ),
    # Fields of forms: two and a half megabytes of all fields together.
    "tasks_app/admin/forms.py:UtcField.to_python": Parser(
        typed("2027-03-01T09:00:00+01:00"), _field("tasks_app/admin/forms.py:UtcField", required=False)
    ),
    "tasks_app/admin/forms.py:TenantField.clean": Parser(
        typed(), _field("tasks_app/admin/forms.py:TenantField", required=False)
    ),
    "tasks_app/admin/forms.py:LaneField.clean": Parser(
        typed(), _field("tasks_app/admin/forms.py:LaneField", choices=[("low", "low")])
    ),
    "tasks_app/admin/forms.py:SpanField.clean": Parser(
        typed("1h", "-15min"), _field("tasks_app/admin/forms.py:SpanField", placeholder="")
    ),
    "tasks_app/admin/forms.py:BulkForm.clean_ids": Parser(
        typed("1,", "9", "0" * 19 + "1" + "9" * 5_000),
        _form("tasks_app/admin/forms.py:OrderForm", "scope", "verb", "ids"),
    ),
    "tasks_app/admin/forms.py:BulkForm.clean_filter": Parser(
        typed("key=a&", "&", "key="),
        lambda text: function_of("tasks_app/admin/forms.py:OrderForm")(
            data={"scope": "matching", "verb": "cancel", "filter": text}
        ).is_valid(),
    ),
    "tasks_app/admin/job_forms.py:JsonField.clean": Parser(
        typed("[],", "[[]],", '{"a":0},', "0,", '"', '\\"'),
        lambda text: (
            _field("tasks_app/admin/job_forms.py:JsonField", required=False)(text)
            or _field("tasks_app/admin/job_forms.py:JsonField", required=False)(f"[{text[:-2]}]")
        ),
    ),
    "tasks_app/admin/job_forms.py:JsonField.has_changed": Parser(
        typed("[],", "0,"),
        lambda text: function_of("tasks_app/admin/job_forms.py:JsonField")().has_changed("[]", f"[{text[:-2]}]"),
    ),
    "tasks_app/admin/job_forms.py:DelaysField.clean": Parser(
        typed("1,"), _field("tasks_app/admin/job_forms.py:DelaysField", required=False)
    ),
    "tasks_app/admin/job_forms.py:NamesField.clean": Parser(
        typed("a\n"), _field("tasks_app/admin/job_forms.py:NamesField", required=False)
    ),
    "tasks_app/admin/job_forms.py:FiringForm.clean_fire_time": Parser(
        typed("2027-03-01T09:00:00+01:00"),
        _form("tasks_app/admin/job_forms.py:FiringForm", "fire_time", "to", "reason", verb="move", fire_time=""),
    ),
    "tasks_app/admin/job_forms.py:BackfillForm.clean_others": Parser(
        typed("1,", " ,"),
        _form(
            "tasks_app/admin/job_forms.py:BackfillForm",
            "others",
            "since",
            "reason",
            job=SimpleNamespace(has_children=False),
        ),
    ),
    "tasks_app/admin/calendars.py:DaysField.clean": Parser(
        typed("2026-12-25 a\n", "\n"), _field("tasks_app/admin/calendars.py:DaysField", required=False)
    ),
    "tasks_app/admin/subscription_forms.py:PatternsField.clean": Parser(
        typed("task.*\n", "*,"), _field("tasks_app/admin/subscription_forms.py:PatternsField", required=False)
    ),
    "tasks_app/admin/letter_forms.py:LetterFilterForm.clean_tag": Parser(
        typed(), _form("tasks_app/admin/letter_forms.py:LetterFilterForm", "type", "tag", "since", "cause")
    ),
    "tasks_app/admin/letter_forms.py:TagsForm.clean_tags": Parser(
        typed("a,", ",", " ,"), _form("tasks_app/admin/letter_forms.py:TagsForm", "tags", "reason")
    ),
    "tasks_app/admin/installation.py:ExpireForm.clean_older_than": Parser(
        typed("1h"), _form("tasks_app/admin/installation.py:ExpireForm", "older_than", "reason")
    ),
    "tasks_app/admin/installation.py:ShiftForm.clean_spread": Parser(
        typed("1h"), _form("tasks_app/admin/installation.py:ShiftForm", "spread", "reason")
    ),
    "tasks_app/admin/safeguards.py:ForbidForm.clean_length": Parser(
        typed("1h"), _form("tasks_app/admin/safeguards.py:ForbidForm", "subject", "length", "reason")
    ),
    "tasks_app/admin/sites.py:SiteForm.clean_confirm": Parser(
        typed(), _form("tasks_app/admin/sites.py:SiteForm", "confirm", word="a", epoch=1, dead=False)
    ),
    "tasks_app/admin/tenants.py:ArchiveForm.clean_name": Parser(
        typed(),
        _form("tasks_app/admin/tenants.py:ArchiveForm", "name", "reason", row=SimpleNamespace(name="a")),
    ),
    "tasks_app/pages/typed.py:keep": Parser(
        typed(".eJ", ":"),
        lambda text: function_of("tasks_app/pages/typed.py:keep")(SimpleNamespace(POST={"typed_by": text})),
    ),
    # Files that people upload or name.
    "tasks_app/core/ics_file.py:read_days": Parser(
        _calendars, lambda content: function_of("tasks_app/core/ics_file.py:read_days")(content, date(2026, 11, 1))
    ),
    "tasks_app/core/recurrence.py:Rule.of": Parser(
        texts(
            BODY, "FREQ=DAILY;", "FREQ=YEARLY;BYYEARDAY=1,2,", "BYDAY=1MO,", "COUNT=9", "UNTIL=20270101T000000Z;", ";="
        )
    ),
    "tasks_app/core/recurrence.py:day_of": Parser(texts(BODY, "20270101")),
    "tasks_app/core/recurrence.py:is_time": Parser(texts(BODY, "20270101T000000Z")),
    # An operator's own process reads job files of up to 4 MiB, as slowly as PyYAML does: this is the second's share.
    "tasks_app/engine/operations/declared_jobs/yaml_file.py:parse": Parser(
        texts(4_000, "- a: b\n", "[", "a: [", "? ", "&a *a ", "'", '"\\x41', "|\n ", "#\n", "{a: "),
        lambda text: function_of("tasks_app/engine/operations/declared_jobs/yaml_file.py:parse")(text, "jobs.yaml"),
    ),
    "inventory_app/csv_file.py:_records": Parser(
        texts(20_000, "code,name\n", '"\n', '"a\n', 'a,"b\n', ",", '""'),
        lambda text: sum(1 for _ in function_of("inventory_app/csv_file.py:_records")(text.splitlines(keepends=True))),
    ),
    "inventory_app/csv_file.py:_lines_of_value": Parser(
        texts(BODY, '"\n', '"a'),
        lambda text: function_of("inventory_app/csv_file.py:_lines_of_value")('"', [text] * 50),
    ),
    "inventory_app/csv_file.py:_time": Parser(_instants(BODY)),
    # Times, lengths of time, cron strings, zones.
    "tasks_app/core/cron.py:parse": Parser(texts(256, *_CRONS)),
    "tasks_app/core/cron.py:_parse": Parser(texts(256, *_CRONS)),
    "tasks_app/core/durations.py:seconds_of": Parser(texts(BODY, "1h30m", "9", "1d")),
    "tasks_app/core/moves.py:read_span": Parser(texts(BODY, "+2h", "-15min", "min", " ")),
    "tasks_app/core/timer.py:timer_from": Parser(texts(BODY, *_CRONS, "0 9 * * * Europe/Berlin", "3600")),
    "tasks_app/core/zones.py:zone_of": Parser(texts(BODY, "Europe/Berlin", "../")),
    "tasks_app/core/calendars.py:checked_weekdays": Parser(_SCALAR),
    "tasks_app/core/calendars.py:checked_days": Parser(
        [
            *_JSON,
            Given("one day, often", lambda: ["2026-12-25"] * 16_000),
            Given("long names", lambda: {f"2026-12-{day:02}": "a" * 9_000 for day in range(1, 31)}),
        ],
        _second("tasks_app/core/calendars.py:checked_days", "days_off"),
    ),
    "tasks_app/core/calendars.py:checked_day": Parser(
        _instants(BODY), _second("tasks_app/core/calendars.py:checked_day", "day")
    ),
    "tasks_app/management/commands/archive.py:a_day": Parser(_instants()),
    "tasks_app/management/commands/audit.py:_instant": Parser(_instants()),
    "tasks_app/management/commands/backup.py:_a_moment": Parser(_instants()),
    "tasks_app/management/commands/firing.py:_instant": Parser(
        _instants(), _second("tasks_app/management/commands/firing.py:_instant", "at")
    ),
    "tasks_app/management/commands/history.py:an_instant": Parser(_instants()),
    "tasks_app/management/commands/outbox.py:_moment": Parser(texts(LINE, "9", "1h", "2027-03-01T09:00")),
    # Patterns, templates, addresses, names.
    "tasks_app/core/wildcards.py:matches": Parser(
        texts(BODY, "ab", "*"),
        lambda text: [
            function_of("tasks_app/core/wildcards.py:matches")(one, text) for one in (_WILD, "*" * 100, text)
        ],
    ),
    "tasks_app/core/events.py:problems_of": Parser(
        texts(BODY, "task.*", "a.", "!a*")[len(_AGAIN) :],
        lambda text: list(function_of("tasks_app/core/events.py:problems_of")([text] * 5, "events")),
    ),
    "tasks_app/core/events.py:checked_own_name": Parser(texts(BODY, "shop.order", "a.")),
    "tasks_app/core/callbacks.py:checked_secret_name": Parser(_PLAIN),
    "tasks_app/core/callbacks.py:is_header_value": Parser(_PLAIN),
    "tasks_app/core/callbacks.py:filled": Parser(_templates, _callback),
    "tasks_app/core/callbacks.py:filled_text": Parser(
        texts(65_536, "{{ key }}", "{{", "{{}", "{ {"),
        lambda text: (
            function_of("tasks_app/core/callbacks.py:filled_text")(text, {"key": "a", "": "b"})
            if "key" in text
            else None
        ),
    ),
    "tasks_app/core/receivers.py:receiver_of": Parser(
        texts(BODY, "https://example.com/", "https://a.", "http://[", "@")
    ),
    "tasks_app/core/receivers.py:checked_host": Parser(texts(BODY, "a.", "0x", "1.", "xn--")),
    "tasks_app/core/hosts.py:checked_host_name": Parser(texts(BODY, "a.", "https://")),
    "tasks_app/core/hosts.py:checked_limit": Parser(
        _SCALAR, lambda value: function_of("tasks_app/core/hosts.py:checked_limit")(value, None, None)
    ),
    "tasks_app/core/targets.py:target_of": Parser(
        _SCALAR,
        _target,
    ),
    "tasks_app/core/scopes.py:scope_of": Parser(texts(BODY, "host:", "tenant:a/")),
    "tasks_app/core/scopes.py:target_of": Parser(texts(BODY, "host:", "tenant:a/")),
    "tasks_app/lifecycle/alarms/rules.py:_runbook": Parser(texts(BODY, "https://a/", "https://[")),
    "tasks_app/lifecycle/tenants.py:checked_contacts": Parser(
        [
            *_JSON,
            *(
                Given(f"20 addresses: {words}", lambda make=make: [make()] * 20)
                for words, make in texts(254, "a@example.com", "a.")
            ),
        ],
    ),
    "tasks_app/lifecycle/signing_secrets.py:checked_secret": Parser(texts(BODY, "whsec_", "AAAA")),
    "tasks_app/core/keyring.py:Keyring.has_signed": Parser(
        texts(LINE, "a.", "."),
        lambda text: function_of("tasks_app/core/keyring.py:Keyring").has_signed(
            SimpleNamespace(_keys={}), text, b"", "a"
        ),
    ),
    # JSON of users: payloads, results, options.
    "tasks_app/core/json_parts.py:too_many_parts": Parser(raw(MANY, '\\"["', '\\\\"[",', "\0,")[len(_AGAIN) :]),
    "tasks_app/lifecycle/request.py:checked_json": Parser(
        values(MANY)[::2], _second("tasks_app/lifecycle/request.py:checked_json", "payload")
    ),
    "tasks_app/lifecycle/reports.py:checked_completed": Parser(_JSON),
    "tasks_app/lifecycle/reports.py:checked_failed": Parser(
        texts(BODY),
        lambda text: function_of("tasks_app/lifecycle/reports.py:checked_failed")(
            text, text, retryable=False, retry_after=None, tags=[text]
        ),
    ),
    "tasks_app/core/celery_call.py:celery_call": Parser(
        _JSON,
        lambda value: function_of("tasks_app/core/celery_call.py:celery_call")(
            {"task": "a", "args": value, "kwargs": {}}
        ),
    ),
    "tasks_app/core/confidential.py:refuse_reserved": Parser(
        _JSON, _second("tasks_app/core/confidential.py:refuse_reserved", "payload")
    ),
    "tasks_app/core/parameters.py:Parameters.check": Parser(_JSON, _typed("check")),
    "tasks_app/core/parameters.py:Parameters.part": Parser(_JSON, _typed("part")),
    "tasks_app/core/parameters.py:Parameters.load": Parser(_JSON, _typed("load")),
    "tasks_app/core/parameters.py:Parameters.key_of": Parser(
        [Given(f"{one:.20}", lambda one=one: one) for one in ("9" * 60_000, "1e999999", "1e-999999")], _typed("key_of")
    ),
    "tasks_app/core/parameters.py:Parameters.dump": Parser(
        _JSON,
        lambda value: (
            _TYPED()
            and function_of("tasks_app/core/handlers.py:REGISTRY").require("TYPED_SEND").parameters.dump((value,), {})
        ),
    ),
    "tasks_app/core/payloads/values.py:_decimal_out": Parser(texts(BODY, "9", "0.", "1e9")),
    "tasks_app/core/payloads/values.py:_uuid_out": Parser(texts(BODY, "{", "urn:", "-")),
    "tasks_app/core/payloads/values.py:_from_iso": Parser(
        _instants(BODY),
        lambda text: function_of("tasks_app/core/payloads/values.py:_from_iso")(datetime, text, "must be a datetime"),
    ),
    "tasks_app/core/payloads/values.py:_in_utc": Parser(_instants(BODY)),
    "tasks_app/core/payloads/values.py:_fewest_digits": Parser(
        [Given(f"{one:.20}", lambda one=one: one) for one in ("9" * BODY, "0." + "0" * BODY, "1e999999", "1e-999999")]
    ),
    "tasks_app/core/away.py:checked_lease": Parser(
        _SCALAR, lambda value: function_of("tasks_app/core/away.py:checked_lease")(value, "")
    ),
    "tasks_app/core/campaigns.py:checked_cap": Parser(_SCALAR),
    "tasks_app/core/campaigns.py:checked_most_running": Parser(_SCALAR),
    "tasks_app/core/campaigns.py:checked_rate": Parser(_SCALAR),
    "tasks_app/core/errors.py:checked_tags": Parser(_JSON),
    "tasks_app/core/overdue.py:Answer.checked": Parser(
        _SCALAR, lambda value: function_of("tasks_app/core/overdue.py:Answer").checked(value, ())
    ),
    "tasks_app/core/progress.py:checked_fraction": Parser(_SCALAR),
    "tasks_app/core/progress.py:clean_note": Parser(_PLAIN[3::8]),
    "tasks_app/core/retry_budget.py:checked_budget": Parser(
        _SCALAR, _second("tasks_app/core/retry_budget.py:checked_budget", "retry_share")
    ),
    "tasks_app/core/roles.py:checked_role": Parser(_SCALAR),
    "tasks_app/core/roles.py:checked_rights": Parser(
        _PLAIN[:2], lambda text: function_of("tasks_app/core/roles.py:checked_rights")([text] * 1_000)
    ),
    "tasks_app/core/tenants.py:checked_quotas": Parser(
        _SCALAR, lambda value: function_of("tasks_app/core/tenants.py:checked_quotas")({"max_live": value})
    ),
    "tasks_app/core/tenants.py:checked_weight": Parser(_SCALAR),
    "tasks_app/core/handlers.py:Registry.require": Parser(
        _PLAIN[:2], lambda text: function_of("tasks_app/core/handlers.py:REGISTRY").require(text)
    ),
    "tasks_app/engine/doctor/checks.py:check_named": Parser(_PLAIN[:2]),
    "tasks_app/engine/operations/declared_jobs/fitting.py:text_of": Parser(_SCALAR),
    "tasks_app/engine/operations/declared_jobs/fitting.py:_instant": Parser(_instants(BODY)),
    "tasks_app/lifecycle/jobs/request.py:checked_overlap": Parser(_SCALAR),
    "tasks_app/lifecycle/request.py:checked_name": Parser(
        _PLAIN, lambda text: function_of("tasks_app/lifecycle/request.py:checked_name")("name", text, 200)
    ),
    "tasks_app/lifecycle/request.py:checked_by": Parser(_PLAIN),
    "tasks_app/lifecycle/request.py:checked_reason": Parser(
        _PLAIN, lambda text: function_of("tasks_app/lifecycle/request.py:checked_reason")("reason", text, BODY)
    ),
    "tasks_app/lifecycle/request.py:checked_text": Parser(
        _PLAIN, lambda text: function_of("tasks_app/lifecycle/request.py:checked_text")("text", text, BODY)
    ),
    "tasks_app/lifecycle/request.py:checked_instant": Parser(
        _SCALAR, _second("tasks_app/lifecycle/request.py:checked_instant", "at")
    ),
    "tasks_app/lifecycle/request.py:checked_seconds": Parser(
        _SCALAR, _second("tasks_app/lifecycle/request.py:checked_seconds", "delay")
    ),
    "tasks_app/lifecycle/request.py:unit_of": Parser(
        _PLAIN, _second("tasks_app/lifecycle/request.py:unit_of", "T_QUIET", "a")
    ),
    "tasks_app/lifecycle/request.py:key_of": Parser(_PLAIN),
    "tasks_app/lifecycle/settle.py:clean": Parser(
        _PLAIN, lambda text: function_of("tasks_app/lifecycle/settle.py:clean")(text, 1_000)
    ),
    # What handlers, receivers and other servers say.
    "tasks_app/core/phrases.py:for_outsiders": Parser(
        texts(BODY, "/a/b", "a://", "~/", "C:\\a\\b", '  File "a", line 1\n', "Traceback ")[len(_AGAIN) :]
    ),
    "tasks_app/core/phrases.py:first_line": Parser(_PLAIN),
    "tasks_app/core/text.py:control_in": Parser(texts(BODY, "\r\n", "\x1b")),
    "tasks_app/core/text.py:visible": Parser(texts(BODY, "\r\n", "\x1b", "\u202e")[len(_AGAIN) :]),
    "tasks_app/outgoing/client.py:_retry_after": Parser(raw(HEAD, "9", "Mon, 01 Mar 2027 09:00:00 GMT")),
    "tasks_app/outgoing/connection.py:Connection.exchange": Parser(_answers, _answered),
    "tasks_app/engine/worker/callbacks/answers.py:_json": Parser(
        _ANSWERS,
        lambda body: function_of("tasks_app/engine/worker/callbacks/answers.py:_json")(
            SimpleNamespace(content_type="application/json" + ";" * LINE, complete=True, body_start=body[:4_096]),
            ("secret",) * 50,
        ),
    ),
    "tasks_app/engine/envelope.py:_parsed": Parser(raw(BODY, "[1,", '{"a":[')),
    "tasks_app/engine/envelope.py:_refuse_other_body": Parser(
        texts(BODY, "AAAA", "="), lambda text: function_of("tasks_app/engine/envelope.py:_refuse_other_body")(text, "1")
    ),
    "articles_app/moderation.py:_read": Parser(_ANSWERS),
    "inventory_app/stock.py:_quantity": Parser(
        _ANSWERS, lambda body: function_of("inventory_app/stock.py:_quantity")(body, 1)
    ),
}


# By the reason, what looks like a parser and reads no text of users.
READS_NONE: dict[str, tuple[str, ...]] = {
    "settings and the environment: an operator writes them, and a process reads them when it starts": (
        "tasks_app/console/policy.py:headers",
        "tasks_app/console/templates.py:find",
        "tasks_app/core/allow_list.py:allow_list",
        "tasks_app/core/allow_list.py:problems_of",
        "tasks_app/core/allow_list.py:_entry",
        "tasks_app/core/archive_url.py:address_of",
        "tasks_app/core/archive_url.py:problems_of",
        "tasks_app/core/archive_url.py:outward",
        "tasks_app/core/audit_keys.py:key_of",
        "tasks_app/core/audit_keys.py:problems_of",
        "tasks_app/core/isolation.py:tenant_scope",
        "tasks_app/core/keyring.py:local_key",
        "tasks_app/core/keyring.py:problems_of",
        "tasks_app/core/log_url.py:problems_of",
        "tasks_app/core/networks.py:parsed",
        "tasks_app/core/networks.py:problems_of",
        "tasks_app/core/redis_url.py:Sentinels.of",
        "tasks_app/core/redis_url.py:problems_of",
        "tasks_app/core/redis_url.py:_address",
        "tasks_app/core/retention.py:problems_of",
        "tasks_app/core/safeguards.py:peaks_of",
        "tasks_app/core/safeguards.py:_end",
        "tasks_app/core/safeguards.py:wrong_peaks",
        "tasks_app/core/safeguards.py:_wrong_peak",
        "tasks_app/drills/__main__.py:main",
        "tasks_app/embedded/reachability.py:_split",
        "tasks_app/engine/beat/ping.py:_address",
        "tasks_app/engine/celery_options.py:_url",
        "tasks_app/engine/channels/anchor_places.py:label_of",
        "tasks_app/management/commands/drill.py:Command._perform",
        "articles_app/conf.py:_is_address",
        "inventory_app/conf.py:_is_address",
        "inventory_app/connections.py:Pool.__init__",
        "inventory_app/stock.py:_pool",
        "scheduler_project/env.py:database_settings",
        "scheduler_project/env.py:public_url",
        "scheduler_project/env.py:listed",
        "scheduler_project/env.py:networks",
        "scheduler_project/proxy.py:proxy_middleware",
        "scheduler_project/up.py:main",
        "scheduler_project/up.py:choose_spare",
    ),
    "declarations in code: handlers, their types, events, links, routers": (
        "tasks_app/core/imports.py:when_called",
        "tasks_app/lifecycle/deferral.py:checked",
        "tasks_app/core/calls.py:refuse_what_never_runs",
        "tasks_app/core/calls.py:refuse_wrong_arguments",
        "tasks_app/core/events.py:declare",
        "tasks_app/core/handlers.py:Registry.refuse_without_payload",
        "tasks_app/core/handlers.py:handler",
        "tasks_app/core/handlers.py:refuse_other_tenant",
        "tasks_app/core/limit.py:limit_from",
        "tasks_app/core/links.py:Links.add",
        "tasks_app/core/parameters.py:parameters_of",
        "tasks_app/core/parameters.py:typed_call",
        "tasks_app/core/payloads/objects.py:pydantic_kind",
        "tasks_app/core/payloads/schema.py:Definitions.adopt",
        "tasks_app/core/payloads/several.py:one_of",
        "tasks_app/core/payloads/several.py:mapping",
        "tasks_app/core/payloads/values.py:literal_kind",
        "tasks_app/core/routers.py:Routers.add",
        "tasks_app/core/routers.py:Routers.beside",
        "tasks_app/core/scans.py:Scans.add",
        "tasks_app/core/subscribers.py:Subscribers.add",
    ),
    "rows, keys and files that our own code wrote": (
        "scheduler_project/release.py:undated",
        "scheduler_project/release.py:unfilled_address",
        "scheduler_project/release.py:versions_of",
        "tasks_app/django_tasks/running.py:send_finished",
        "tasks_app/archive/columns.py:Column.to_python",
        "tasks_app/archive/manifest.py:Manifest.from_json",
        "tasks_app/archive/manifest.py:day_of",
        "tasks_app/archive/manifest.py:_instants",
        "tasks_app/backup/base.py:Base.from_json",
        "tasks_app/backup/base.py:proofs_in",
        "tasks_app/backup/keeping.py:_began",
        "tasks_app/backup/manifest.py:compared",
        "tasks_app/backup/manifest.py:_path",
        "tasks_app/backup/places.py:Store.get_json",
        "tasks_app/backup/timelines.py:Timelines._dumped",
        "tasks_app/core/audit_chain.py:parsed",
        "tasks_app/core/audit_chain.py:canonical",
        "tasks_app/core/audit_chain.py:digest_of",
        "tasks_app/core/audit_chain.py:link_hash",
        "tasks_app/core/audit_keys.py:AuditKey.sign",
        "tasks_app/core/audit_keys.py:AuditKey.has_signed",
        "tasks_app/core/confidential.py:key_number",
        "tasks_app/core/confidential.py:of_payload",
        "tasks_app/core/keyring.py:LocalKey.unwrap",
        "tasks_app/core/keyring.py:Keyring.unseal",
        "tasks_app/core/keyring.py:Keyring.rewrap",
        "tasks_app/core/keyring.py:key_id_of",
        "tasks_app/core/keyring.py:_parts",
        "tasks_app/core/moves.py:Move.stored",
        "tasks_app/core/task.py:Parents._read",
        "tasks_app/core/task.py:Task.payload",
        "tasks_app/core/task.py:Task.token",
        "tasks_app/core/wal.py:parse_lsn",
        "tasks_app/core/wal.py:segment_of",
        "tasks_app/core/wal.py:is_history",
        "tasks_app/core/wal.py:forks",
        "tasks_app/core/wal.py:piece_of",
        "tasks_app/drills/history.py:read",
        "tasks_app/embedded/stack.py:running",
        "tasks_app/engine/beat/relay/sequencer.py:Sequencer._record",
        "tasks_app/engine/channels/anchor_places.py:_last_in",
        "tasks_app/engine/channels/anchor_places.py:_last_line",
        "tasks_app/engine/operations/celery_beat_tables.py:_carried",
        "tasks_app/engine/operations/recovery/report.py:_row",
        "tasks_app/engine/operations/recovery/report.py:_rto",
        "tasks_app/engine/operations/recovery/report.py:goals_of",
        "tasks_app/engine/watch/audit_anchors.py:Anchors._leave_lost",
        "tasks_app/engine/watch/audit_export.py:_wrong",
        "tasks_app/engine/watch/audit_findings.py:instant",
        "tasks_app/engine/witness.py:Witness._read_told",
        "tasks_app/engine/witness.py:_unpacked",
        "tasks_app/engine/worker/task.py:run_batch",
        "tasks_app/lifecycle/alarms/channels.py:unsealed",
        "tasks_app/lifecycle/campaigns/steps.py:_do",
        "tasks_app/lifecycle/claim.py:peek",
        "tasks_app/lifecycle/claim.py:claim_in_order",
        "tasks_app/lifecycle/claim.py:claim",
        "tasks_app/lifecycle/confidential.py:_hidden_results",
        "tasks_app/lifecycle/confidential.py:_open_parents",
        "tasks_app/lifecycle/confidential.py:open_row",
        "tasks_app/lifecycle/confidential.py:open_job_payload",
        "tasks_app/lifecycle/data_keys.py:_opened",
        "tasks_app/lifecycle/installation.py:_row",
        "tasks_app/lifecycle/jobs/request.py:shown_fields",
        "tasks_app/lifecycle/overdue.py:_carry_out",
        "tasks_app/lifecycle/past.py:_make",
        "tasks_app/lifecycle/recovery.py:_hold",
        "tasks_app/lifecycle/site.py:_resume",
        "tasks_app/lifecycle/site.py:_seconds",
        "tasks_app/metrics/reading.py:_Rows.values",
        "tasks_app/metrics/reading.py:_Rows.histograms",
        "tasks_app/metrics/reading.py:_Rows._kept",
        "tasks_app/metrics/reading.py:_Rows._processes",
        "tasks_app/metrics/reading.py:_Rows._backups",
        "tasks_app/models/calendar.py:_read",
        "tasks_app/sql/binary.py:UuidArray.read",
        "articles_app/admin/timeline.py:_event",
        "articles_app/admin/words.py:_Times.__call__",
    ),
    "values that one of READ, or a field of a limited length, has read before": (
        "tasks_app/admin/forms.py:BulkForm.clean_verb",
        "tasks_app/admin/forms.py:BulkForm.clean_operation",
        "tasks_app/admin/job_forms.py:_as_typed",
        "tasks_app/admin/job_forms.py:BackfillForm.clean_reason",
        "tasks_app/api/idempotency.py:_as_stored",
        "tasks_app/api/idempotency.py:_plain",
        "tasks_app/console/login.py:PasswordForm.clean_old_password",
        "tasks_app/console/saved.py:SaveForm.clean_name",
        "tasks_app/console/site.py:ConsoleSite.help",
        "tasks_app/core/calendars.py:refuse_both",
        "tasks_app/core/errors.py:refuse_absurd_instant",
        "tasks_app/core/payloads/objects.py:JsonObject.dump",
        "tasks_app/core/payloads/objects.py:JsonObject.load",
        "tasks_app/core/payloads/objects.py:dump_fields",
        "tasks_app/core/payloads/objects.py:load_fields",
        "tasks_app/core/phrases.py:figure",
        "tasks_app/core/targets.py:ToFunction.check",
        "tasks_app/core/targets.py:ToStream.check",
        "tasks_app/core/targets.py:ToQueue.check",
        "tasks_app/core/task.py:Task.defer",
        "tasks_app/engine/operations/calendars.py:read_file",
        "tasks_app/engine/operations/declared_jobs/document.py:file_of",
        "tasks_app/engine/operations/declared_jobs/document.py:checked_file",
        "tasks_app/engine/operations/declared_jobs/python_file.py:read",
        "tasks_app/engine/operations/declared_jobs/reading.py:read",
        "tasks_app/engine/operations/scheduling.py:requests_of",
        "tasks_app/engine/worker/transport.py:_OurChannel._brpop_read",
        "tasks_app/lifecycle/jobs/request.py:_payload",
        "tasks_app/lifecycle/reports.py:_hidden",
        "tasks_app/management/commands/tenant.py:Command._suspend",
        "tasks_app/outgoing/client.py:post",
        "tasks_app/outgoing/client.py:call",
        "tasks_app/outgoing/client.py:Client.post",
        "tasks_app/outgoing/client.py:Client.call",
        "tasks_app/outgoing/resolver.py:ask_system",
        "inventory_app/admin/products.py:ProductForm.clean_product_code",
        "inventory_app/admin/products.py:ProductForm.clean_name",
    ),
    "runs in tests of users": ("django_punctual/testing/running.py:_run_round",),
}
