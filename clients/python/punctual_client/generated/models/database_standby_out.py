from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DatabaseStandbyOut")


@_attrs_define
class DatabaseStandbyOut:
    """A server that follows the database, and may be promoted.

    Attributes:
        name (str):
        address (str):
        state (None | str): As PostgreSQL calls it; null: our role may not see it, nor what follows
        sync (None | str): `sync` or `quorum`: it loses nothing that was acknowledged
        behind_seconds (float | None):
        behind_bytes (int | None):
    """

    name: str
    address: str
    state: None | str
    sync: None | str
    behind_seconds: float | None
    behind_bytes: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        address = self.address

        state: None | str
        state = self.state

        sync: None | str
        sync = self.sync

        behind_seconds: float | None
        behind_seconds = self.behind_seconds

        behind_bytes: int | None
        behind_bytes = self.behind_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "address": address,
                "state": state,
                "sync": sync,
                "behind_seconds": behind_seconds,
                "behind_bytes": behind_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        address = d.pop("address")

        def _parse_state(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        state = _parse_state(d.pop("state"))

        def _parse_sync(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sync = _parse_sync(d.pop("sync"))

        def _parse_behind_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        behind_seconds = _parse_behind_seconds(d.pop("behind_seconds"))

        def _parse_behind_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        behind_bytes = _parse_behind_bytes(d.pop("behind_bytes"))

        database_standby_out = cls(
            name=name,
            address=address,
            state=state,
            sync=sync,
            behind_seconds=behind_seconds,
            behind_bytes=behind_bytes,
        )

        database_standby_out.additional_properties = d
        return database_standby_out

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
