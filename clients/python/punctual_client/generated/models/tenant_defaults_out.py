from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

T = TypeVar("T", bound="TenantDefaultsOut")


@_attrs_define
class TenantDefaultsOut:
    """What holds where neither a caller nor a type names anything; null: as the settings say.

    Attributes:
        lane (Lane | None):
        retention (None | str):
        retry_share (float | None):
        retry_burst (int | None):
    """

    lane: Lane | None
    retention: None | str
    retry_share: float | None
    retry_burst: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lane: None | str
        if isinstance(self.lane, Lane):
            lane = self.lane.value
        else:
            lane = self.lane

        retention: None | str
        retention = self.retention

        retry_share: float | None
        retry_share = self.retry_share

        retry_burst: int | None
        retry_burst = self.retry_burst

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lane": lane,
                "retention": retention,
                "retry_share": retry_share,
                "retry_burst": retry_burst,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_lane(data: object) -> Lane | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lane_type_0 = Lane(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Lane | None, data)

        lane = _parse_lane(d.pop("lane"))

        def _parse_retention(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        retention = _parse_retention(d.pop("retention"))

        def _parse_retry_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        retry_share = _parse_retry_share(d.pop("retry_share"))

        def _parse_retry_burst(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        retry_burst = _parse_retry_burst(d.pop("retry_burst"))

        tenant_defaults_out = cls(
            lane=lane,
            retention=retention,
            retry_share=retry_share,
            retry_burst=retry_burst,
        )

        tenant_defaults_out.additional_properties = d
        return tenant_defaults_out

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
