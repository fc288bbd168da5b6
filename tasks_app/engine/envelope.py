"""The message of a batch: what a beat writes, and the only thing that a worker takes from a lane's queue.

It looks like any message of Celery's, so that Celery can run it. But whoever can write to Redis can write such a one:
nothing of it is handed on but its batch number, the rest is checked and then made anew.
"""

import json
import re
from base64 import b64decode, b64encode
from functools import cache
from itertools import count
from typing import Any, TypeGuard

from .celery_app import app

RUN_BATCH = "punctual.run_batch"
MOST_BYTES = 8_192  # ours has about 1,000

_BATCH_NUMBER = re.compile("-".join(f"[0-9a-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12)))
_CONTENT = {"content-type": "application/json", "content-encoding": "utf-8"}
_PARTS = {"body", "headers", "properties", *_CONTENT}
_tags = count()
_NOTHING: tuple[object, ...] = (None, "", [], {}, 0)  # and False, which equals 0


class NotOurs(Exception):
    """No message of a batch; says why, for a log line."""


def write(number: str, lane: str) -> str:
    return json.dumps(message(number, lane))


def message(number: str, lane: str) -> dict[str, Any]:
    """As Celery and kombu make it, with a delivery tag of its own."""
    headers, options = _made_by_celery()
    return {
        "body": b64encode(f'[["{number}"], {{}}, {options}]'.encode()).decode(),
        **_CONTENT,
        "headers": {**headers, "id": number, "root_id": number},
        "properties": {
            "correlation_id": number,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": lane},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": f"{number}.{next(_tags)}",
        },
    }


def read(item: bytes, lane: str) -> dict[str, Any]:
    """The message of the batch that this one names, made anew; raises NotOurs if it says anything that ours doesn't."""
    if len(item) > MOST_BYTES:
        raise NotOurs(f"it is larger than {MOST_BYTES} bytes")
    said = _parsed(item)
    headers, properties = said.get("headers"), said.get("properties")
    if not isinstance(headers, dict) or not isinstance(properties, dict):
        raise NotOurs("it has no headers or properties")
    if headers.get("task") != RUN_BATCH:
        raise NotOurs(
            f"it is for the Celery task {headers.get('task')!r:.100}; a lane's queue is for {RUN_BATCH} only, so route "
            "that task to a queue and a worker of its own"
        )
    number = headers.get("id")
    if not _is_batch_number(number):
        raise NotOurs(f"its id is {number!r:.100}, which is not a batch number")
    ours = message(number, lane)
    _refuse_more("headers", headers, ours["headers"], texts=("origin",))
    _refuse_more("properties", properties, ours["properties"], texts=("delivery_tag",))
    for name, value in _CONTENT.items():
        if said.get(name) != value:
            raise NotOurs(f"its {name} is {said.get(name)!r:.100} and not {value!r}")
    if properties.get("body_encoding") != "base64":
        raise NotOurs("its body is not in base64")
    if said.get("body") != ours["body"]:
        _refuse_other_body(said.get("body"), number)
    if more := said.keys() - _PARTS:
        raise NotOurs(f"it has a part {min(more)!r:.100}")
    return ours


def _parsed(item: bytes) -> dict[str, Any]:
    try:
        said = json.loads(item.decode())
    except (ValueError, RecursionError):
        raise NotOurs("it is not JSON") from None
    if not isinstance(said, dict):
        raise NotOurs("it is not a JSON object")
    return said


def _is_batch_number(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _BATCH_NUMBER.fullmatch(value) is not None


def _refuse_more(where: str, said: dict[str, Any], ours: dict[str, Any], texts: tuple[str, ...]) -> None:
    """What is missing or empty says nothing: another version of Celery may leave a part out, or have a new one."""
    for name, value in said.items():
        if value == ours.get(name) or value in _NOTHING or (name in texts and isinstance(value, str)):
            continue
        raise NotOurs(f"{name!r:.100} in its {where} is {value!r:.100}")


def _refuse_other_body(body: Any, number: str) -> None:
    """One that is written in another way and says the same is fine."""
    try:
        args, kwargs, options = json.loads(b64decode(body, validate=True))
        same = args == [number] and kwargs == {} and not any(options.values())
    except (ValueError, TypeError, AttributeError, RecursionError):
        same = False
    if not same:
        raise NotOurs("its body is not that batch number alone")


@cache
def _made_by_celery() -> tuple[dict[str, Any], str]:
    """What Celery itself writes on such a message, made once: its headers, and the options in its body."""
    made = app.amqp.as_task_v2("", RUN_BATCH, ignore_result=True)
    return made.headers | {"argsrepr": "", "kwargsrepr": ""}, json.dumps(made.body[2])
