"""The garbage collector: keeps it from walking all of Django again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# A threshold that no process reaches, and that nobody else sets: while it is there, it is ours to put back.
NEVER = 2**31 - 1


def keep_what_is_loaded() -> None:
    """What is loaded by now stays for the life of the process: it need not be walked after every few batches."""
    gc.collect()
    gc.freeze()


@contextmanager
def collector_paused() -> Iterator[None]:
    """For a call that makes many objects at once, nearly all of which it keeps: walking them and all the rest of the
    process would find nothing, and took a tenth of the time of scheduling 20,000 tasks."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """For imports, nothing of which is garbage: it is walked neither meanwhile, which takes a fifth of their time, nor
    ever after. What is imported may set the collector as it likes, or disable it: that outlasts the imports."""
    before = gc.get_threshold()
    gc.set_threshold(NEVER)
    try:
        yield
        gc.freeze()
    finally:
        if gc.get_threshold()[0] == NEVER:
            gc.set_threshold(*before)
