from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.sink_kind import SinkKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.subscription_patch_target_type_0 import SubscriptionPatchTargetType0


T = TypeVar("T", bound="SubscriptionPatch")


@_attrs_define
class SubscriptionPatch:
    """The fields to change. A new `sink` needs its `target`.

    Attributes:
        events (list[str] | None | Unset): Patterns such as task.dead or task.*; the last match decides
        task_types (list[str] | None | Unset): Patterns of task types; empty: all
        sink (None | SinkKind | Unset):
        target (None | SubscriptionPatchTargetType0 | Unset): Where the receiver is. A webhook has `url`; a stream
            `stream`, `maxlen` and `broker`; a queue `broker` and `queue`; python the `name` of a function
        reason (None | str | Unset): Why; kept in the audit
    """

    events: list[str] | None | Unset = UNSET
    task_types: list[str] | None | Unset = UNSET
    sink: None | SinkKind | Unset = UNSET
    target: None | SubscriptionPatchTargetType0 | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.subscription_patch_target_type_0 import (
            SubscriptionPatchTargetType0,  # noqa: PLC0415
        )

        events: list[str] | None | Unset
        if isinstance(self.events, Unset):
            events = UNSET
        elif isinstance(self.events, list):
            events = self.events

        else:
            events = self.events

        task_types: list[str] | None | Unset
        if isinstance(self.task_types, Unset):
            task_types = UNSET
        elif isinstance(self.task_types, list):
            task_types = self.task_types

        else:
            task_types = self.task_types

        sink: None | str | Unset
        if isinstance(self.sink, Unset):
            sink = UNSET
        elif isinstance(self.sink, SinkKind):
            sink = self.sink.value
        else:
            sink = self.sink

        target: dict[str, Any] | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        elif isinstance(self.target, SubscriptionPatchTargetType0):
            target = self.target.to_dict()
        else:
            target = self.target

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if events is not UNSET:
            field_dict["events"] = events
        if task_types is not UNSET:
            field_dict["task_types"] = task_types
        if sink is not UNSET:
            field_dict["sink"] = sink
        if target is not UNSET:
            field_dict["target"] = target
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.subscription_patch_target_type_0 import (
            SubscriptionPatchTargetType0,  # noqa: PLC0415
        )

        d = dict(src_dict)

        def _parse_events(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                events_type_0 = cast(list[str], data)

                return events_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        events = _parse_events(d.pop("events", UNSET))

        def _parse_task_types(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                task_types_type_0 = cast(list[str], data)

                return task_types_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        task_types = _parse_task_types(d.pop("task_types", UNSET))

        def _parse_sink(data: object) -> None | SinkKind | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sink_type_0 = SinkKind(data)

                return sink_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SinkKind | Unset, data)

        sink = _parse_sink(d.pop("sink", UNSET))

        def _parse_target(data: object) -> None | SubscriptionPatchTargetType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                target_type_0 = SubscriptionPatchTargetType0.from_dict(data)

                return target_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SubscriptionPatchTargetType0 | Unset, data)

        target = _parse_target(d.pop("target", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        subscription_patch = cls(
            events=events,
            task_types=task_types,
            sink=sink,
            target=target,
            reason=reason,
        )

        return subscription_patch
