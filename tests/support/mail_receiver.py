"""A real SMTP server in a thread, as small as one can be: it keeps the mails that it is sent, or refuses them."""

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage


class Mailbox:
    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.refuses = ""  # what it says to whoever brings a mail; empty: it takes them


@contextmanager
def mail_receiver() -> Iterator[Mailbox]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            to: list[str] = []
            self._say("220 ready")
            while line := self.rfile.readline():
                words = line.decode().strip()
                verb = words[:4].upper()
                if verb == "QUIT":
                    return self._say("221 bye")
                if verb == "RCPT":
                    to.append(words.partition("<")[2].partition(">")[0])
                if verb == "DATA":
                    self._take(to)
                    to = []
                else:
                    self._say("250 ok" if verb in ("EHLO", "HELO", "MAIL", "RCPT", "RSET") else "502 no")
            return None

        def _take(self, to: list[str]) -> None:
            self._say("354 go on")
            lines = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line.removeprefix(b"."))
            if box.refuses:
                return self._say(box.refuses)
            box.mails.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))
            box.recipients.append(list(to))
            return self._say("250 taken")

        def _say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    box = Mailbox(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield box
    finally:
        server.shutdown()
        server.server_close()
