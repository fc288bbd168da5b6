from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.campaign_state import CampaignState

T = TypeVar("T", bound="CampaignChangedOut")


@_attrs_define
class CampaignChangedOut:
    """
    Attributes:
        id (int):
        state (CampaignState):
        changed (bool): False: it was so already, or is over; nothing was written
    """

    id: int
    state: CampaignState
    changed: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state = self.state.value

        changed = self.changed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
                "changed": changed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        state = CampaignState(d.pop("state"))

        changed = d.pop("changed")

        campaign_changed_out = cls(
            id=id,
            state=state,
            changed=changed,
        )

        campaign_changed_out.additional_properties = d
        return campaign_changed_out

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
