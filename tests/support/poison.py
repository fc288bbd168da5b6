"""Items on which a beat hangs: in C code that keeps the interpreter, or in a loop of Python that never ends.

TEST_POISON names them in the environment of the process: {"job": ["*/7 * * * * *", "c"]}, by a part of the item.
"""

import json
import os
import re

from tasks_app.core import at_work

BACKTRACKS = "a" * 60 + "b"


def in_c() -> None:
    re.match("(a+)+$", BACKTRACKS)


def in_python() -> None:
    while True:
        pass


class _Poisoned(at_work._Marked):
    __slots__ = ()

    def __enter__(self) -> None:
        super().__enter__()
        kind, item, *_ = self._about
        # Asked anew: what is imported in a nursery is imported in all that are born there.
        part, how = json.loads(os.environ.get("TEST_POISON", "{}")).get(kind, ("", ""))
        if part and part in item:
            in_c() if how == "c" else in_python()


at_work._Marked = _Poisoned
