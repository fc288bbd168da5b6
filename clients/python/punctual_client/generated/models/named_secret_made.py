from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NamedSecretMade")


@_attrs_define
class NamedSecretMade:
    """A secret, and its value if it was made here.

    Attributes:
        id (int):
        name (str):
        signs (bool): It signs callbacks; otherwise it is sent in a header
        hosts (list[str]): The only hosts it may be sent to; empty: any
        values (int): More than one while the old one is kept
        created_by (str):
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
        made (None | str): Shown this once; null if a value was given
    """

    id: int
    name: str
    signs: bool
    hosts: list[str]
    values: int
    created_by: str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    made: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        signs = self.signs

        hosts = self.hosts

        values = self.values

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        made: None | str
        made = self.made

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "signs": signs,
                "hosts": hosts,
                "values": values,
                "created_by": created_by,
                "created_at": created_at,
                "updated_at": updated_at,
                "made": made,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        signs = d.pop("signs")

        hosts = cast(list[str], d.pop("hosts"))

        values = d.pop("values")

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_made(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        made = _parse_made(d.pop("made"))

        named_secret_made = cls(
            id=id,
            name=name,
            signs=signs,
            hosts=hosts,
            values=values,
            created_by=created_by,
            created_at=created_at,
            updated_at=updated_at,
            made=made,
        )

        named_secret_made.additional_properties = d
        return named_secret_made

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
