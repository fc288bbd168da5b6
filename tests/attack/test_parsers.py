"""Whatever reads text of users takes less than a second of processor time for the largest and hardest it can be given,
and a new parser is found by itself."""

from functools import partial

from tests.support.cpu import Piece, too_slow
from tests.support.parser_scan import found, found_in
from tests.support.parsers import READ, READS_NONE, Parser, call_of, refused_at_most

# The scan sees nothing if it finds less: lower these only together with the code.
AT_LEAST, PIECES_AT_LEAST = 300, 1_700


def _pieces(name: str, parser: Parser) -> list[Piece]:
    call = call_of(name, parser)
    return [Piece(name, words, partial(refused_at_most, call, make)) for words, make in parser.given]


def test_every_parser_is_on_one_of_the_lists():
    there, none = found(), [name for names in READS_NONE.values() for name in names]

    new = [name for name in there if name not in READ and name not in none]
    assert not new, (
        f"{new} may read text of users. Add it to READ in tests/support/parsers.py with the largest that it can be "
        "given, or to READS_NONE with the reason why it reads none."
    )
    gone = [name for name in (*READ, *none) if name not in there]
    assert not gone, f"{gone} are on a list in tests/support/parsers.py, and are no parsers any more. Remove them."
    assert not set(READ) & set(none) and len(none) == len(set(none))
    assert len(there) >= AT_LEAST, f"only {len(there)} were found"


def test_every_parser_ends_in_time():
    pieces = [piece for name, parser in READ.items() for piece in _pieces(name, parser)]
    assert len(pieces) >= PIECES_AT_LEAST, f"only {len(pieces)} pieces were made"

    slow = [f"{piece.name} takes more than a second for {piece.text}" for piece in too_slow(pieces)]

    assert not slow, f"{slow}. Limit the size of its input before it reads it, or read it in linear time."


def test_new_parsers_are_found():
    code = """
class Clock:
    @classmethod
    def read(cls, text: str): return _number(text)

def _number(text):
    if not text.isdigit():
        raise InvalidTask(f"{text!r} is no number; write it like 7.")

def parsed_span(given: object): raise forms.ValidationError("no")
def open_it(request): return json.loads(request.body)
def words_of(text: str): return text.partition(" ")
def shape(size: int): raise InvalidTask("no")
"""
    assert found_in(code, thorough=False) == ["Clock.read", "parsed_span", "open_it"]
    assert found_in(code, thorough=True) == ["Clock.read", "parsed_span", "open_it", "words_of"]
