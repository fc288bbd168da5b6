"""The table of an article's moves says what it should, and says it in one place."""

import re
from pathlib import Path

import pytest

from articles_app.errors import IllegalMove
from articles_app.states import MOVES, ArticleStatus, allowed_moves, sources_of, target_of


def test_every_state_can_be_reached_and_left():
    assert {move.target for move in MOVES} == set(ArticleStatus)
    assert {move.source for move in MOVES if move.target != move.source} == set(ArticleStatus)


def test_going_live_starts_at_an_approval_and_nowhere_else():
    assert {move.source for move in MOVES if move.target == ArticleStatus.PUBLISHED and move.source != move.target} == {
        ArticleStatus.AUDIT_SUCCESS
    }


def test_an_approval_starts_at_a_pending_audit_and_nowhere_else():
    sources = {m.source for m in MOVES if m.target == ArticleStatus.AUDIT_SUCCESS and m.source != m.target}
    assert sources == {ArticleStatus.PENDING_AUDIT}


def test_no_move_is_in_the_table_twice():
    assert len(MOVES) == len({(move.verb, move.source) for move in MOVES})


@pytest.mark.parametrize("verb", sorted({move.verb for move in MOVES}))
def test_a_verb_leads_to_one_state_or_leaves_the_state_alone(verb):
    moves = [move for move in MOVES if move.verb == verb]
    target = target_of(verb)
    assert all(move.target == (target or move.source) for move in moves)


@pytest.mark.parametrize("status", ArticleStatus)
def test_an_illegal_move_names_the_article_the_state_and_what_is_allowed(status):
    words = str(IllegalMove(7, status, "fly"))

    assert "article 7" in words
    assert status in words
    assert "fly" in words
    assert all(verb in words for verb in allowed_moves(status))
    assert all(status in sources_of(verb) for verb in allowed_moves(status))


def test_the_articles_page_shows_exactly_the_legal_moves():
    page = (Path(__file__).resolve().parents[3] / "docs" / "articles.md").read_text()
    diagram = re.search(r"```mermaid\n(.*?)```", page, re.DOTALL)[1]
    drawn = set()
    for source, target, verbs in re.findall(r"^\s*(\w+) --> (\w+): (.+)$", diagram, re.MULTILINE):
        drawn |= {(verb.strip(), source, target) for verb in verbs.split(",")}

    assert drawn == {(move.verb, str(move.source), str(move.target)) for move in MOVES}
