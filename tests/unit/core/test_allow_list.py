"""Where an installation calls, and where it never does unless an operator has listed it."""

from ipaddress import ip_address

import pytest

from tasks_app.core.allow_list import allow_list, is_public, problems_of
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.receivers import Refused, receiver_of

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"]
NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a00:1::",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_on_the_internet_is_public(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_what_is_here_or_nowhere_is_not_public_in_whatever_form(address):
    receiver = receiver_of("https://hooks.example.com/")

    assert not is_public(ip_address(address))
    with pytest.raises(Refused, match=r"https://hooks\.example\.com leads to a"):
        allow_list(["public"]).refuse(receiver, [ip_address(address)])
    with pytest.raises(Refused):
        allow_list(["public"]).refuse_early(receiver_of(f"https://{f'[{address}]' if ':' in address else address}/"))


def fate(entries: list[str], url: str, *addresses: str) -> str:
    try:
        allow_list(entries).refuse(receiver_of(url), [ip_address(address) for address in addresses])
    except Refused as refused:
        return str(refused)
    return "called"


@pytest.mark.parametrize(
    ("entries", "url", "addresses", "words"),
    [
        (["public"], "https://a.example/", ["8.8.8.8"], "called"),
        (["public"], "https://a.example:8443/", ["8.8.8.8"], "called"),
        (["public"], "https://a.example/", ["8.8.8.8", "10.0.0.1"], "leads to a private address"),
        (["public"], "https://a.example/", ["10.0.0.1", "8.8.8.8"], "leads to a private address"),
        (["public"], "https://a.example/", ["fe80::1"], "leads to a link-local address"),
        (["public"], "https://a.example/", ["0.0.0.0"], "leads to an unspecified address"),
        (["public"], "https://a.example/", ["100.64.0.1"], "leads to a non-public address"),
        (["public"], "http://a.example/", ["8.8.8.8"], "would be sent in the clear. Use https://; or an operator"),
        (["public"], "https://a.example:25/", ["8.8.8.8"], "port 25 is not one that receivers have"),
        (["public", "a.example"], "http://a.example:25/", ["10.0.0.1"], "called"),
        (["public", "A.example:8080"], "http://a.example:8080/", ["127.0.0.1"], "called"),
        (["public", "a.example:8080"], "http://a.example:8081/", ["127.0.0.1"], "leads to a loopback address"),
        (["public", "a.example"], "https://b.a.example/", ["10.0.0.1"], "leads to a private address"),
        (["a.example"], "https://b.example/", ["8.8.8.8"], "https://b.example is not listed. An operator who wants it"),
        (["*.example.com"], "http://a.b.example.com/", ["8.8.8.8"], "called"),
        (["*.example.com"], "https://a.example.com/", ["10.0.0.1"], "leads to a private address"),
        (["*.example.com"], "https://example.com/", ["8.8.8.8"], "is not listed"),
        (["*.example.com"], "https://badexample.com/", ["8.8.8.8"], "is not listed"),
        (["*.example.com", "10.1.0.0/16"], "https://a.example.com/", ["8.8.8.8", "10.1.2.3"], "called"),
        (["10.1.0.0/16"], "http://a.example/", ["10.1.2.3"], "called"),
        (["10.1.0.0/16"], "http://a.example/", ["::ffff:10.1.2.3"], "called"),
        (["10.1.0.0/16"], "http://a.example/", ["10.2.0.1"], "leads to a private address"),
        (["10.1.0.0/16"], "https://a.example/", ["8.8.8.8"], "is not listed"),
        (["127.0.0.1:8080"], "http://127.0.0.1:8080/", ["127.0.0.1"], "called"),
        (["127.0.0.1:8080"], "http://127.0.0.1:8081/", ["127.0.0.1"], "http://127.0.0.1:8081 is a loopback address"),
        (["[::1]:8080"], "http://[::1]:8080/", ["::1"], "called"),
        (["::1"], "http://[::1]:9/", ["::1"], "called"),
        (["fd00::/8"], "http://[fd00::1]/", ["fd00::1"], "called"),
        ([], "https://a.example/", ["8.8.8.8"], "is not listed"),
    ],
)
def test_each_address_has_to_be_allowed_on_its_own(entries, url, addresses, words):
    assert words in fate(entries, url, *addresses)


def test_the_sentence_says_what_to_list_and_keeps_what_a_name_means_inside_to_itself():
    told = fate(["public"], "https://db.internal/x?key=1", "10.7.7.7")

    assert told == (
        "https://db.internal leads to a private address. An operator who wants it called adds 'db.internal:443' to "
        'PUNCTUAL["OUTGOING_ALLOW"].'
    )
    assert fate(["public", "db.internal:443"], "https://db.internal/x", "10.7.7.7") == "called"


@pytest.mark.parametrize(
    ("entries", "url", "refused"),
    [
        (["public"], "https://a.example/", False),
        (["public"], "http://a.example/", True),
        (["public"], "https://a.example:25/", True),
        (["a.example"], "https://b.example/", True),
        (["a.example"], "http://a.example/", False),
        (["*.a.example"], "http://b.a.example/", False),
        (["10.0.0.0/8"], "http://b.example/", False),  # it may lead there
        (["public"], "https://127.0.0.1/", True),
    ],
)
def test_what_can_be_refused_without_a_look_up_is_refused_when_it_is_typed_in(entries, url, refused):
    try:
        allow_list(entries).refuse_early(receiver_of(url))
    except Refused:
        assert refused
    else:
        assert not refused


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "*",
        "*.",
        "https://a.example",
        "a.example/x",
        "a b",
        "a:b",
        "a:0",
        "a:70000",
        "10.0.0.1/8",
        "bücher",
        7,
        None,
    ],
)
def test_an_entry_that_lists_nothing_is_refused(entry):
    [problem] = problems_of([entry])

    assert "an entry is 'public', a host such as" in problem
    with pytest.raises(InvalidConfiguration):
        allow_list([entry])
