from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.event_scope import EventScope
from ..models.sink_kind import SinkKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.subscription_in_target import SubscriptionInTarget


T = TypeVar("T", bound="SubscriptionIn")


@_attrs_define
class SubscriptionIn:
    """A new subscription.

    Attributes:
        name (str):
        events (list[str]): Patterns such as task.dead or task.*; the last match decides
        target (SubscriptionInTarget): Where the receiver is. A webhook has `url`; a stream `stream`, `maxlen` and
            `broker`; a queue `broker` and `queue`; python the `name` of a function
        task_types (list[str] | Unset): Patterns of task types; empty: all
        sink (SinkKind | Unset): Where events go: the kind of receiver. Default: SinkKind.WEBHOOK.
        scope (EventScope | Unset): Events of one tenant, or of all tenants. Default: EventScope.TENANT.
        since (datetime.datetime | None | Unset): Also what happened since then, as far back as it is kept
        reason (None | str | Unset): Why; kept in the audit
    """

    name: str
    events: list[str]
    target: SubscriptionInTarget
    task_types: list[str] | Unset = UNSET
    sink: SinkKind | Unset = SinkKind.WEBHOOK
    scope: EventScope | Unset = EventScope.TENANT
    since: datetime.datetime | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        events = self.events

        target = self.target.to_dict()

        task_types: list[str] | Unset = UNSET
        if not isinstance(self.task_types, Unset):
            task_types = self.task_types

        sink: str | Unset = UNSET
        if not isinstance(self.sink, Unset):
            sink = self.sink.value

        scope: str | Unset = UNSET
        if not isinstance(self.scope, Unset):
            scope = self.scope.value

        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        elif isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "events": events,
                "target": target,
            }
        )
        if task_types is not UNSET:
            field_dict["task_types"] = task_types
        if sink is not UNSET:
            field_dict["sink"] = sink
        if scope is not UNSET:
            field_dict["scope"] = scope
        if since is not UNSET:
            field_dict["since"] = since
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.subscription_in_target import SubscriptionInTarget  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        events = cast(list[str], d.pop("events"))

        target = SubscriptionInTarget.from_dict(d.pop("target"))

        task_types = cast(list[str], d.pop("task_types", UNSET))

        _sink = d.pop("sink", UNSET)
        sink: SinkKind | Unset
        if isinstance(_sink, Unset):
            sink = UNSET
        else:
            sink = SinkKind(_sink)

        _scope = d.pop("scope", UNSET)
        scope: EventScope | Unset
        if isinstance(_scope, Unset):
            scope = UNSET
        else:
            scope = EventScope(_scope)

        def _parse_since(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        subscription_in = cls(
            name=name,
            events=events,
            target=target,
            task_types=task_types,
            sink=sink,
            scope=scope,
            since=since,
            reason=reason,
        )

        return subscription_in
