from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.lane import Lane
from ..types import UNSET, Unset

T = TypeVar("T", bound="TenantDefaultsIn")


@_attrs_define
class TenantDefaultsIn:
    """What holds where neither a caller nor a type names anything; null: as the settings say. What is left out stays as it
    is.

        Attributes:
            lane (Lane | None | Unset):
            retention (None | str | Unset): The retention class, by its name
            retry_share (float | None | Unset): Of all its tries: retries, at most
            retry_burst (int | None | Unset): Retries that may come at once; 100 if left out
    """

    lane: Lane | None | Unset = UNSET
    retention: None | str | Unset = UNSET
    retry_share: float | None | Unset = UNSET
    retry_burst: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        lane: None | str | Unset
        if isinstance(self.lane, Unset):
            lane = UNSET
        elif isinstance(self.lane, Lane):
            lane = self.lane.value
        else:
            lane = self.lane

        retention: None | str | Unset
        if isinstance(self.retention, Unset):
            retention = UNSET
        else:
            retention = self.retention

        retry_share: float | None | Unset
        if isinstance(self.retry_share, Unset):
            retry_share = UNSET
        else:
            retry_share = self.retry_share

        retry_burst: int | None | Unset
        if isinstance(self.retry_burst, Unset):
            retry_burst = UNSET
        else:
            retry_burst = self.retry_burst

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if lane is not UNSET:
            field_dict["lane"] = lane
        if retention is not UNSET:
            field_dict["retention"] = retention
        if retry_share is not UNSET:
            field_dict["retry_share"] = retry_share
        if retry_burst is not UNSET:
            field_dict["retry_burst"] = retry_burst

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_lane(data: object) -> Lane | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lane_type_0 = Lane(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Lane | None | Unset, data)

        lane = _parse_lane(d.pop("lane", UNSET))

        def _parse_retention(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        retention = _parse_retention(d.pop("retention", UNSET))

        def _parse_retry_share(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        retry_share = _parse_retry_share(d.pop("retry_share", UNSET))

        def _parse_retry_burst(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        retry_burst = _parse_retry_burst(d.pop("retry_burst", UNSET))

        tenant_defaults_in = cls(
            lane=lane,
            retention=retention,
            retry_share=retry_share,
            retry_burst=retry_burst,
        )

        return tenant_defaults_in
