"""Wrong versions of the code, one for each number and guard of a requirement: a test here must notice every one."""

from typing import NamedTuple


class Mutant(NamedTuple):
    requirement: str  # the document and its section, such as "000 §3 rule 2"
    path: str  # from the root of the checkout
    old: str  # occurs in the file exactly once
    new: str
