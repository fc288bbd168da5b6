"""The real example service as a process of its own, with its switch."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVICE = Path(__file__).resolve().parent.parent.parent / "examples" / "moderation_service.py"


class Moderation:
    def __init__(self, url: str) -> None:
        self.url = url

    def behave(self, mode: str, **options: object) -> None:
        self._request("/mode", {"mode": mode, **options})

    def told(self) -> dict:
        return self._request("/mode")

    def _request(self, path: str, data: dict | None = None) -> dict:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.url.replace("/audit", path), body)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@contextmanager
def moderation_service() -> Iterator[Moderation]:
    process = subprocess.Popen(
        [sys.executable, str(SERVICE), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Moderation(process.stdout.readline().split()[-1])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
