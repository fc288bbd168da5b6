from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role

if TYPE_CHECKING:
    from ..models.member_out import MemberOut


T = TypeVar("T", bound="MemberGrantedOut")


@_attrs_define
class MemberGrantedOut:
    """
    Attributes:
        before (None | Role): What they were until now; null: nothing
        member (MemberOut): A person who has a role in the tenant.
    """

    before: None | Role
    member: MemberOut
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        before: None | str
        if isinstance(self.before, Role):
            before = self.before.value
        else:
            before = self.before

        member = self.member.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "before": before,
                "member": member,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.member_out import MemberOut  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_before(data: object) -> None | Role:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                before_type_0 = Role(data)

                return before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Role, data)

        before = _parse_before(d.pop("before"))

        member = MemberOut.from_dict(d.pop("member"))

        member_granted_out = cls(
            before=before,
            member=member,
        )

        member_granted_out.additional_properties = d
        return member_granted_out

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
