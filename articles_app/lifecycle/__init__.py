"""The only writer of articles. Every move is one conditional write and one event with its actor, in one transaction."""

from .audit import approve, reject, submit, write_approval, write_rejection
from .content import back_to_draft, create, digest_of, edit_content, withdraw
from .offline import change_offline_time, take_offline, take_offline_due
from .publish import publish_due, publish_now
from .publish_time import NewTime, TimeChange, TimeOutcome, change_publish_time, change_publish_times

__all__ = [
    "NewTime",
    "TimeChange",
    "TimeOutcome",
    "approve",
    "back_to_draft",
    "change_offline_time",
    "change_publish_time",
    "change_publish_times",
    "create",
    "digest_of",
    "edit_content",
    "publish_due",
    "publish_now",
    "reject",
    "submit",
    "take_offline",
    "take_offline_due",
    "withdraw",
    "write_approval",
    "write_rejection",
]
