"""The event of a campaign that is over, told in the transaction in which it ended."""

from collections.abc import Mapping

from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.lifecycle.outbox import tell


def tell_finished(campaign: int, kind: str, tenant: str | None, state: str, counts: Mapping[str, int]) -> None:
    """Those that are for tasks of several tenants are the internal one's."""
    told = {"campaign": campaign, "kind": kind, "state": str(state), "counts": dict(counts)}
    tell("campaign.finished", told, tenant=tenant or INTERNAL_TENANT)
