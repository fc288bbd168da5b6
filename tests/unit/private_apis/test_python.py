"""What we use of Python's own library that it never promised."""

import http.client
from types import SimpleNamespace


def test_python_connects_and_reads_through_what_we_give_it(pair):
    ours, theirs = pair
    asked = []
    wire = SimpleNamespace(setsockopt=lambda *_: None, sendall=ours.sendall, close=ours.close)
    wire.makefile = lambda mode: asked.append(mode) or ours.makefile(mode)
    connection = http.client.HTTPConnection("nobody.invalid", 80)
    connection._create_connection = lambda address, *rest: asked.append(address) or wire

    connection.connect()
    assert (asked, connection.sock) == ([("nobody.invalid", 80)], wire)
    connection.request("GET", "/")
    theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
    with connection.getresponse() as response:
        assert (response.read(), asked[-1], connection.sock) == (b"hi", "rb", None)
