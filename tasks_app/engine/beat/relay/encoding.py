"""Events as JSON text, many at a time: what all events of a row share is written once. The same as Event.as_json()."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from json.encoder import encode_basestring_ascii as _quoted

from tasks_app.core.events import Event

_encode = json.JSONEncoder(separators=(",", ":")).encode


def json_texts(events: Iterable[Event]) -> Iterator[str]:
    row, shared, unit, end = -1, "", "", ""
    for event in events:
        if event.row != row:
            row = event.row
            time = _quoted(event.time.isoformat())
            shared = f'","type":{_quoted(event.type)},"time":{time},"tenant":{_quoted(event.tenant)}'
            unit = f'{{"task_type":{_text(event.task_type)},"key":'
            end = f',"worker":{_text(event.worker)},"revision":{row},"data":'
        yield (
            f'{{"id":"{row}-{event.place}{shared},'
            f'"unit":{"null" if event.key is None else unit + _quoted(event.key) + "}"},'
            f'"task":{_number(event.task)},"job":{_number(event.job)},"fire_time":{_moment(event.fire_time)},'
            f'"idem_key":{_text(event.idem_key)},"attempt":{_number(event.attempt)},"state":{_text(event.state)}'
            f"{end}{'null' if event.data is None else _encode(event.data)}}}"
        )


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _moment(value: datetime | None) -> str:
    return "null" if value is None else _quoted(value.isoformat())
