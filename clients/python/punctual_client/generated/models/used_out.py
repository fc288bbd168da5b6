from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.quota_name import QuotaName

T = TypeVar("T", bound="UsedOut")


@_attrs_define
class UsedOut:
    """How much of a quota was used in an hour.

    Attributes:
        quota (QuotaName): The quotas of which it is counted how much is used.
        hour (datetime.datetime): When it began
        used (int): The most of it, of what was counted once a minute
        limit (int): The quota, when it was last counted in that hour
    """

    quota: QuotaName
    hour: datetime.datetime
    used: int
    limit: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        quota = self.quota.value

        hour = self.hour.isoformat()

        used = self.used

        limit = self.limit

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "quota": quota,
                "hour": hour,
                "used": used,
                "limit": limit,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        quota = QuotaName(d.pop("quota"))

        hour = datetime.datetime.fromisoformat(d.pop("hour"))

        used = d.pop("used")

        limit = d.pop("limit")

        used_out = cls(
            quota=quota,
            hour=hour,
            used=used,
            limit=limit,
        )

        used_out.additional_properties = d
        return used_out

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
