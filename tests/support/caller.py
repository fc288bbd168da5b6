"""A caller of the real web process over HTTP, who may stop in the middle of a request."""

import json
import socket
from contextlib import closing
from http.client import HTTPResponse
from urllib.parse import urlsplit

from tasks_app.engine.operations.api_tokens import issue
from tests.support.api import ROOT, Answer
from tests.support.operators import operator

PATIENCE_SECONDS = 20  # however slow the machine; what waits for more of the request waits for ever


class Caller:
    def __init__(self, url: str, tenant: str = "acme", *, can_write: bool = True, token: str | None = None, **how):
        self._address = urlsplit(url)
        self.token = token
        if token is None:
            _, self.token = issue(f"of {tenant}", tenant, operator(), can_write=can_write, **how)

    def send(self, method: str, path: str, *pieces: bytes, **headers: object) -> Answer:
        """These headers and these pieces, and not a byte more; the answer, which must come all the same."""
        given = {"Host": self._address.netloc, "Content-Type": "application/json", "Connection": "close"}
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        with closing(socket.create_connection((self._address.hostname, self._address.port), PATIENCE_SECONDS)) as line:
            line.sendall(f"{method} {ROOT}{path} HTTP/1.1\r\n{head}\r\n".encode())
            try:
                for piece in pieces:
                    line.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has answered, and listens no more
            with closing(HTTPResponse(line, method=method)) as answer:
                answer.begin()
                text = answer.read().decode()
        return Answer(answer.status, json.loads(text) if text else None, dict(answer.headers))

    def call(self, method: str, path: str, body: object = None, **headers: object) -> Answer:
        text = b"" if body is None else json.dumps(body).encode()
        return self.send(method, path, text, **{"Content_Length": len(text)} | headers)

    def get(self, path: str, **headers: object) -> Answer:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: object = None, **headers: object) -> Answer:
        return self.call("POST", path, body, **headers)
