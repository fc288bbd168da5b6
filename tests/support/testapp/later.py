"""Types whose annotations are strings until somebody looks them up."""

from __future__ import annotations

from typing import NotRequired, Required, TypedDict


class Address(TypedDict):
    city: str
    zip: NotRequired[int]


class Partial(TypedDict, total=False):
    city: Required[str]
    zip: int
