"""Signed addresses: where whoever has a task reports about it. Made by workers, and known again by the API.

A signature covers the tenant, the task, its token and the run. It is made with a key derived from the keyring, so no
receiver needs a token of the API, and no address can be made into that of another run.
"""

from urllib.parse import urlencode

from tasks_app.conf import conf
from tasks_app.core.away import Addresses, Run
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.sealing import keyring

PURPOSE = "reports"
SIGNATURE_LENGTH = 100


def addresses(about: Run) -> Addresses:
    """Absolute ones, for systems elsewhere."""
    base = conf().API_URL.rstrip("/")
    if not base:
        raise InvalidConfiguration(
            'PUNCTUAL["API_URL"] is empty, so nobody can be told where to report what became of a task. Set it to the '
            "address at which other systems find the API, such as https://scheduler.example.com/api/v1."
        )
    query = urlencode({"task": about.task, "run": about.run, "tenant": about.tenant, "signature": sign(about)})
    return Addresses(*(f"{base}/tasks/{about.token}/{verb}?{query}" for verb in Addresses._fields))


def sign(about: Run) -> str:
    return keyring().sign(about.signed_text(), PURPOSE)


def is_signed(about: Run, signature: str) -> bool:
    return len(signature) <= SIGNATURE_LENGTH and keyring().has_signed(signature, about.signed_text(), PURPOSE)
