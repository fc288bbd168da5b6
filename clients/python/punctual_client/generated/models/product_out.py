from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ProductOut")


@_attrs_define
class ProductOut:
    """
    Attributes:
        code (str):
        name (str):
        quantity (int | None): Null: never synced
        synced_at (datetime.datetime | None):
        next_sync_at (datetime.datetime | None): Null: it is being synced, was put aside, or nothing is scheduled
        failures (int): Since the last sync that succeeded
        created_at (datetime.datetime):
    """

    code: str
    name: str
    quantity: int | None
    synced_at: datetime.datetime | None
    next_sync_at: datetime.datetime | None
    failures: int
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        name = self.name

        quantity: int | None
        quantity = self.quantity

        synced_at: None | str
        if isinstance(self.synced_at, datetime.datetime):
            synced_at = self.synced_at.isoformat()
        else:
            synced_at = self.synced_at

        next_sync_at: None | str
        if isinstance(self.next_sync_at, datetime.datetime):
            next_sync_at = self.next_sync_at.isoformat()
        else:
            next_sync_at = self.next_sync_at

        failures = self.failures

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "name": name,
                "quantity": quantity,
                "synced_at": synced_at,
                "next_sync_at": next_sync_at,
                "failures": failures,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        name = d.pop("name")

        def _parse_quantity(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        quantity = _parse_quantity(d.pop("quantity"))

        def _parse_synced_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                synced_at_type_0 = datetime.datetime.fromisoformat(data)

                return synced_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        synced_at = _parse_synced_at(d.pop("synced_at"))

        def _parse_next_sync_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_sync_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_sync_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_sync_at = _parse_next_sync_at(d.pop("next_sync_at"))

        failures = d.pop("failures")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        product_out = cls(
            code=code,
            name=name,
            quantity=quantity,
            synced_at=synced_at,
            next_sync_at=next_sync_at,
            failures=failures,
            created_at=created_at,
        )

        product_out.additional_properties = d
        return product_out

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
