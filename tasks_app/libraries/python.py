"""CPython: the encoder in C that `JSONEncoder.encode()` makes anew for each value."""

import json
from collections.abc import Callable, Iterable

from tasks_app.libraries import Uses

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

with Uses("Python", ">=3.11") as uses:
    from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]  # typeshed lacks the former

    # As ENCODER writes it. It remembers nothing, so all threads can have the same one.
    json_parts: Callable[[object, int], Iterable[str]] = c_make_encoder(
        None, ENCODER.default, encode_basestring, None, ":", ",", False, False, False
    )
