from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="HostLimitOut")


@_attrs_define
class HostLimitOut:
    """
    Attributes:
        host (str):
        max_running (int | None):
        rate (float | None): Calls a second
        burst (float | None):
        permits (float | None): Calls that could begin now
        running (int): Calls that batches may be making now
    """

    host: str
    max_running: int | None
    rate: float | None
    burst: float | None
    permits: float | None
    running: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        host = self.host

        max_running: int | None
        max_running = self.max_running

        rate: float | None
        rate = self.rate

        burst: float | None
        burst = self.burst

        permits: float | None
        permits = self.permits

        running = self.running

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "host": host,
                "max_running": max_running,
                "rate": rate,
                "burst": burst,
                "permits": permits,
                "running": running,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        host = d.pop("host")

        def _parse_max_running(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_running = _parse_max_running(d.pop("max_running"))

        def _parse_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate = _parse_rate(d.pop("rate"))

        def _parse_burst(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        burst = _parse_burst(d.pop("burst"))

        def _parse_permits(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        permits = _parse_permits(d.pop("permits"))

        running = d.pop("running")

        host_limit_out = cls(
            host=host,
            max_running=max_running,
            rate=rate,
            burst=burst,
            permits=permits,
            running=running,
        )

        host_limit_out.additional_properties = d
        return host_limit_out

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
