"""Who gets a thread of the web process, who waits, and who is refused."""

import pytest

from scheduler_project.room import MOST_WAITING, Kind, Room, kind_of

THREADS = 8


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("POST /api/v1/tasks/0b3c-4d/complete?signature=x&run=y", Kind.REPORT),
        ("POST /api/v1/tasks/0b3c-4d/fail", Kind.REPORT),
        ("POST http://localhost/api/v1/tasks/0b3c-4d/progress", Kind.REPORT),
        ("POST /api/v1/tasks/12/cancel", Kind.CALL),
        ("GET /api/v1/tasks/0b3c-4d/complete", Kind.CALL),
        ("GET /api/v1/tasks?next=/admin/", Kind.CALL),
        ("GET /api/v1/live", Kind.PERSON),
        ("GET /api/v1/scheduler/health", Kind.PERSON),
        ("GET /admin/?next=/api/v1/tasks", Kind.PERSON),
        ("GET /metrics", Kind.PERSON),
        ("rubbish", Kind.PERSON),
        ("", Kind.PERSON),
    ],
)
def test_a_request_has_a_kind_by_its_first_line(line, kind):
    assert kind_of(f"{line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) is kind


def filled(*kinds: Kind, threads: int = THREADS) -> tuple[Room[Kind], list[Kind]]:
    """After 20 of each kind have come; and those that have got a thread."""
    room: Room[Kind] = Room(threads)
    for kind in kinds:
        for _ in range(20):
            assert room.take(kind, kind)
    return room, list(iter(room.next, None))


@pytest.mark.parametrize(
    ("kinds", "running"),
    [
        ([Kind.REPORT], [Kind.REPORT] * 4),
        ([Kind.CALL], [Kind.CALL] * 5),
        ([Kind.CALL, Kind.REPORT], [Kind.CALL] * 5 + [Kind.REPORT]),
        ([Kind.PERSON], [Kind.PERSON] * 7),
        ([Kind.PERSON, Kind.CALL, Kind.REPORT], [Kind.PERSON] * 7 + [Kind.CALL]),
    ],
)
def test_no_kind_takes_all_threads(kinds, running):
    assert filled(*kinds)[1] == running


def test_people_get_a_thread_beside_any_number_of_calls_and_reports():
    room, running = filled(Kind.REPORT)
    for kind in (Kind.CALL, Kind.CALL, Kind.CALL, Kind.PERSON, Kind.PERSON, Kind.PERSON):
        assert room.take(kind, kind)

    running += iter(room.next, None)

    assert running == [Kind.REPORT] * 4 + [Kind.PERSON] * 3 + [Kind.CALL]
    room.done(Kind.PERSON)
    assert room.next() is Kind.CALL
    room.done(Kind.PERSON)
    assert room.next() is None, "two threads are kept for people"


def test_who_is_done_makes_room_for_the_next_of_those_that_wait():
    room, running = filled(Kind.CALL, Kind.REPORT)
    room.done(running[0])

    assert list(iter(room.next, None)) == [Kind.CALL]


@pytest.mark.parametrize("threads", [1, 2])
def test_with_few_threads_each_kind_still_gets_one(threads):
    for kind in Kind:
        assert filled(kind, threads=threads)[1] == [kind]


@pytest.mark.parametrize("kind", Kind)
def test_only_so_many_wait_and_the_rest_is_refused(kind):
    room: Room[int] = Room(THREADS)

    taken = [room.take(kind, number) for number in range(MOST_WAITING[kind] + 1)]

    assert taken == [True] * MOST_WAITING[kind] + [False]
    assert room.take(Kind((kind + 1) % 3), 0), "those of another kind don't wait behind them"
