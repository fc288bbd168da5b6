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

    before = gc.get_threshold()
    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.enable()
    gc.set_threshold(*before)


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


def test_after_loading_all_is_as_it_was(collections):
    before = gc.get_threshold()
    with pytest.raises(ImportError), loading():
        raise ImportError

    assert gc.isenabled() and gc.get_threshold() == before


@pytest.mark.parametrize(
    ("settle", "enabled", "threshold"),
    [
        (gc.disable, False, 700),
        (lambda: gc.set_threshold(50_000), True, 50_000),
        (lambda: gc.set_threshold(0), True, 0),
        (gc.enable, True, 700),
    ],
)
def test_what_the_loaded_code_does_to_the_collector_stays(collections, settle, enabled, threshold):
    gc.set_threshold(700)
    with loading():
        settle()

    assert (gc.isenabled(), gc.get_threshold()[0]) == (enabled, threshold)
