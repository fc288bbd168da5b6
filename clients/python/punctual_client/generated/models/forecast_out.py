from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lane_forecast import LaneForecast
    from ..models.peak_out import PeakOut


T = TypeVar("T", bound="ForecastOut")


@_attrs_define
class ForecastOut:
    """What fires within a day, by the definitions of all jobs.

    Attributes:
        begins (datetime.datetime):
        age_seconds (float): It is computed once a minute at most
        jobs (int):
        jobs_left_out (int): Too many different schedules: the firings of these jobs are not counted
        capacity_per_minute (float | None): Tasks that the workers can run in a minute, by how long tasks took within
            the last day; null: not known
        capacity_words (str):
        lanes (list[LaneForecast]):
        peaks (list[PeakOut]): The highest, at most five, in the order of time
    """

    begins: datetime.datetime
    age_seconds: float
    jobs: int
    jobs_left_out: int
    capacity_per_minute: float | None
    capacity_words: str
    lanes: list[LaneForecast]
    peaks: list[PeakOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        begins = self.begins.isoformat()

        age_seconds = self.age_seconds

        jobs = self.jobs

        jobs_left_out = self.jobs_left_out

        capacity_per_minute: float | None
        capacity_per_minute = self.capacity_per_minute

        capacity_words = self.capacity_words

        lanes = []
        for lanes_item_data in self.lanes:
            lanes_item = lanes_item_data.to_dict()
            lanes.append(lanes_item)

        peaks = []
        for peaks_item_data in self.peaks:
            peaks_item = peaks_item_data.to_dict()
            peaks.append(peaks_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "begins": begins,
                "age_seconds": age_seconds,
                "jobs": jobs,
                "jobs_left_out": jobs_left_out,
                "capacity_per_minute": capacity_per_minute,
                "capacity_words": capacity_words,
                "lanes": lanes,
                "peaks": peaks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lane_forecast import LaneForecast  # noqa: PLC0415
        from ..models.peak_out import PeakOut  # noqa: PLC0415

        d = dict(src_dict)
        begins = datetime.datetime.fromisoformat(d.pop("begins"))

        age_seconds = d.pop("age_seconds")

        jobs = d.pop("jobs")

        jobs_left_out = d.pop("jobs_left_out")

        def _parse_capacity_per_minute(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        capacity_per_minute = _parse_capacity_per_minute(d.pop("capacity_per_minute"))

        capacity_words = d.pop("capacity_words")

        lanes = []
        _lanes = d.pop("lanes")
        for lanes_item_data in _lanes:
            lanes_item = LaneForecast.from_dict(lanes_item_data)

            lanes.append(lanes_item)

        peaks = []
        _peaks = d.pop("peaks")
        for peaks_item_data in _peaks:
            peaks_item = PeakOut.from_dict(peaks_item_data)

            peaks.append(peaks_item)

        forecast_out = cls(
            begins=begins,
            age_seconds=age_seconds,
            jobs=jobs,
            jobs_left_out=jobs_left_out,
            capacity_per_minute=capacity_per_minute,
            capacity_words=capacity_words,
            lanes=lanes,
            peaks=peaks,
        )

        forecast_out.additional_properties = d
        return forecast_out

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
