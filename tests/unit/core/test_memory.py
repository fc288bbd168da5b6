"""The garbage collector: off while many objects are made, and on again whatever happens."""

import gc

import pytest

from tasks_app.core.memory import collector_paused, keep_what_is_loaded, loading


@pytest.fixture
def collections():
    """The generations of the collections that happened."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.enable()


def test_nothing_is_collected_while_it_is_paused(collections):
    with collector_paused():
        kept = [[] for _ in range(10_000)]
        assert collections == []
    kept += [[] for _ in range(10_000)]

    assert collections


def test_it_goes_on_after_an_error():
    with pytest.raises(ZeroDivisionError), collector_paused():
        raise ZeroDivisionError

    assert gc.isenabled()


def test_where_somebody_switched_it_off_it_stays_off(collections):
    gc.disable()
    with collector_paused():
        pass

    assert not gc.isenabled()


def test_what_is_loaded_is_not_walked_again():
    before = gc.get_freeze_count()
    keep_what_is_loaded()
    kept = gc.get_freeze_count()

    assert kept > before


def test_what_is_loaded_is_walked_neither_meanwhile_nor_later(collections):
    before = gc.get_freeze_count()
    with loading():
        kept = [[] for _ in range(10_000)]
        assert collections == []

    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(kept)
