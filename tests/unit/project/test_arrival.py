"""When a request is complete: at the same byte, however it was cut into pieces."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_project.arrival import MOST_BODY, Arrival, TooLarge

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;a=b\r\n0123456789\r\n0\r\n\r\n"
TRAILED = CHUNKED[:-2] + b"X-Sum: 1\r\nX-More: 2\r\n\r\n"


def complete_at(data: bytes) -> int:
    """The number of bytes that make it complete, given one by one."""
    arrival = Arrival()
    return next(number for number, byte in enumerate(data, 1) if arrival.feed(bytes([byte])))


@pytest.mark.parametrize("whole", [GET, POST, CHUNKED, TRAILED], ids=["get", "length", "chunks", "trailers"])
def test_a_request_is_complete_with_its_last_byte_and_not_before(whole):
    assert complete_at(whole + b"GET") == len(whole)


@given(st.sampled_from([GET, POST, CHUNKED, TRAILED]), st.lists(st.integers(1, 30)))
def test_pieces_change_nothing(whole, sizes):
    arrival, sent = Arrival(), 0
    for size in [*sizes, len(whole)]:
        done = arrival.feed(whole[sent : sent + size])
        sent = min(sent + size, len(whole))
        assert done == (sent == len(whole))
        if done:
            break
    assert arrival.data == whole


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 1\r\nContent-Length: 2",
        b"Content-Length: 1\r\nTransfer-Encoding: chunked",
        b"Content-Length: -1",
        b"Content-Length: 1e3",
        b"Transfer-Encoding: gzip",
        b"Transfer-Encoding: chunked, chunked",
    ],
)
def test_what_makes_no_sense_is_not_waited_for(head):
    assert Arrival().feed(b"POST / HTTP/1.1\r\n" + head + b"\r\n\r\n")


def test_a_chunk_without_a_size_is_not_waited_for():
    assert Arrival().feed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nsize\r\n")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000, "431"),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY + 1), "413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%X\r\n" % MOST_BODY, "413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"x" * 200_000, "431"),
    ],
    ids=["head", "length", "chunk", "trailers"],
)
def test_more_than_is_kept_is_refused_before_it_has_come(data, status):
    with pytest.raises(TooLarge, match=status):
        Arrival().feed(data)


def test_who_waits_for_our_word_gets_it_while_the_body_is_missing():
    head = POST.replace(b"Host", b"Expect: 100-continue\r\nHost")[:-5]
    waiting, there = Arrival(), Arrival()
    waiting.feed(head)
    there.feed(head + b"hello")
    assert (waiting.wants_continue, there.wants_continue) == (True, False)


@pytest.mark.parametrize(
    "begin",
    [b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "],
    ids=["head", "trailers"],
)
def test_dripping_costs_no_more_for_what_is_here_already(begin):
    arrival = Arrival()
    arrival.feed(begin)
    started = time.process_time()
    for _ in range(100_000):
        arrival.feed(b"x")
    assert time.process_time() - started < 2
