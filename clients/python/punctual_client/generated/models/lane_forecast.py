from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

T = TypeVar("T", bound="LaneForecast")


@_attrs_define
class LaneForecast:
    """
    Attributes:
        lane (Lane): Priority classes, most urgent first.
        firings (int):
        minutes (list[int]): Firings in each minute, the first one is `begins`
    """

    lane: Lane
    firings: int
    minutes: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lane = self.lane.value

        firings = self.firings

        minutes = self.minutes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lane": lane,
                "firings": firings,
                "minutes": minutes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lane = Lane(d.pop("lane"))

        firings = d.pop("firings")

        minutes = cast(list[int], d.pop("minutes"))

        lane_forecast = cls(
            lane=lane,
            firings=firings,
            minutes=minutes,
        )

        lane_forecast.additional_properties = d
        return lane_forecast

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
