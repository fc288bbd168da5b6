"""Where the boxes of a graph lie, and the list that says the same."""

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
