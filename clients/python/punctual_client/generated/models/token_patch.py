from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.lane import Lane
from ..models.right import Right
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenPatch")


@_attrs_define
class TokenPatch:
    """The fields to change.

    Attributes:
        right (None | Right | Unset): The highest that it has; each includes those before it
        types (list[str] | None | Unset): All it may see and use; null: all that are open to its tenant
        lanes (list[Lane] | None | Unset): That it may use
        reason (None | str | Unset): Why; kept in the audit
    """

    right: None | Right | Unset = UNSET
    types: list[str] | None | Unset = UNSET
    lanes: list[Lane] | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        right: None | str | Unset
        if isinstance(self.right, Unset):
            right = UNSET
        elif isinstance(self.right, Right):
            right = self.right.value
        else:
            right = self.right

        types: list[str] | None | Unset
        if isinstance(self.types, Unset):
            types = UNSET
        elif isinstance(self.types, list):
            types = self.types

        else:
            types = self.types

        lanes: list[str] | None | Unset
        if isinstance(self.lanes, Unset):
            lanes = UNSET
        elif isinstance(self.lanes, list):
            lanes = []
            for lanes_type_0_item_data in self.lanes:
                lanes_type_0_item = lanes_type_0_item_data.value
                lanes.append(lanes_type_0_item)

        else:
            lanes = self.lanes

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if right is not UNSET:
            field_dict["right"] = right
        if types is not UNSET:
            field_dict["types"] = types
        if lanes is not UNSET:
            field_dict["lanes"] = lanes
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_right(data: object) -> None | Right | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                right_type_0 = Right(data)

                return right_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Right | Unset, data)

        right = _parse_right(d.pop("right", UNSET))

        def _parse_types(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                types_type_0 = cast(list[str], data)

                return types_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        types = _parse_types(d.pop("types", UNSET))

        def _parse_lanes(data: object) -> list[Lane] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                lanes_type_0 = []
                _lanes_type_0 = data
                for lanes_type_0_item_data in _lanes_type_0:
                    lanes_type_0_item = Lane(lanes_type_0_item_data)

                    lanes_type_0.append(lanes_type_0_item)

                return lanes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Lane] | None | Unset, data)

        lanes = _parse_lanes(d.pop("lanes", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        token_patch = cls(
            right=right,
            types=types,
            lanes=lanes,
            reason=reason,
        )

        return token_patch
