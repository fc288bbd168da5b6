"""The chores `chain` and `anchor`: entries of the audit trail get their places, and every hour it is signed how far
each trail goes; what was signed is taken elsewhere."""

from tasks_app.engine.channels.anchor_places import forget_places, send_anchors
from tasks_app.lifecycle import audit_anchor
from tasks_app.lifecycle.audit_chain import chain
from tasks_app.sealing import audit_keys


def chain_entries() -> str:
    return str(chain())


def anchor() -> str:
    """Looks every minute, so that a place that could not be reached gets what it lacks soon."""
    made = ""
    forget_places()
    if audit_keys().signer is not None and audit_anchor.is_due():
        made = f"anchor {audit_anchor.anchor().no}, "
    return f"{made}{send_anchors()} sent"
