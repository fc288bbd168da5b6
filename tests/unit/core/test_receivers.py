"""Addresses that somebody has typed in: what is taken apart, and what is refused because it can be read in two ways."""

import pytest

from tasks_app.core.receivers import Refused, receiver_of


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://hooks.example.com", ("https", "hooks.example.com", 443, "/", "hooks.example.com")),
        ("HTTPS://Hooks.Example.COM.:443/A?b=c", ("https", "hooks.example.com", 443, "/A?b=c", "hooks.example.com")),
        ("http://x_y-z.example:8080?q=%20", ("http", "x_y-z.example", 8080, "/?q=%20", "x_y-z.example:8080")),
        ("https://203.0.113.7/", ("https", "203.0.113.7", 443, "/", "203.0.113.7")),
        ("https://[2001:DB8::0:1]:8443/a", ("https", "2001:db8::1", 8443, "/a", "[2001:db8::1]:8443")),
        ("https://xn--bcher-kva.example/", ("https", "xn--bcher-kva.example", 443, "/", "xn--bcher-kva.example")),
        ("http://localhost:/", ("http", "localhost", 80, "/", "localhost")),
    ],
)
def test_an_address_is_taken_apart(url, read):
    receiver = receiver_of(url)

    assert (receiver.scheme, receiver.host, receiver.port, receiver.path, receiver.authority) == read


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "There is no address"),
        ("https://" + "a" * 2_000, "has 2,008 characters; it may have 2,000"),
        ("ftp://x/", "must begin with https://"),
        ("//x/", "must begin with https://"),
        ("https:/x", "must begin with https://"),
        ("javascript:alert(1)", "must begin with https://"),
        ("https://me:secret@x/", "a user name or a password"),
        ("https://203.0.113.7@127.0.0.1/", "a user name or a password"),
        ("https://x/#a", "Leave it out"),
        ("https://x/a b", "' ', which must be percent-encoded"),
        ("https://x/\r\nHost: y", "'\\r', which must be percent-encoded"),
        ("https://x\t.example/", "must be percent-encoded"),
        ("https://x\0/", "must be percent-encoded"),
        ("https://x\\@127.0.0.1/", "must be percent-encoded"),
        ("https://bücher.example/", "Write it as 'xn--bcher-kva.example'"),
        ("https://127。0。0。1/", "Write it as '127.0.0.1'"),
        ("https://x.example/bücher", "'ü', which must be percent-encoded"),
        ("https:///a", "is not the name of a host"),
        ("https://a..b/", "is not the name of a host"),
        ("https://.a/", "is not the name of a host"),
        ("https://-a.example/", "is not the name of a host"),
        ("https://a%2eb/", "is not the name of a host"),
        ("https://" + "a" * 64 + ".example/", "is not the name of a host"),
        ("https://x:0/", "The port 0 does not exist"),
        ("https://x:65536/", "The port 65536 does not exist"),
        ("https://x:1e3/", "is not a host and a port"),
        ("https://x:80:80/", "is not a host and a port"),
        ("https://x:-1/", "is not a host and a port"),
        ("https://[::1", "is not a host and a port"),
        ("https://::1/", "is not a host and a port"),
        ("https://[::g]/", "is not an IPv6 address"),
        ("https://[fe80::1%25eth0]/", "is not an IPv6 address"),
        ("https://[fe80::1%eth0]/", "is not an IPv6 address"),
        ("https://[127.0.0.1]/", "is not an IPv6 address"),
        ("http://127.1/", "'127.1' is not an IPv4 address"),
        ("http://0x7f.1/", "is not an IPv4 address"),
        ("http://0x7f000001/", "is not an IPv4 address"),
        ("http://2130706433/", "is not an IPv4 address"),
        ("http://0177.0.0.1/", "is not an IPv4 address"),
        ("http://127.0.0.01/", "is not an IPv4 address"),
        ("http://1.2.3.4.5/", "is not an IPv4 address"),
        ("http://hooks.example.0x7f/", "is not an IPv4 address"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(url, words):
    with pytest.raises(Refused) as refused:
        receiver_of(url)
    assert words in str(refused.value)


def test_a_path_that_may_hold_a_secret_is_not_told():
    assert str(receiver_of("https://hooks.example.com/services/T0/B0/secret")) == "https://hooks.example.com"
