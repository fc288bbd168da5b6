"""What we use of Python's own library that it never promised."""

import http.client
import json
from json.encoder import c_make_encoder, encode_basestring
from types import SimpleNamespace

import pytest


def test_python_reads_and_writes_through_the_socket_that_it_is_given(pair):
    ours, theirs = pair
    asked = []
    wire = SimpleNamespace(sendall=ours.sendall, close=ours.close)
    wire.makefile = lambda mode: asked.append(mode) or ours.makefile(mode)

    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = wire

    connection = Connection("nobody.invalid", 80)
    assert connection.sock is None
    connection.request("GET", "/")
    theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
    with connection.getresponse() as response:
        assert (response.read(), asked, connection.sock) == (b"hi", ["rb"], None)


def test_python_writes_json_with_an_encoder_that_is_made_once():
    usual = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    once = c_make_encoder(None, usual.default, encode_basestring, None, ":", ",", False, False, False)
    itself: list = []
    itself.append(itself)

    for value in ({"a": [1, 2.5, None, True, 'é"\\\n🦊'], 7: {}}, "text", 10**30, [], 1e300, (1, "2")):
        assert "".join(once(value, 0)) == usual.encode(value)
    for value, error in (
        (float("nan"), ValueError),
        ({"a": {1}}, TypeError),
        ({(1,): 2}, TypeError),
        (itself, RecursionError),
    ):
        with pytest.raises(error):
            once(value, 0)
