"""What a try tells of itself and is told: bounded, harmless, and without a database."""

import threading
from decimal import Decimal
from fractions import Fraction

import pytest

from django_punctual import InvalidTask, TaskCancelled
from django_punctual.testing import fake_task
from tasks_app.core.contact import LINE_LENGTH, MOST_BYTES, MOST_LINES, Contact, Report
from tasks_app.core.progress import NOTE_LENGTH, in_words


def texts(report: Report) -> list[str]:
    return [line.text for line in report.lines]


def test_the_last_lines_are_kept_and_know_how_many_came_before_them():
    report = Report(1, 1)
    for number in range(MOST_LINES + 37):
        report.log(f"line {number}")

    assert (len(report.lines), report.lines[0].number) == (MOST_LINES, 37)
    assert texts(report)[-1] == f"line {MOST_LINES + 36}"


def test_long_lines_push_out_earlier_ones_by_their_bytes():
    report = Report(1, 1)
    for _ in range(100):
        report.log("é" * LINE_LENGTH)

    assert sum(len(text.encode()) for text in texts(report)) <= MOST_BYTES
    assert report.lines[0].number == 100 - MOST_BYTES // (2 * LINE_LENGTH)


class Unreadable:
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("plain", "plain"),
        (5, "5"),
        (None, "None"),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("half \udc80", "half \\udc80"),
        ("turned \u202e round", "turned \\u202e round"),
        ("two\nlines\r", "two\nlines\\r"),
        ("x" * (LINE_LENGTH + 1), "x" * LINE_LENGTH + "…"),
        (Unreadable(), "<Unreadable whose text can't be read: RuntimeError>"),
    ],
    ids=lambda value: repr(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_whatever_is_logged_is_a_line_and_never_an_error(given, kept):
    report = Report(1, 1)
    report.log(given)
    assert texts(report) == [kept]


@pytest.mark.parametrize("fraction", [0, 1, 0.4, None, Decimal("0.5"), Fraction(1, 3), 1.0000000001, -1e-9])
def test_a_progress_is_a_part_of_the_whole_or_unknown(fraction):
    report = Report(1, 1)
    report.progress(fraction, "page 3\x1b" + "x" * NOTE_LENGTH)

    told, note = report.how_far
    assert told is None or 0 <= told <= 1
    assert note.startswith("page 3\\x1b") and len(note) == NOTE_LENGTH


@pytest.mark.parametrize("fraction", [40, 1.01, -0.1, float("nan"), float("inf"), "40 %", True, [1]])
def test_any_other_progress_is_refused_with_the_way_out(fraction):
    with pytest.raises(InvalidTask, match=r"from 0 to 1, such as 40 / 100"):
        fake_task().progress(fraction)


@pytest.mark.parametrize(
    ("fraction", "note", "words"),
    [
        (0.4, "page 40 of 100", "40 %, page 40 of 100"),
        (0.57, "", "57 %"),
        (0.9999, "", "99.9 %"),
        (None, "counting", "counting"),
        (None, "", "unknown"),
        (1, "", "100 %"),
    ],
)
def test_progress_in_words(fraction, note, words):
    assert in_words(fraction, note) == words


def test_what_is_new_is_new_until_it_is_noted_as_told():
    report = Report(1, 1)
    assert report.news() is None

    report.progress(0.1)
    report.log("one")
    news = report.news()
    assert (news.progress, [line.text for line in news.lines]) == ((0.1, ""), ["one"])
    assert report.news() == news  # it could not be written

    report.note_told(news)
    assert report.news() is None

    report.log("two")
    assert (report.news().progress, len(report.news().lines)) == (None, 2)


def test_the_first_of_each_kind_is_not_to_wait_and_the_rest_is():
    contact = Contact()
    report = contact.report(1, 1)
    report.log("one")
    report.log("two")
    assert contact.take_fresh() == [report]
    report.progress(0.1)
    report.progress(0.2)
    assert contact.take_fresh() == [report]
    assert contact.take_fresh() == []


def test_many_threads_of_a_handler_may_log_at_once():
    report = Report(1, 1)
    threads = [threading.Thread(target=lambda: [report.log("x") for _ in range(40)]) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(line.number for line in report.lines) == list(range(200))


def test_a_task_says_whether_it_still_counts():
    task, other = fake_task(), fake_task(cancelled=True)
    task.check_cancelled()

    assert (task.cancelled, other.cancelled) == (False, True)
    with pytest.raises(TaskCancelled, match=r"task 1 is no longer this run's"):
        other.check_cancelled()


def test_who_asks_is_known_and_who_does_not_costs_nothing():
    contact = Contact()
    assert not contact.is_over(5)
    assert (contact.asking, contact.reports, list(contact.fresh)) == ({5}, {}, [])
    contact.gone.add(5)
    assert contact.is_over(5)
