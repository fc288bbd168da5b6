"""A slow HTTP service and its clients, plain and async, for the handlers and the bare loops they are held against."""

import asyncio
import http.client
import socket
import threading

_local = threading.local()
idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []


def call(address: str) -> None:
    """One request over this thread's own connection."""
    connection = getattr(_local, "connection", None)
    if connection is None:
        host, port = address.rsplit(":", 1)
        connection = _local.connection = http.client.HTTPConnection(host, int(port), timeout=10)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"the service answered {answer.status}")


async def call_async(address: str) -> None:
    """One request over a connection that no other request uses now."""
    host, port = address.rsplit(":", 1)
    reader, writer = idle.pop() if idle else await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nHost: service\r\n\r\n")
    answer = await reader.readuntil(b"\r\n\r\nok")
    idle.append((reader, writer))
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise RuntimeError(f"the service answered {answer!r}")


SERVICE = """
import asyncio, sys

ANSWER = b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok"

async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\\r\\n\\r\\n")
            await asyncio.sleep(0.020)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()

asyncio.run(main())
"""
