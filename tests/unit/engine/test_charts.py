"""What the operator's charts draw and say."""

from datetime import timedelta

import pytest

from tasks_app.admin.words import order_words
from tasks_app.core.phrases import counted, first_line, milliseconds, span
from tasks_app.lifecycle.operate import Verb
from tasks_app.pages.charts import Series, bars, lines


def test_bars_stand_on_each_other_and_the_top_is_a_round_number():
    chart = bars("x", "X", "", ["a", "b"], [Series("ok", "good", [30, 0]), Series("bad", "bad", [10, 0])], "task")

    assert chart.top == "50"
    assert chart.series[0].shape.startswith("M0.5 120.0v-72.0")  # 30 of 50, from the bottom
    assert chart.series[1].shape.startswith("M0.5 48.0v-24.0")  # on top of it


@pytest.mark.parametrize(("most", "words"), [(0, "1 task"), (1, "1 task"), (2, "2 tasks"), (30, "50 tasks")])
def test_the_top_of_the_axis_is_said_in_the_singular_or_plural(most, words):
    chart = bars("x", "X", "", ["a"], [Series("ok", "good", [most])], "task")

    assert f"{chart.top} {chart.unit}" == words


def test_a_small_thing_is_still_seen():
    chart = bars("x", "X", "", ["a", "b"], [Series("ok", "good", [1, 1_000_000])], "task")

    assert "v-1.5" in chart.series[0].shape


def test_a_chart_without_values_has_an_empty_shape_and_table():
    for chart in (
        bars("x", "X", "", ["a"], [Series("ok", "good", [0])], "task"),
        lines("x", "X", "", ["a"], [Series("p50", "p50", [None])]),
    ):
        assert chart.series[0].shape == ""
        assert chart.rows == []


def test_a_line_has_a_gap_where_there_is_no_value_and_a_dot_where_there_is_one_alone():
    chart = lines("x", "X", "", list("abcd"), [Series("p50", "p50", [10.0, 100.0, None, 1000.0])])

    assert chart.ticks == [(100.0, "1 ms"), (66.7, "10 ms"), (33.3, "100 ms"), (0.0, "1 s")]
    assert chart.series[0].shape == "M0.0 80.0h0.1L200.0 40.0M600.0 0.0h0.1"
    assert [label for label, _ in chart.rows] == ["a", "b", "d"]


def test_what_is_drawn_by_hand_says_every_value_links_where_there_is_a_page_and_escapes_what_it_says():
    series = [Series("<b>", "good", [3, 0, 1_000])]
    chart = bars("x", "X", "", ["<i>", "b", "c"], series, "task", urls=["/?a=1&b='", "/b", ""])

    assert chart.drawn_rows == (
        '<tr><th scope="row"><a href="/?a=1&amp;b=&#x27;">&lt;i&gt;</a></th><td>3</td></tr>\n'
        '<tr><th scope="row">c</th><td>1,000</td></tr>'
    )
    assert chart.drawn_hits == (
        '<a href="/?a=1&amp;b=&#x27;" tabindex="-1"><rect class="pu-hit" x="0.0" y="0" width="200.0" height="120">'
        "<title>&lt;i&gt;: &lt;b&gt; 3</title></rect></a>"
        '<rect class="pu-hit" x="400.0" y="0" width="200.0" height="120"><title>c: &lt;b&gt; 1,000</title></rect>'
    )


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0.25, "10 ms"), (1_001, "10 s"), (40_000, "1 min"), (60_001, "10 min"), (2e6, "1 h"), (1e8, "10 d")],
)
def test_the_axis_of_times_ends_at_a_length_that_people_say(highest, top):
    chart = lines("x", "X", "", ["a"], [Series("p99", "p99", [highest])])

    assert (chart.ticks[0][1], chart.ticks[-1]) == ("1 ms", (0.0, top))
    assert chart.said_rows == [("a", [milliseconds(highest)], "")]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0123, "12 ms"), (3.4, "3 s"), (100, "100 s"), (130, "2 min"), (7200, "2 h"), (2e5, "2 d")]
)
def test_a_length_of_time_is_said_as_people_say_it(seconds, words):
    assert span(timedelta(seconds=seconds)) == span(timedelta(seconds=-seconds)) == words


def test_one_is_counted_in_the_singular():
    assert [counted(n, "run") for n in (0, 1, 2, 1234)] == ["0 runs", "1 run", "2 runs", "1,234 runs"]


def test_few_milliseconds_have_a_tenth_and_many_are_a_length_of_time():
    assert (milliseconds(26.94), milliseconds(1_482_910.4)) == ("26.9 ms", "25 min")


def test_the_first_line_of_an_error_is_what_lists_show():
    assert first_line("\n it broke \n\nFile x") == "it broke "
    assert first_line("") == ""


def test_a_button_says_how_many_and_that_there_are_more():
    assert order_words(Verb.CANCEL, 1) == "Cancel 1 task"
    assert order_words(Verb.RETRY, 1234) == "Retry 1,234 tasks now"
    assert order_words(Verb.MOVE, 5, complete=False) == "Move 5 tasks and more"
