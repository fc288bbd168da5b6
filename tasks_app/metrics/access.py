"""Who may read /metrics: an address that METRICS_ALLOW lists, or the bearer of a token that was made for it."""

from enum import Enum

from tasks_app.conf import conf
from tasks_app.core import networks
from tasks_app.engine.operations.api_tokens import digest_of, may_read_metrics

from .background import Background, NoAnswer

MOST_KNOWN = 100


class Access(Enum):
    GRANTED, REFUSED, UNKNOWN = "granted", "refused", "unknown"  # unknown: the database did not say


class Guard:
    """Remembers the tokens that were good: while the database is away, those who could read before still can."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._good: dict[str, None] = {}  # by their hash, the one that was last asked about last

    def decide(self, address: str, authorization: str, until: float) -> Access:
        if networks.contains(conf().metrics_allow, address):
            return Access.GRANTED
        scheme, _, text = authorization.partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text:
            return Access.REFUSED
        return self._of_token(text, until)

    def _of_token(self, text: str, until: float) -> Access:
        digest = digest_of(text)
        try:
            good = self._background.ask(lambda: may_read_metrics(text), until)
        except NoAnswer:
            return Access.GRANTED if digest in self._good else Access.UNKNOWN
        self._good.pop(digest, None)
        if not good:
            return Access.REFUSED
        if len(self._good) >= MOST_KNOWN:
            del self._good[next(iter(self._good))]
        self._good[digest] = None
        return Access.GRANTED
