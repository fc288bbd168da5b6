"""Positions and segments of the log, and how far a segment is written."""

import pytest

from tasks_app.core.wal import (
    LEAST_RECORD,
    PAGE,
    Piece,
    Segment,
    Written,
    forks,
    is_history,
    joined,
    lsn_text,
    parse_lsn,
    piece_of,
    segment_at,
    segment_of,
    written,
)

MB = 1 << 20


def page(position: int, content: bytes = b"") -> bytes:
    """A page of the log: it says where it belongs."""
    return (b"\x18\xd1\x05\x00" + bytes(4) + position.to_bytes(8, "little") + content).ljust(PAGE, b"\0")


@pytest.mark.parametrize("text", ["0/0", "0/2000028", "16/B374D848", "FFFFFFFF/FFFFFFF8"])
def test_a_position_is_written_as_postgresql_does(text):
    assert lsn_text(parse_lsn(text)) == text


@pytest.mark.parametrize(
    ("timeline", "position", "size", "name"),
    [
        (1, 0, 16 * MB, "000000010000000000000000"),
        (1, 0x16_B374D848, 16 * MB, "0000000100000016000000B3"),
        (0x2A, 0x1_00000000, 16 * MB, "0000002A0000000100000000"),
        (1, 0x1_00000000, 1024 * MB, "000000010000000100000000"),
        (3, 0x1_C0000000, 1024 * MB, "000000030000000100000003"),
    ],
)
def test_a_segment_is_called_as_postgresql_does(timeline, position, size, name):
    segment = segment_at(timeline, position, size)
    assert (segment.name, segment_of(name, size)) == (name, segment)
    assert segment.begin <= position < segment.end == segment.begin + size


@pytest.mark.parametrize("name", ["", "00000001000000000000000", "000000010000000000000000.partial", "x" * 24])
def test_other_files_are_no_segments(name):
    assert segment_of(name, 16 * MB) is None


def test_a_history_and_a_piece_are_known_by_their_names():
    piece = Piece("000000010000000000000007", 24576, 8192)
    assert piece.name == "000000010000000000000007.8192-24576.piece"
    assert (piece_of(piece.name), piece_of("000000010000000000000007.zst")) == (piece, None)
    assert (is_history("00000002.history"), is_history("000000010000000000000007")) == (True, False)


def test_a_history_says_where_the_timelines_before_were_left():
    assert forks("1\t0/3000060\tno recovery target specified\n\n# by hand\n2\t1/5\tbefore 2026-11-18\n") == {
        1: 0x3000060,
        2: (1 << 32) + 5,
    }


def test_what_is_written_ends_with_the_last_page_that_knows_its_place():
    begin = 16 * MB
    data = page(begin, b"x" * 100) + page(begin + PAGE, b"y" * 5) + bytes(2 * PAGE)
    assert written(data, begin) == Written(2 * PAGE, PAGE + 16 + 8)  # rounded up to where a record may begin
    assert written(bytes(PAGE), begin) == Written(0, 0)
    assert written(data[PAGE:], begin + PAGE) == Written(PAGE, 24)


def test_a_page_of_an_earlier_use_of_the_file_is_not_written():
    begin = 16 * MB
    assert written(page(begin, b"x") + page(begin - 16 * MB + PAGE, b"old"), begin).pages == PAGE


def test_a_record_is_never_missing_by_less_than_its_header():
    assert LEAST_RECORD == 24


def test_pieces_become_a_segment_and_the_later_one_counts():
    size, name = 4 * PAGE, Segment(1, 0, 4 * PAGE).name
    first, grown = page(0, b"a"), page(0, b"a and more")
    pieces = [(Piece(name, 2 * PAGE, 0), grown + page(PAGE, b"b")), (Piece(name, PAGE, 0), first)]
    assert joined(pieces, size) == (grown + page(PAGE, b"b")).ljust(size, b"\0")


def test_what_comes_after_a_gap_is_left_out_unless_another_piece_has_it_all():
    size, name = 4 * PAGE, Segment(1, 0, 4 * PAGE).name
    a, c = (Piece(name, PAGE, 0), page(0, b"a")), (Piece(name, 3 * PAGE, 2 * PAGE), page(2 * PAGE, b"c"))
    assert joined([a, c], size) == a[1].ljust(size, b"\0")
    whole = (Piece(name, 4 * PAGE, 0), b"".join(page(n * PAGE, b"w") for n in range(4)))
    assert joined([c, whole], size) == whole[1]


def test_a_history_says_which_timelines_count_and_until_where():
    text = "# a comment\n1\t0/4001120\tbefore 2026-11-18 12:00:00+00\n\n2\t0/A000000\tno recovery target specified\n"
    assert forks(text) == {1: 0x4001120, 2: 0xA000000}
    assert forks("") == {}
