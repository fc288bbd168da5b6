"""The numbers of a page that is sent back."""

from articles_app.admin.numbers import NONE, read_id, read_revision


def test_only_plain_digits_are_read_and_no_more_than_fit_the_column():
    assert [read_revision(text) for text in ("0", "7", "999999999")] == [0, 7, 999_999_999]
    assert [read_id(text) for text in ("7", "9" * 18)] == [7, 10**18 - 1]
    nothing = ["", "-1", "x", "1.5", " 1", "٣", "²", "9" * 10]
    assert {read_revision(text) for text in nothing} == {NONE}
    assert {read_id(text) for text in [*nothing[:-1], "9" * 19]} == {NONE}
