"""A stand-in for another department's stock system: stand-alone, standard library only.

    python examples/stock_service.py [--port 8766]

GET  /stock/CODE  answers {"product_code": "CODE", "quantity": 7}, or 404 for a product that it doesn't know
POST /count       {"code": "A1", "quantity": 12}: somebody has counted; without it a quantity is made from the code
GET  /switch      the switches, and what was asked so far
POST /switch      any of them; from now on:

  latency_ms   every answer after so long (0)
  failures     this share of the answers is 503 (0)
  timeouts     this share never comes (0)
  malformed    this share is no JSON (0)
  unknown      codes that are not known: a list, or a beginning such as "X-*" ([])
  rate         questions a second; more get 429 with Retry-After (none)
  retry_after  what 429 says, in seconds (1)
  down         true: hangs up on everybody (false)
  seed         of the dice that choose who fails
  reset        true: forget what was asked

GET  /asked       how often each code was answered with a quantity, and how many questions came in the busiest second

STOCK_SWITCH in the environment is the first switch, as JSON.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import time
import zlib
from collections import Counter, deque
from urllib.parse import unquote

SWITCHES = {
    "latency_ms": 0.0,
    "failures": 0.0,
    "timeouts": 0.0,
    "malformed": 0.0,
    "unknown": [],
    "rate": None,
    "retry_after": 1,
    "down": False,
}
EXAMPLES = {
    "latency_ms": "100",
    "failures": "0.01",
    "timeouts": "0.01",
    "malformed": "0.01",
    "unknown": '["A1", "X-*"]',
    "rate": "50, or null for no limit",
    "retry_after": "30",
    "down": "true",
}
LARGEST_QUESTION = 65_536
NEVER = 3_600.0


class Stock:
    """What is in stock, how the service behaves, and what it was asked."""

    def __init__(self, switches: dict) -> None:
        self._counted: dict[str, int] = {}
        self._dice = random.Random(1)
        self.switches = dict(SWITCHES)
        self.set(switches)
        self.forget()

    def set(self, wanted: dict) -> None:
        if not isinstance(wanted, dict):
            raise ValueError('switches are an object such as {"latency_ms": 100}')
        unknown = [name for name in wanted if name not in (*SWITCHES, "seed", "reset")]
        if unknown:
            raise ValueError(f"no switch {unknown[0]!r}; there are {', '.join(SWITCHES)}, seed and reset")
        for name, value in wanted.items():
            if name in SWITCHES and not _fits(name, value):
                raise ValueError(f"{name} is {value!r}; give something like {EXAMPLES[name]}")
        if "seed" in wanted:
            self._dice = random.Random(wanted["seed"])
        if wanted.get("reset"):
            self.forget()
        self.switches |= {name: value for name, value in wanted.items() if name in SWITCHES}

    def forget(self) -> None:
        self.asked, self.busiest = 0, 0
        self.answered: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self._last_second: deque[float] = deque()

    def count(self, code: str, quantity: int) -> None:
        self._counted[code] = quantity

    def arrived(self) -> bool:
        """Note a question; False if there were too many within the last second."""
        now = time.monotonic()
        self.asked += 1
        while self._last_second and self._last_second[0] <= now - 1:
            self._last_second.popleft()
        allowed = self.switches["rate"] is None or len(self._last_second) < self.switches["rate"]
        if allowed:
            self._last_second.append(now)
            self.busiest = max(self.busiest, len(self._last_second))
        return allowed

    def knows(self, code: str) -> bool:
        unknown = self.switches["unknown"]
        patterns = [unknown] if isinstance(unknown, str) else unknown
        return not any(code.startswith(one[:-1]) if one.endswith("*") else code == one for one in patterns)

    def fate(self) -> str:
        """What becomes of one question: ok, or the switch that decides."""
        thrown = self._dice.random()
        for name in ("failures", "timeouts", "malformed"):
            thrown -= self.switches[name]
            if thrown < 0:
                return name
        return "ok"

    def quantity(self, code: str) -> int:
        return self._counted.get(code, zlib.crc32(code.encode()) % 1000)

    def told(self) -> dict:
        return {**self.switches, "asked": self.asked, "busiest_second": self.busiest, "statuses": self.statuses}


def _fits(name: str, value: object) -> bool:
    if name == "down":
        return isinstance(value, bool)
    if name == "unknown":
        return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
    if name == "rate" and value is None:
        return True
    most = 1 if name in ("failures", "timeouts", "malformed") else 10**6
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


async def serve(stock: Stock, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection: question after question, until it is closed."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, *_ = head.split(" ", 2)
            body = await _body(head, reader)
            if target.startswith("/stock/"):
                answer = await _stock(stock, unquote(target.removeprefix("/stock/")))
            else:
                answer = _control(stock, method, target, body)
            if answer is None:
                return
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        return  # whoever asked has hung up, or does not speak HTTP
    finally:
        writer.close()


async def _stock(stock: Stock, code: str) -> bytes | None:
    allowed, switches = stock.arrived(), stock.switches
    if switches["down"]:
        stock.statuses["down"] += 1
        return None
    if not allowed:
        return _answer(stock, 429, {"error": "too many questions"}, f"Retry-After: {switches['retry_after']}\r\n")
    fate = stock.fate()
    await asyncio.sleep(NEVER if fate == "timeouts" else switches["latency_ms"] / 1000)
    if fate == "failures":
        return _answer(stock, 503, {"error": "failing on request"})
    if fate == "malformed":
        stock.statuses["malformed"] += 1
        return _http(200, b"<html>I am not JSON</html>")
    if not stock.knows(code):
        return _answer(stock, 404, {"error": f"no product {code}"})
    stock.answered[code] += 1
    return _answer(stock, 200, {"product_code": code, "quantity": stock.quantity(code)})


def _control(stock: Stock, method: str, target: str, body: bytes) -> bytes:
    try:
        given = json.loads(body or b"{}")
        match method, target:
            case "POST", "/switch":
                stock.set(given)
                return _http(200, _json(stock.told()))
            case "POST", "/count":
                stock.count(str(given["code"]), int(given["quantity"]))
                return _http(200, b"{}")
            case "GET", "/switch":
                return _http(200, _json(stock.told()))
            case "GET", "/asked":
                return _http(200, _json({"answered": stock.answered, "busiest_second": stock.busiest}))
    except (ValueError, KeyError, TypeError) as error:
        return _http(400, _json({"error": str(error)}))
    return _http(404, _json({"error": f"no page {target}; there are /stock/CODE, /count, /switch and /asked"}))


async def _body(head: str, reader: asyncio.StreamReader) -> bytes:
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            length = int(line.removeprefix("content-length:"))
            if length > LARGEST_QUESTION:
                raise ValueError("too large")
            return await reader.readexactly(length)
    return b""


def _answer(stock: Stock, status: int, told: dict, extra: str = "") -> bytes:
    stock.statuses[str(status)] += 1
    return _http(status, _json(told), extra)


def _http(status: int, body: bytes, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} .\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def _json(told: dict) -> bytes:
    return json.dumps(told).encode()


async def run(host: str, port: int) -> None:
    stock = Stock(json.loads(os.environ.get("STOCK_SWITCH") or "{}"))
    server = await asyncio.start_server(lambda reader, writer: serve(stock, reader, writer), host, port)
    sys.stdout.write(f"stock service on http://{host}:{server.sockets[0].getsockname()[1]}/stock\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a stock system.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8766, help="0: any free one")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(options.host, options.port))


if __name__ == "__main__":
    main()
