"""Where the boxes of a graph lie, and the list that says the same; the bars of a run, and how many are shown."""

from datetime import UTC, datetime, timedelta

from tasks_app.pages.gantt import EDGE, MOST_BARS, NAMES, Part, gantt
from tasks_app.pages.graph import HIGH, MOST_DRAWN, WIDE, Box, picture


def boxes(**parents: list[str]) -> list[Box]:
    keys = {name: place for place, name in enumerate(parents)}
    return [Box(keys[name], name, [keys[one] for one in above]) for name, above in parents.items()]


def test_each_box_lies_to_the_right_of_all_that_it_waits_for_and_none_on_another():
    drawn = picture(boxes(a=[], b=["a"], c=["a"], d=["b", "c"], e=["a", "d"]))
    places = {one.box.name: one for one in drawn.boxes}

    assert all(places[row.box.name].x >= places[name].x + WIDE for row in drawn.rows for name in row.parents)
    spots = [(one.x, one.y) for one in drawn.boxes]
    assert len(set(spots)) == 5
    assert all(abs(y1 - y2) >= HIGH for x1, y1 in spots for x2, y2 in spots if x1 == x2 and (x1, y1) != (x2, y2))
    assert all(0 <= one.x <= drawn.width - WIDE and 0 <= one.y <= drawn.height - HIGH for one in drawn.boxes)
    assert len(drawn.arrows) == 6


def test_the_list_has_every_job_after_its_parents():
    rows = picture(boxes(d=["b", "c"], b=["a"], c=["a"], a=[])).rows

    assert [(row.box.name, row.parents) for row in rows] == [
        ("a", []),
        ("b", ["a"]),
        ("c", ["a"]),
        ("d", ["b", "c"]),
    ]


def test_a_long_name_is_cut_in_the_box_and_whole_in_the_list():
    [drawn] = picture([Box(1, "x" * 60, [])]).boxes

    assert drawn.short == "x" * 23 + "…"


def test_what_is_too_large_to_draw_is_still_a_list():
    drawn = picture(boxes(**{f"n{number}": [] for number in range(MOST_DRAWN + 1)}))

    assert drawn.boxes == []
    assert len(drawn.rows) == MOST_DRAWN + 1


NOON = datetime(2090, 1, 2, 12, tzinfo=UTC)


def part(name: str, *seconds: float | None, **others: object) -> Part:
    times = [None if one is None else NOON + timedelta(seconds=one) for one in seconds]
    return Part(name, "SUCCESS", *times, **others)


def test_a_bar_goes_from_when_it_could_start_over_its_start_to_its_end_or_to_now():
    parts = [
        part("late", 40, 50, 60),
        part("runs", 60, 70, None),
        part("waits", 60, None, None),
        part("not yet", *[None] * 3),
    ]

    shown = gantt([*parts, part("first", 0, 20, 40)], NOON + timedelta(seconds=100))

    left = NAMES + EDGE  # 6.4 a second from there
    assert [(one.part.name, one.x - left, one.run_x - left, one.run_width) for one in shown.bars] == [
        ("first", 0.0, 128.0, 128.0),
        ("late", 256.0, 320.0, 64.0),
        ("runs", 384.0, 448.0, 192.0),
        ("waits", 384.0, 640.0, 0.0),
    ]
    assert [(one.waited.seconds, one.ran and one.ran.seconds) for one in shown.bars] == [
        (20, 20),
        (10, 10),
        (10, 30),
        (40, None),
    ]
    assert [words for _, words in shown.ticks] == ["0", "30 s", "1 min", "1.5 min"]
    assert gantt(parts[-1:], NOON) is None


def test_of_many_parts_those_on_the_critical_path_what_runs_and_the_longest_are_shown():
    many = [part(f"{n}", 0, 0, n + 1) for n in range(3_000)]
    many += [part("runs", 2_900, 2_901, None), part("critical", 0, 0, 0.5, critical=True)]

    shown = gantt(many, NOON + timedelta(seconds=2_902))

    names = {one.part.name for one in shown.bars}
    assert (len(names), shown.parts, shown.left_out) == (MOST_BARS, 3_002, 3_002 - MOST_BARS)
    assert names == {"runs", "critical", *(f"{n}" for n in range(3_000 - MOST_BARS + 2, 3_000))}
