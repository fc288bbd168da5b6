from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.availability_out import AvailabilityOut
    from ..models.outage_out import OutageOut
    from ..models.success_out import SuccessOut
    from ..models.trigger_delay_out import TriggerDelayOut


T = TypeVar("T", bound="ServiceLevelsOut")


@_attrs_define
class ServiceLevelsOut:
    """
    Attributes:
        days (int):
        since (datetime.datetime | None): Null if nothing has been measured yet
        until (datetime.datetime | None):
        availability (AvailabilityOut):
        trigger_delay (TriggerDelayOut):
        success (SuccessOut):
        outages (list[OutageOut]): The latest first, at most 100
    """

    days: int
    since: datetime.datetime | None
    until: datetime.datetime | None
    availability: AvailabilityOut
    trigger_delay: TriggerDelayOut
    success: SuccessOut
    outages: list[OutageOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        days = self.days

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        until: None | str
        if isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        availability = self.availability.to_dict()

        trigger_delay = self.trigger_delay.to_dict()

        success = self.success.to_dict()

        outages = []
        for outages_item_data in self.outages:
            outages_item = outages_item_data.to_dict()
            outages.append(outages_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "days": days,
                "since": since,
                "until": until,
                "availability": availability,
                "trigger_delay": trigger_delay,
                "success": success,
                "outages": outages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.availability_out import AvailabilityOut  # noqa: PLC0415
        from ..models.outage_out import OutageOut  # noqa: PLC0415
        from ..models.success_out import SuccessOut  # noqa: PLC0415
        from ..models.trigger_delay_out import TriggerDelayOut  # noqa: PLC0415

        d = dict(src_dict)
        days = d.pop("days")

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        def _parse_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        until = _parse_until(d.pop("until"))

        availability = AvailabilityOut.from_dict(d.pop("availability"))

        trigger_delay = TriggerDelayOut.from_dict(d.pop("trigger_delay"))

        success = SuccessOut.from_dict(d.pop("success"))

        outages = []
        _outages = d.pop("outages")
        for outages_item_data in _outages:
            outages_item = OutageOut.from_dict(outages_item_data)

            outages.append(outages_item)

        service_levels_out = cls(
            days=days,
            since=since,
            until=until,
            availability=availability,
            trigger_delay=trigger_delay,
            success=success,
            outages=outages,
        )

        service_levels_out.additional_properties = d
        return service_levels_out

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
