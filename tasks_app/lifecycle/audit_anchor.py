"""Anchors: signed statements of how far each tenant's audit trail goes. They are kept elsewhere, so that whoever can
change everything in the database can't change what was anchored without its being found."""

import hashlib
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.audit_chain import GENESIS, VERSION, canonical, moment
from tasks_app.core.audit_keys import AuditKey
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.database import atomic
from tasks_app.documentation import page
from tasks_app.sealing import audit_keys
from tasks_app.sql import run

from .audit import Operator
from .audit_chain import chain, lock_trails

KIND = "punctual-audit-anchor"


class NoKey(PunctualError):
    """Nothing can be signed."""


class Anchor(NamedTuple):
    no: int
    trails: int  # that it names: those that have changed since the one before


def signer() -> AuditKey:
    key = audit_keys().signer
    if key is None:
        raise NoKey(
            'There is no key that signs: PUNCTUAL["AUDIT_KEYS"] has no private one. Make one with '
            f"`manage.py audit keys --new`; {page('audit')} says where to put it."
        )
    return key


class Loss(NamedTuple):
    """What somebody signs after a failover or a restore that has lost anchored entries: anchors after `last_good` that
    this database does not go on from are those of the one that was lost."""

    last_good: int
    reason: str
    by: str


def anchor(after: Loss | None = None) -> Anchor:
    """Chain what waits, and sign how far every trail goes now. Raises NoKey."""
    key = signer()
    if after is not None:
        _refuse_bad_loss(after)
    while True:
        chain(wait=True)
        with atomic():
            lock_trails(wait=True)
            # A look that is half done since would get places that were due in this anchor.
            if not run("looks_left", {})[0][0]:
                return _anchor(key, after)


def _anchor(key: AuditKey, after: Loss | None) -> Anchor:
    # After the lock: all places that were given before this time can be seen.
    now = run("clock", {})[0][0]
    last = run("last_anchor", {})
    no, previous = (last[0][0] + 1, bytes(last[0][1])) if last else (1, GENESIS)
    trails = [_trail(*row) for row in run("changed_heads", {})]
    told: dict[str, object] = {
        "v": VERSION,
        "kind": KIND,
        "no": no,
        "at": moment(now),
        "environment": conf().ENVIRONMENT,
        "previous": previous.hex(),
        "key": key.id,
        "public": key.public_text,
        "kept_days": int(conf().KEEP_AUDIT_DAYS),  # so nothing younger may be gone
        "trails": trails,
    }
    if after is not None:
        told["after_loss"] = after._asdict()
    body = signed(told, key)
    params = {"no": no, "at": now, "key": key.id, "body": body, "hash": hashlib.sha256(body.encode()).digest()}
    run("write_anchor", params)
    run("mark_anchored", {})
    return Anchor(no, len(trails))


def _refuse_bad_loss(after: Loss) -> None:
    last = run("last_anchor", {})
    newest = last[0][0] if last else 0
    if not 0 <= after.last_good <= newest:
        raise InvalidTask(
            f"the last good anchor can't be {after.last_good}: it must be one that this database has, from 0 (none) to "
            f"{newest}. `manage.py audit verify` names the first that there are two of; it is the one before."
        )
    Operator(after.by, after.reason)  # who says so, and why, as for any deed


def is_due() -> bool:
    last = run("last_anchor", {})
    return not last or not 0 <= last[0][2] < conf().AUDIT_ANCHOR_SECONDS


def signed(told: dict[str, object], key: AuditKey) -> str:
    """A line of JSON with its signature, which is over the line without it."""
    return canonical(told | {"signature": key.sign(canonical(told).encode())})


def _trail(
    tenant: str, place: int, hash_: bytes, floor: int, floor_hash: bytes, oldest: str | None
) -> dict[str, object]:
    return {
        "tenant": tenant,
        "place": place,
        "hash": bytes(hash_).hex(),
        "floor": floor,
        "floor_hash": bytes(floor_hash).hex(),
        "oldest": oldest,  # when the first entry after the floor was written
    }
