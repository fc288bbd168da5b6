"""What `bench.compare` makes of the figures of several runs."""

from bench.compare import compared


def pair(ours: float, baseline: float) -> tuple[dict[str, float], dict[str, float]]:
    return {"per_s": ours, "new": 1.0}, {"per_s": baseline}


def test_a_pair_that_was_disturbed_moves_neither_the_ratio_nor_its_range():
    pairs = [pair(90, 100), pair(95, 100), pair(100, 100), pair(105, 100), pair(30, 100)]

    [one] = compared(pairs)

    assert (one.figure, one.ours, one.baseline, one.ratio) == ("per_s", 95, 100, 0.95)
    assert (one.low, one.high) == (0.9, 1.0)


def test_a_figure_that_is_zero_on_both_sides_is_equal():
    assert compared([pair(0, 0)])[0].ratio == 1.0
