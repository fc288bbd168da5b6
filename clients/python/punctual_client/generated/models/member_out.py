from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role

T = TypeVar("T", bound="MemberOut")


@_attrs_define
class MemberOut:
    """A person who has a role in the tenant.

    Attributes:
        username (str):
        role (Role): What a person is in a tenant. Those who run the installation have Django's permissions, and no
            role.
        source (str): What keeps it, such as a single sign-on; empty: it was granted by hand
        granted_by (str):
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    username: str
    role: Role
    source: str
    granted_by: str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        username = self.username

        role = self.role.value

        source = self.source

        granted_by = self.granted_by

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "username": username,
                "role": role,
                "source": source,
                "granted_by": granted_by,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        username = d.pop("username")

        role = Role(d.pop("role"))

        source = d.pop("source")

        granted_by = d.pop("granted_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        member_out = cls(
            username=username,
            role=role,
            source=source,
            granted_by=granted_by,
            created_at=created_at,
            updated_at=updated_at,
        )

        member_out.additional_properties = d
        return member_out

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
