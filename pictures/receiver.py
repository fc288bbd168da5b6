"""Somebody who is told of events and alerts, and says that all is well."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b"thank you"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Nobody reads it."""


class Receiver:
    def __enter__(self) -> "Receiver":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"
