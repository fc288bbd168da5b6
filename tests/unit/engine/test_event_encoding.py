"""The quick way to write events as JSON gives what the plain one gives, whatever is in them."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from tasks_app.core.events import KINDS, Event
from tasks_app.engine.beat.relay.encoding import json_texts

NOW = datetime(2026, 11, 16, 8, 0, 0, 123, tzinfo=UTC)
ODD = 'a "quoted" \\ \n \u2028 \x7f \U0001f600 key'
EVENTS = [
    Event(1, 1, "task.dead", NOW, "default", "T", "a", 7, 8, NOW, "idem", 2, "DEAD", "vm:1", None, {"code": "X"}),
    Event(
        1, 2, "task.dead", NOW, "default", "T", ODD, None, None, None, ODD, None, None, "vm:1", None, [1.5, None, ODD]
    ),
    Event(2, 1, "order.paid", NOW.astimezone(ZoneInfo("Asia/Tokyo")), "acme", data={"deep": [{"a": True}]}),
    Event(3, 1, "order.paid", NOW, ODD, ODD, "k", worker=ODD, data=0),
    *(Event(4 + n, 1, name, NOW, "default", data=kind.example) for n, (name, kind) in enumerate(KINDS.items())),
]


def test_it_is_the_same_json():
    texts = list(json_texts(EVENTS))

    assert [json.loads(text) for text in texts] == [event.as_json() for event in EVENTS]
    assert [list(json.loads(text)) for text in texts] == [list(event.as_json()) for event in EVENTS]
