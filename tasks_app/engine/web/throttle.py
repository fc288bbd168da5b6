"""Who has to wait: whoever guesses passwords or tokens, or calls the API more often than anybody should.

Failed logins count by (username, address), strictly, and by address, generously: nobody can lock a person out from
elsewhere, and nobody is locked out for ever. The counters are in Redis, for all web processes; while it is away each
process counts for itself, and a caller waits for it no longer than WAKEUP_MS.
"""

import hashlib
import ipaddress
import time
from collections.abc import Sequence
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.allow_list import embedded
from tasks_app.core.throttle import Memory, Rule
from tasks_app.engine.calls import WINDOW_SECONDS, calls_key, window
from tasks_app.engine.shared import Shared

LOGIN_PAIR = Rule("pair", free=5, first=5, longest=900, forget=3600)
LOGIN_ADDRESS = Rule("address", free=50, first=2, longest=60, forget=3600)
# A token can't be guessed; this keeps a caller with an old one from asking the database all day.
API_FAILURES = Rule("calls", free=100, first=5, longest=60, forget=900)
THROTTLE = "throttle:"
MEMORY = Memory()
_shared = Shared("throttle")

_ATTEMPT = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local wait = 0
for i = 1, #KEYS do
    wait = math.max(wait, tonumber(redis.call('HGET', KEYS[i], 'until') or 0) - now)
end
if wait > 0 then return wait end
for i = 1, #KEYS do
    local free, first, longest, forget = unpack(ARGV, i * 4 - 3, i * 4)
    local attempts = redis.call('HINCRBY', KEYS[i], 'attempts', 1)
    if attempts >= tonumber(free) then
        local pause = math.min(tonumber(longest), first * 2 ^ math.min(attempts - free, 20))
        redis.call('HSET', KEYS[i], 'until', now + pause)
    end
    redis.call('PEXPIRE', KEYS[i], forget)
end
return 0
"""
_FORGIVE = """
redis.call('DEL', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 1 and redis.call('HINCRBY', KEYS[2], 'attempts', -1) < tonumber(ARGV[1]) then
    redis.call('HDEL', KEYS[2], 'until')
end
return 0
"""
_COUNT = """
local found = {}
for i = 1, #KEYS do
    found[i] = redis.call('INCR', KEYS[i])
    if found[i] == 1 then redis.call('PEXPIRE', KEYS[i], ARGV[1]) end
end
return found
"""


def login_attempt(username: str, address: str) -> float:
    """Count an attempt to log in, and return 0; or the seconds to wait before the next one is looked at.

    It counts before the password is looked at: many at once are not one.
    """
    return _attempt([LOGIN_PAIR, LOGIN_ADDRESS], _login_keys(username, address))


def login_succeeded(username: str, address: str) -> None:
    pair, shared = _login_keys(username, address)
    if _shared(_FORGIVE, [pair, shared], [LOGIN_ADDRESS.free]) is None:
        MEMORY.forgive(pair, shared, LOGIN_ADDRESS)


def failed_call(address: str) -> float:
    """Count a call of the API without a valid token, and return 0; or the seconds to wait."""
    return _attempt([API_FAILURES], [key_of(API_FAILURES, _place(address))])


class Calls(NamedTuple):
    """How many calls there may be in a minute, and how many there were in this one, this one included."""

    limit: int
    used: int


def count_call(name: str, address: str) -> Calls | None:
    """Count a call of somebody whom we know, by who it is and by the address: the one that is nearer to its limit.

    None if there is no limit.
    """
    asked = [
        ("caller", name, conf().API_CALLS_PER_MINUTE),
        ("from", _place(address), conf().API_ADDRESS_CALLS_PER_MINUTE),
    ]
    limits = [
        (conf().redis_key(f"{THROTTLE}{kind}:{_digest(who)}:{window()}"), most) for kind, who, most in asked if most
    ]
    if not limits:
        return None
    keys = [key for key, _ in limits]
    counts = _shared(_COUNT, keys, [2 * WINDOW_SECONDS * 1000])
    if counts is None:
        counts = MEMORY.count(keys, 2 * WINDOW_SECONDS, time.monotonic())
    counted = [Calls(most, count) for count, (_, most) in zip(counts, limits, strict=True)]
    return min(counted, key=lambda one: one.limit - one.used)


def count_tenant_call(tenant: str) -> int:
    """Count a call of a tenant that has a quota for them; how many that makes in this minute."""
    keys = [calls_key(tenant, window())]
    counts = _shared(_COUNT, keys, [2 * WINDOW_SECONDS * 1000])
    if counts is None:
        counts = MEMORY.count(keys, 2 * WINDOW_SECONDS, time.monotonic())
    count: int = counts[0]
    return count


def seconds_to_next_window() -> int:
    return WINDOW_SECONDS - int(time.time()) % WINDOW_SECONDS


def key_of(rule: Rule, who: str) -> str:
    return conf().redis_key(f"{THROTTLE}{rule.name}:{_digest(who)}")


def _attempt(rules: Sequence[Rule], keys: Sequence[str]) -> float:
    words: list[int] = []
    for rule in rules:
        words += [rule.free, *(round(1000 * seconds) for seconds in (rule.first, rule.longest, rule.forget))]
    waited = _shared(_ATTEMPT, keys, words)
    return MEMORY.attempt(keys, rules, time.monotonic()) if waited is None else waited / 1000


def _login_keys(username: str, address: str) -> list[str]:
    place = _place(address)
    return [key_of(LOGIN_PAIR, f"{username.casefold()}\n{place}"), key_of(LOGIN_ADDRESS, place)]


def _place(address: str) -> str:
    """An IPv6 client owns its whole /64 network, unless the address stands for an IPv4 one."""
    try:
        found = embedded(ipaddress.ip_address(address))
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]
