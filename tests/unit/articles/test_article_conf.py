"""The articles' settings are checked, and each error says what to do."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from django.core import checks
from django.test import override_settings

from articles_app.conf import Conf, from_settings
from articles_app.errors import InvalidArticleSettings

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"MODERATION_URL": "moderation.example"}, "must be http://host/path"),
        ({"MODERATION_URL": "ftp://moderation.example"}, "must be http://host/path"),
        ({"READ_SECONDS": 0}, "must be more than 0"),
        ({"READ_SECONDS": "5"}, "must be more than 0"),
        ({"TOTAL_SECONDS": 15}, "Lower it"),
        ({"AUDIT_LEAD_SECONDS": -1}, "zero or more seconds"),
        ({"AUDIT_LEAD_SECONDS": float("nan")}, "zero or more seconds"),
        ({"MODERATION": "x"}, "is not a setting"),
        ({"MODERATION_URL": None}, "must be a string"),
        ({"MODERATION_TOKEN": 7}, "must be a string"),
        ({"MODERATION_TOKEN": "a\nb"}, "printable ASCII"),
        ({"ANSWER_MAX_BYTES": 1000.5}, "must be a whole number"),
        ({"CONNECT_SECONDS": 1e300}, "at most 86,400"),
        ({"RETRY_AFTER_MAX_SECONDS": 1e300}, "at most 86,400"),
        ({"FORBIDDEN_WORDS": "forbidden"}, "list of words"),
        ({"FORBIDDEN_WORDS": [""]}, "list of words"),
    ],
)
def test_a_bad_setting_is_refused_with_the_way_out(values, words):
    with pytest.raises(InvalidArticleSettings, match=re.escape(words)):
        from_settings(values)


@pytest.mark.parametrize("lead", [None, 0, 0.5, 86_400])
def test_a_lead_time_is_nothing_or_zero_or_more(lead):
    assert lead == from_settings({"AUDIT_LEAD_SECONDS": lead}).AUDIT_LEAD_SECONDS


def test_whole_numbers_become_what_the_setting_is():
    conf = from_settings({"READ_SECONDS": 5, "AUDIT_LEAD_SECONDS": 60, "FORBIDDEN_WORDS": ["casino"]})

    assert [type(value) for value in (conf.READ_SECONDS, conf.AUDIT_LEAD_SECONDS)] == [float, float]
    assert conf.FORBIDDEN_WORDS == ("casino",)


def test_manage_py_check_tells_every_problem():
    with override_settings(ARTICLES={"MODERATION_URL": "x", "AUDIT_LEAD_SECONDS": -1}):
        found = [message for message in checks.run_checks() if message.id == "articles.E001"]

    assert len(found) == 2


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "configuration.md").read_text()

    assert [field.name for field in fields(Conf) if f"`{field.name}`" not in page] == []
