from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_scope import EventScope
from ..models.sink_kind import SinkKind
from ..models.subscription_state import SubscriptionState

if TYPE_CHECKING:
    from ..models.not_kept_out import NotKeptOut
    from ..models.subscription_made_target import SubscriptionMadeTarget


T = TypeVar("T", bound="SubscriptionMade")


@_attrs_define
class SubscriptionMade:
    """A subscription, and the secret that was made for it.

    Attributes:
        id (int):
        name (str):
        scope (EventScope): Events of one tenant, or of all tenants.
        events (list[str]):
        not_kept (list[NotKeptOut]): Events that its patterns match and that this installation does not keep, so it
            never gets them
        task_types (list[str]):
        sink (SinkKind): Where events go: the kind of receiver.
        target (SubscriptionMadeTarget):
        secrets (int): How many secrets its webhooks are signed with
        state (SubscriptionState): PAUSED by a person; SUSPENDED since its receiver was away for too long. Either waits
            for somebody to resume it.
        state_reason (str): Why it is paused or suspended
        created_by (str):
        created_at (datetime.datetime):
        delivered (int): How many events it has got
        delivered_at (datetime.datetime | None):
        failing_since (datetime.datetime | None): Nothing could be delivered since then
        attempts (int): Failed ones in a row
        next_try_at (datetime.datetime | None):
        last_error (str):
        waiting_events (int | None): About how many it has still to get; null if not looked at
        waiting_seconds (float | None): How long the first of them has waited
        secret (None | str): What its webhooks are signed with, shown this once; null if none was made
    """

    id: int
    name: str
    scope: EventScope
    events: list[str]
    not_kept: list[NotKeptOut]
    task_types: list[str]
    sink: SinkKind
    target: SubscriptionMadeTarget
    secrets: int
    state: SubscriptionState
    state_reason: str
    created_by: str
    created_at: datetime.datetime
    delivered: int
    delivered_at: datetime.datetime | None
    failing_since: datetime.datetime | None
    attempts: int
    next_try_at: datetime.datetime | None
    last_error: str
    waiting_events: int | None
    waiting_seconds: float | None
    secret: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        scope = self.scope.value

        events = self.events

        not_kept = []
        for not_kept_item_data in self.not_kept:
            not_kept_item = not_kept_item_data.to_dict()
            not_kept.append(not_kept_item)

        task_types = self.task_types

        sink = self.sink.value

        target = self.target.to_dict()

        secrets = self.secrets

        state = self.state.value

        state_reason = self.state_reason

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        delivered = self.delivered

        delivered_at: None | str
        if isinstance(self.delivered_at, datetime.datetime):
            delivered_at = self.delivered_at.isoformat()
        else:
            delivered_at = self.delivered_at

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        attempts = self.attempts

        next_try_at: None | str
        if isinstance(self.next_try_at, datetime.datetime):
            next_try_at = self.next_try_at.isoformat()
        else:
            next_try_at = self.next_try_at

        last_error = self.last_error

        waiting_events: int | None
        waiting_events = self.waiting_events

        waiting_seconds: float | None
        waiting_seconds = self.waiting_seconds

        secret: None | str
        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "scope": scope,
                "events": events,
                "not_kept": not_kept,
                "task_types": task_types,
                "sink": sink,
                "target": target,
                "secrets": secrets,
                "state": state,
                "state_reason": state_reason,
                "created_by": created_by,
                "created_at": created_at,
                "delivered": delivered,
                "delivered_at": delivered_at,
                "failing_since": failing_since,
                "attempts": attempts,
                "next_try_at": next_try_at,
                "last_error": last_error,
                "waiting_events": waiting_events,
                "waiting_seconds": waiting_seconds,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.not_kept_out import NotKeptOut  # noqa: PLC0415
        from ..models.subscription_made_target import SubscriptionMadeTarget  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        scope = EventScope(d.pop("scope"))

        events = cast(list[str], d.pop("events"))

        not_kept = []
        _not_kept = d.pop("not_kept")
        for not_kept_item_data in _not_kept:
            not_kept_item = NotKeptOut.from_dict(not_kept_item_data)

            not_kept.append(not_kept_item)

        task_types = cast(list[str], d.pop("task_types"))

        sink = SinkKind(d.pop("sink"))

        target = SubscriptionMadeTarget.from_dict(d.pop("target"))

        secrets = d.pop("secrets")

        state = SubscriptionState(d.pop("state"))

        state_reason = d.pop("state_reason")

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        delivered = d.pop("delivered")

        def _parse_delivered_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                delivered_at_type_0 = datetime.datetime.fromisoformat(data)

                return delivered_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        delivered_at = _parse_delivered_at(d.pop("delivered_at"))

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        attempts = d.pop("attempts")

        def _parse_next_try_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_try_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_try_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_try_at = _parse_next_try_at(d.pop("next_try_at"))

        last_error = d.pop("last_error")

        def _parse_waiting_events(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        waiting_events = _parse_waiting_events(d.pop("waiting_events"))

        def _parse_waiting_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        waiting_seconds = _parse_waiting_seconds(d.pop("waiting_seconds"))

        def _parse_secret(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        secret = _parse_secret(d.pop("secret"))

        subscription_made = cls(
            id=id,
            name=name,
            scope=scope,
            events=events,
            not_kept=not_kept,
            task_types=task_types,
            sink=sink,
            target=target,
            secrets=secrets,
            state=state,
            state_reason=state_reason,
            created_by=created_by,
            created_at=created_at,
            delivered=delivered,
            delivered_at=delivered_at,
            failing_since=failing_since,
            attempts=attempts,
            next_try_at=next_try_at,
            last_error=last_error,
            waiting_events=waiting_events,
            waiting_seconds=waiting_seconds,
            secret=secret,
        )

        subscription_made.additional_properties = d
        return subscription_made

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
