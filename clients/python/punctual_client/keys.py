"""Keys by which a request that is sent again is known to be the same one."""

from uuid import uuid4


def new_key() -> str:
    return uuid4().hex
