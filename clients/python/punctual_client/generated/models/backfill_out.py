from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.campaign_state import CampaignState

if TYPE_CHECKING:
    from ..models.slot_out import SlotOut


T = TypeVar("T", bound="BackfillOut")


@_attrs_define
class BackfillOut:
    """
    Attributes:
        instances (int): How many firings are run
        along (int): How many instances of the jobs after it come along, as far as they are not there already
        first (list[SlotOut]): The first few, in the order in which they are run
        last (list[SlotOut]): The last few
        per_second (float | None): The pace that is expected, beside what ran within the last day
        seconds (float | None): How long it is expected to take; null: nobody can say
        done_at (datetime.datetime | None):
        forecast (str): The same in a sentence, with what it depends on
        selection (str): Which firings, in words
        campaign (int | None): What carries it out; null: a dry run, or there was nothing to do
        state (CampaignState | None):
    """

    instances: int
    along: int
    first: list[SlotOut]
    last: list[SlotOut]
    per_second: float | None
    seconds: float | None
    done_at: datetime.datetime | None
    forecast: str
    selection: str
    campaign: int | None
    state: CampaignState | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        instances = self.instances

        along = self.along

        first = []
        for first_item_data in self.first:
            first_item = first_item_data.to_dict()
            first.append(first_item)

        last = []
        for last_item_data in self.last:
            last_item = last_item_data.to_dict()
            last.append(last_item)

        per_second: float | None
        per_second = self.per_second

        seconds: float | None
        seconds = self.seconds

        done_at: None | str
        if isinstance(self.done_at, datetime.datetime):
            done_at = self.done_at.isoformat()
        else:
            done_at = self.done_at

        forecast = self.forecast

        selection = self.selection

        campaign: int | None
        campaign = self.campaign

        state: None | str
        if isinstance(self.state, CampaignState):
            state = self.state.value
        else:
            state = self.state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "instances": instances,
                "along": along,
                "first": first,
                "last": last,
                "per_second": per_second,
                "seconds": seconds,
                "done_at": done_at,
                "forecast": forecast,
                "selection": selection,
                "campaign": campaign,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.slot_out import SlotOut  # noqa: PLC0415

        d = dict(src_dict)
        instances = d.pop("instances")

        along = d.pop("along")

        first = []
        _first = d.pop("first")
        for first_item_data in _first:
            first_item = SlotOut.from_dict(first_item_data)

            first.append(first_item)

        last = []
        _last = d.pop("last")
        for last_item_data in _last:
            last_item = SlotOut.from_dict(last_item_data)

            last.append(last_item)

        def _parse_per_second(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        per_second = _parse_per_second(d.pop("per_second"))

        def _parse_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seconds = _parse_seconds(d.pop("seconds"))

        def _parse_done_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                done_at_type_0 = datetime.datetime.fromisoformat(data)

                return done_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        done_at = _parse_done_at(d.pop("done_at"))

        forecast = d.pop("forecast")

        selection = d.pop("selection")

        def _parse_campaign(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        campaign = _parse_campaign(d.pop("campaign"))

        def _parse_state(data: object) -> CampaignState | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                state_type_0 = CampaignState(data)

                return state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CampaignState | None, data)

        state = _parse_state(d.pop("state"))

        backfill_out = cls(
            instances=instances,
            along=along,
            first=first,
            last=last,
            per_second=per_second,
            seconds=seconds,
            done_at=done_at,
            forecast=forecast,
            selection=selection,
            campaign=campaign,
            state=state,
        )

        backfill_out.additional_properties = d
        return backfill_out

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
