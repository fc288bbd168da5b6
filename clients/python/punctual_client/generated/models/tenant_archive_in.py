from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="TenantArchiveIn")


@_attrs_define
class TenantArchiveIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        destroy_key (bool | Unset): Destroy its keys in the end: what is encrypted is lost for good Default: False.
    """

    reason: str
    destroy_key: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        destroy_key = self.destroy_key

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if destroy_key is not UNSET:
            field_dict["destroy_key"] = destroy_key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        destroy_key = d.pop("destroy_key", UNSET)

        tenant_archive_in = cls(
            reason=reason,
            destroy_key=destroy_key,
        )

        return tenant_archive_in
