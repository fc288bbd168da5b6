"""What a callback may be: each mistake is told when it is scheduled, with the value, the rule and the way out."""

from contextlib import suppress

import pytest

from tasks_app.core.callbacks import Callback, checked_callback, filled, filled_text
from tasks_app.core.errors import InvalidTask
from tasks_app.core.hosts import checked_host_name, checked_limit, host_of, try_after
from tasks_app.core.receivers import receiver_of
from tests.support.cpu import ends_in_time

URL = "https://shop.example.com/orders"
FACTS = {"token": "t-1", "key": 'a "b"', "job": None, "attempt": 2, "fire_time": "2026-11-16T12:00:00Z"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"url": "ftp://x/"}, "must begin with https"),
        ({"timeout": 0}, "timeout=0 must be more than 0"),
        ({"timeout": 301.0}, "at most 300"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"json": {}, "text": ""}, "json and text were both given"),
        ({"method": "GET", "json": {"a": 1}}, "'GET' has no body, but json was given"),
        ({"success": [200, 99]}, "success has 99"),
        ({"success": []}, "no answer could be a success"),
        ({"sign": "a b"}, "the name of a secret can't be 'a b'"),
        ({"headers": {"X Y": "1"}}, "the header 'X Y' has no name"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "'x-a' is given twice"),
        ({"headers": {"Host": "elsewhere"}}, "'Host' is set by Punctual"),
        ({"headers": {"Webhook-Id": "1"}}, "'Webhook-Id' is set by Punctual"),
        ({"headers": {"idempotency-key": "1"}}, "'idempotency-key' is set by Punctual"),
        ({"headers": {"Punctual-Attempt": "1"}}, "set by Punctual"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "printable characters of ASCII"),
        ({"headers": {"X-A": {"prefix": "Bearer "}}}, "'X-A' names no secret"),
        ({"headers": {"X-A": {"secret": "../x"}}}, "the name of a secret can't be '../x'"),
        ({"headers": {"X-A": {"secret": "x", "prefix": "\n"}}}, "its prefix"),
        ({"headers": {f"X-{n}": "" for n in range(51)}}, "51 headers are too many"),
        ({"json": {"a": ["{{atempt}}"]}}, "'{{atempt}}' is unknown. Did you mean 'attempt'?"),
        ({"text": "{{ }}"}, "is unknown"),
        ({"text": "{{\n " + "x" * 60_000 + "}}"}, "is unknown"),
        ({"text": "{{key}}" + " " * 65_530}, "has 65,537 characters in texts with {{; a callback has at most 65,536"),
        ({"json": ["{{key}}" * 600, "{{key}}" * 401]}, "has 1,001 placeholders; a callback has at most 1,000"),
        ({"later": 0}, "later: lease=0 must be"),
        ({"later": 10.0**9}, "at most 30 days"),
    ],
)
def test_what_could_not_be_called_is_refused(given, words):
    with pytest.raises(InvalidTask) as error:
        checked_callback(Callback(**{"url": URL} | given))

    assert words in str(error.value)


def test_what_is_well_is_taken():
    headers = {"X-A": "1", "Authorization": {"secret": "billing-token", "prefix": "Bearer "}, "Content-Type": "a/b"}
    callback = Callback(URL, "PUT", headers, json={"k": "{{ key }}"}, timeout=0.1, success=[200, 409], sign="")

    assert str(checked_callback(callback)) == "https://shop.example.com"
    assert set(callback.secrets) == {"Authorization"}


@pytest.mark.parametrize(
    "text",
    ["{{" + " " * 200_000, "{{ " * 70_000, "{" * 200_000, "{{ " + "a " * 100_000, "{{" + "\n" * 100_000 + "{{ key }}"],
    ids=["spaces", "openings", "braces", "words", "lines"],
)
def test_no_text_takes_long_to_check_or_to_fill_in(text):
    def both():
        with suppress(InvalidTask):
            checked_callback(Callback(URL, text=text))
        filled_text(text, FACTS)
        filled(text, FACTS)

    assert ends_in_time(both)


def test_a_placeholder_may_have_any_space_around_its_name():
    assert filled("{{\n\t key \u2003}}", FACTS | {"key": 5}) == 5
    assert filled_text("{{{ key }}} {{}", FACTS | {"key": 5}) == "{5} {{}"


def test_placeholders_are_filled_in_where_they_stand_and_a_whole_one_keeps_its_kind():
    body = {"{{key}}": "{{attempt}}", "list": ["{{ job }}", "x{{attempt}}/{{job}}", 5], "text": "no {braces}"}

    assert filled(body, FACTS) == {"{{key}}": 2, "list": [None, "x2/", 5], "text": "no {braces}"}
    assert filled_text("{{token}} {{attempt}}", FACTS) == "t-1 2"


def test_what_is_filled_in_is_not_looked_at_again():
    assert filled("<{{key}}>", FACTS | {"key": "{{token}}"}) == "<{{token}}>"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.example.com/x", "shop.example.com"),
        ("https://shop.example.com:8443/x", "shop.example.com:8443"),
        ("http://shop.example.com/x", "shop.example.com:80"),
        ("https://[2001:db8::1]/x", "[2001:db8::1]"),
    ],
)
def test_a_host_has_one_name(url, host):
    assert host_of(receiver_of(url)) == host
    assert checked_host_name(host) == host


@pytest.mark.parametrize("host", ["", "a/b", "https://shop.example.com", "x" * 300, 7, "a b", "user@host"])
def test_what_is_no_host_is_refused(host):
    with pytest.raises(InvalidTask):
        checked_host_name(host)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((None, None, None), "neither max_running nor rate"),
        ((0, None, None), "max_running=0"),
        ((True, None, None), "max_running=True"),
        ((None, 0, None), "rate=0"),
        ((None, float("nan"), None), "rate=nan"),
        ((1, None, 5), "burst=5 has no rate"),
        ((None, 1, 0), "burst=0"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(given, words):
    with pytest.raises(InvalidTask, match=words):
        checked_limit(*given)


def test_a_rate_without_a_burst_allows_a_seconds_worth():
    assert checked_limit(None, 20, None).burst == 20
    assert checked_limit(None, 0.1, None).burst == 1


def test_tries_of_a_host_come_further_and_further_apart():
    assert [try_after(n, 5) for n in (0, 1, 2, 5, 50)] == [5, 10, 20, 25, 25]
    assert [try_after(n, 60) for n in (0, 1)] == [60, 60]  # no sooner than the setting says
