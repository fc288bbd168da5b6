"""Examples of /members and /tokens, for the schema."""

from typing import Any

_MEMBER = {
    "username": "ada",
    "role": "operator",
    "source": "",
    "granted_by": "olga",
    "created_at": "2026-11-16T09:00:00Z",
    "updated_at": "2026-11-16T09:00:00Z",
}
_TOKEN = {
    "id": 7,
    "name": "billing",
    "begins": "pnc_9mB3",
    "right": "schedule",
    "types": ["INVOICE_SEND"],
    "lanes": ["default", "low"],
    "created_at": "2026-11-16T09:00:00Z",
    "expires_at": "2027-11-16T09:00:00Z",
    "revoked_at": None,
    "last_used_at": "2026-11-16T09:12:00Z",
}
MEMBERS: dict[str, list[Any]] = {
    "MemberIn": [{"role": "operator", "reason": "she is on call"}],
    "MemberOut": [_MEMBER],
    "MemberPage": [{"items": [_MEMBER], "next": None}],
    "MemberGrantedOut": [{"before": "viewer", "member": _MEMBER}],
    "TokenIn": [
        {
            "name": "billing",
            "right": "schedule",
            "types": ["INVOICE_SEND"],
            "lanes": ["default", "low"],
            "days": 365,
            "reason": "invoices are sent from there",
        }
    ],
    "TokenPatch": [{"right": "read", "reason": "it only reports"}],
    "TokenOut": [_TOKEN],
    "TokenIssued": [_TOKEN | {"last_used_at": None, "text": "pnc_9mB3x…"}],
    "TokenPage": [{"items": [_TOKEN | {"types": None}], "next": "7"}],
}
