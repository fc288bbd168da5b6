"""A body can't occupy the web process: it is read after the caller's right, up to a limit, and in linear time.

Over the wire a request reaches a thread only when all of it is there, so that nothing is read is shown beside it.
"""

import json

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from tasks_app.conf import conf
from tasks_app.models import ScheduleTask

TOO_LARGE = 1_000_000  # below what Django itself refuses
TASK = {"task_type": "T_QUIET", "key": "a", "delay": 3600}


def chunk(text: bytes) -> bytes:
    return f"{len(text):x}\r\n".encode() + text + b"\r\n"


class Unread:
    """A body that nobody may read."""

    def read(self, *size: int) -> bytes:
        raise AssertionError("the body was read")

    readline = read


def status_without_reading(token: str, length: int) -> str:
    told = []
    headers = {"CONTENT_TYPE": "application/json", "HTTP_AUTHORIZATION": f"Bearer {token}", "wsgi.input": Unread()}
    environ = RequestFactory()._base_environ(
        REQUEST_METHOD="POST", PATH_INFO="/api/v1/tasks", CONTENT_LENGTH=str(length), HTTP_HOST="localhost", **headers
    )
    WSGIHandler()(environ, lambda status, headers: told.append(status))
    return told[0][:3]


def test_no_byte_of_the_body_is_read_for_who_may_not_write_or_sends_too_much(caller):
    assert status_without_reading("pnc_wrong", 1_000) == "401"
    assert status_without_reading(caller(can_write=False).token, 1_000) == "403"
    assert status_without_reading(caller().token, TOO_LARGE) == "413"
    assert status_without_reading(caller().token, 1_000) == "500", "one who may write is read, so this test can fail"


@pytest.mark.parametrize("can_write", [False, None], ids=["to read", "none"])
def test_who_may_not_write_is_told_so_whatever_the_body_is(caller, can_write):
    one = caller(token="") if can_write is None else caller(can_write=False)

    answer = one.send("POST", "/tasks", b"[" * 1_000, Content_Length=1_000)

    assert (answer.status, answer.code) in [(401, "SCH_401_UNAUTHENTICATED"), (403, "SCH_403_FORBIDDEN")]


def test_a_body_that_is_too_large_is_refused(caller):
    answer = caller().send("POST", "/tasks", b" " * TOO_LARGE, Content_Length=TOO_LARGE)

    assert (answer.status, answer.code) == (413, "SCH_413_TOO_LARGE")


def test_a_body_in_chunks_is_refused_when_it_is_too_large(caller):
    many = [chunk(b" " * 50_000)] * 10

    answer = caller().send("POST", "/tasks", *many, b"0\r\n\r\n", Transfer_Encoding="chunked")

    assert (answer.status, answer.code) == (413, "SCH_413_TOO_LARGE")


def test_a_body_in_chunks_is_a_body(caller):
    text = json.dumps(TASK).encode()
    pieces = [chunk(text[:9]), chunk(text[9:]), b"0\r\n\r\n"]

    answer = caller().send("POST", "/tasks", *pieces, Transfer_Encoding="chunked")

    assert answer.status == 201
    assert ScheduleTask.objects.get().biz_key == "a"


def test_the_largest_payload_fits_however_its_letters_are_written(caller):
    payload = "ж" * (conf().PAYLOAD_MAX_BYTES // 2 - 1)  # two bytes each, and six as an escape

    assert caller().post("/tasks", TASK | {"payload": payload}).status == 201


def test_a_doubled_name_among_many_is_found_at_once(caller):
    names = ",".join(f'"{n}":0' for n in range(20_000))
    text = f'{{"payload":{{{names},"19999":1}}}}'.encode()

    answer = caller().send("POST", "/tasks", text, Content_Length=len(text))

    assert (answer.status, answer.code) == (400, "SCH_400_MALFORMED")
    assert "'19999' appears twice in one object" in answer.body["detail"]


DEEP = {"lists": "[" * 100_000, "objects": '{"a":' * 20_000, "closed": "[" * 300 + "]" * 300}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_lies_too_deep_is_no_body(caller, text):
    text = f'{{"task_type": "T_QUIET", "key": "a", "payload": {text}}}'.encode()

    answer = caller().send("POST", "/tasks", text, Content_Length=len(text))

    assert (answer.status, answer.code) == (400, "SCH_400_MALFORMED")


def test_a_body_with_too_many_parts_is_refused_before_it_is_read_as_json(caller):
    text = b'{"tasks":[' + b"0," * 300_000 + b"0]}"

    answer = caller().send("POST", "/tasks/bulk", text, Content_Length=len(text))

    assert (answer.status, answer.code) == (413, "SCH_413_TOO_LARGE")
    assert answer.body["detail"] == (
        "The body has 300,003 parts (values, lists and objects); at most 250,000 are allowed. Send fewer tasks in one "
        "request, or ids instead of data."
    )


class Name(str):
    """Counts how often names are compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_looking_for_a_doubled_name_takes_one_look_at_each():
    from tasks_app.api.edges import named_once

    names = [Name(n) for n in range(5_000)]

    with pytest.raises(ValueError, match="'4999' appears twice in one object"):
        named_once([(name, None) for name in [*names, Name(4_999)]])

    assert Name.compared < 3 * len(names)
