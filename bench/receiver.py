"""A light receiver of webhooks, as a process of its own: it answers 204 to everything."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def receiver() -> Iterator[str]:
    """Its address."""
    process = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/hook"
    finally:
        process.kill()
        process.wait()


SERVICE = """
import asyncio

ANSWER = b"HTTP/1.1 204 No Content\\r\\n\\r\\n"

class Receiver(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.waiting = transport, b""

    def data_received(self, data):
        data = self.waiting + data if self.waiting else data
        while (end := data.find(b"\\r\\n\\r\\n")) >= 0:
            at = data.find(b"Content-Length: ", 0, end) + 16
            whole = end + 4 + int(data[at:data.find(b"\\r\\n", at)])
            if len(data) < whole:
                break
            data = data[whole:]
            self.transport.write(ANSWER)
        self.waiting = data

async def main():
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
