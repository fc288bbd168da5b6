from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.campaign_state import CampaignState

T = TypeVar("T", bound="OrderedOut")


@_attrs_define
class OrderedOut:
    """How many letters match, and the campaign that deals with them.

    Attributes:
        letters (int):
        complete (bool): False: there are more than were counted
        taken (int): Of them, no more than `cap`
        campaign (int | None): Null after a dry run, and if there was nothing to do
        state (CampaignState | None): Of the campaign
    """

    letters: int
    complete: bool
    taken: int
    campaign: int | None
    state: CampaignState | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        letters = self.letters

        complete = self.complete

        taken = self.taken

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
                "letters": letters,
                "complete": complete,
                "taken": taken,
                "campaign": campaign,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        letters = d.pop("letters")

        complete = d.pop("complete")

        taken = d.pop("taken")

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

        ordered_out = cls(
            letters=letters,
            complete=complete,
            taken=taken,
            campaign=campaign,
            state=state,
        )

        ordered_out.additional_properties = d
        return ordered_out

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
