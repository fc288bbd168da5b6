from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.role import Role
from ..types import UNSET, Unset

T = TypeVar("T", bound="MemberIn")


@_attrs_define
class MemberIn:
    """
    Attributes:
        role (Role): What a person is in a tenant. Those who run the installation have Django's permissions, and no
            role.
        reason (None | str | Unset): Why; kept in the audit
    """

    role: Role
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        role = self.role.value

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "role": role,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        role = Role(d.pop("role"))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        member_in = cls(
            role=role,
            reason=reason,
        )

        return member_in
