"""The history of drills: what is kept, what it is compared with, and the report that is made of it."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from tasks_app.drills import history, report
from tasks_app.drills.history import DamagedHistory
from tests.support.drills import run


def test_runs_are_added_and_read_in_order(tmp_path):
    folder = tmp_path / "new" / "drills"
    assert history.read(folder) == []
    for number in (1.0, 2.0):
        history.append(folder, run(rto_s=number))

    assert [one["rto_s"] for one in history.read(folder)] == [1.0, 2.0]


@pytest.mark.parametrize("line", ["{", "[]", '{"drill": "worker"}', '{"drill": 1, "at": "2026"}'])
def test_a_damaged_line_is_named_with_the_way_out(tmp_path, line):
    (tmp_path / history.FILE).write_text(json.dumps(run()) + "\n" + line + "\n")

    with pytest.raises(DamagedHistory, match=r"line 2, is not the result of a drill\. Remove that line"):
        history.read(tmp_path)


def test_only_the_newest_run_under_the_same_load_is_compared_with():
    earlier = [run(rto_s=1.0), run(rto_s=2.0), run(rto_s=3.0, rate=500.0), run("broker")]

    assert history.last_like(earlier, run())["rto_s"] == 2.0
    assert history.last_like(earlier, run(tasks=5)) is None


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"rto_s": 49.4}, None),  # 31 s, half as much again, and the slack
        ({"rto_s": 49.6}, "worker: 49.6 s until all was well, and 31 s on 2026-11-01"),
        ({"rto_s": None}, "worker: it never came back, and took 31 s on 2026-11-01"),
        ({"lost": 1}, "worker: lost 1, and 0 on 2026-11-01"),
        ({"duplicates": 2}, "worker: effects doubled 2, and 0 on 2026-11-01"),
        ({"events_lost": 3}, "worker: events lost 3, and 0 on 2026-11-01"),
        ({"rpo_s": 0.4, "rpo_limit_s": 1.0, "lost": 6}, None),
        ({"rpo_s": 0.6, "rpo_limit_s": 1.0}, "worker: 0.6 s lost, and 0 s on 2026-11-01"),
    ],
)
def test_a_figure_that_got_worse_by_more_than_the_tolerance_is_told(now, words):
    assert history.worse(run(**now), run(), 0.5) == ([words] if words else [])


def test_what_was_bad_already_is_no_news():
    assert history.worse(run(rto_s=None, lost=2), run(rto_s=None, lost=2), 0.5) == []


def test_the_report_has_every_drill_and_the_picture_a_bar_for_each_run(tmp_path):
    runs = [
        run(rto_s=31.0),
        run(rto_s=60.0, met=False, missed=["lane low was back after 60 s, and the limit is 45 s"]),
        run("broker", rto_s=None, met=False, missed=["lane low never came back"]),
        {"drill": "restore", "at": "2026-11-01T04:00:00+00:00", "met": False, "error": "it ended with exit code 2"},
    ]
    report.write(tmp_path, runs)
    page, picture = (tmp_path / report.PAGE).read_text(), (tmp_path / report.PICTURE).read_text()

    assert "| worker | 2026-11-01T04:00:00+00:00 | 31.0 s | 45 s after the kill | 0 s |" in page
    assert "no: lane low was back after 60 s" in page and "it could not be done" in page and "| never |" in page
    drawn = ElementTree.fromstring(picture)
    bars = [one.get("class") for one in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    assert bars == ["met", "missed", "missed"]
    assert {"worker", "broker", "restore"} <= {one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")}
