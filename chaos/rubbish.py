"""What whoever can write to Redis may put into a lane's queue: no messages, and messages that are not quite ours."""

import base64
import gzip
import json
import random
from functools import cache
from uuid import uuid4

RUBBISH = (
    b"this is not JSON",
    b"[]",
    b"{}",
    b"null",
    b"7",
    b'"x"',
    b'{"properties": {}}',
    b'{"body": "?", "properties": {"body_encoding": "base64", "delivery_tag": "x", "delivery_info": {}}}',
    b"\xff\xfe\x00",
    b"[" * 5_000,
    b"[" * 100_000,
    random.Random(0).randbytes(5_000_000),
)
BOMB_MB = 200


def forged(lane: str) -> list[bytes]:
    """Well-formed messages, each with something in it that no beat has written."""
    return [
        _message(lane, ["not a batch number"]),
        _message(lane, []),
        _message(lane, [str(uuid4())], task="chaos.no_such_task"),
        _message(lane, [str(uuid4())], task="celery.backend_cleanup"),
        _message(lane, [str(uuid4())], id={"an": "object"}),
        _message(lane, [str(uuid4())], timelimit="x"),
        _message(lane, [str(uuid4())], eta="x"),
        _message(lane, [str(uuid4())], expires=[[[]]]),
        _message(lane, "x"),
        _message(lane, [str(uuid4())], body="x"),
        _message(lane, [str(uuid4())], compression="application/x-gzip", body=_bomb()),
        _message(lane, [str(uuid4())]),  # a batch that there is not
    ]


def _message(lane: str, args: object, body: str = "", **headers: object) -> bytes:
    number = args[0] if args else "none"
    content = json.dumps([args, {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}])
    message = {
        "body": body or base64.b64encode(content.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": "punctual.run_batch", "id": number, "root_id": number} | headers,
        "properties": {
            "correlation_id": number,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": lane},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": str(uuid4()),
        },
    }
    return json.dumps(message).encode()


@cache
def _bomb() -> str:
    """A few hundred kilobytes that become very many."""
    return base64.b64encode(gzip.compress(b"[" * (BOMB_MB * 1_000_000), compresslevel=1)).decode()
