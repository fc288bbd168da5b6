from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SiteChosenOut")


@_attrs_define
class SiteChosenOut:
    """
    Attributes:
        active (None | str):
        chosen (None | str): It is opened when this answer is on its way: `GET /sites` tells
        epoch (int):
    """

    active: None | str
    chosen: None | str
    epoch: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active: None | str
        active = self.active

        chosen: None | str
        chosen = self.chosen

        epoch = self.epoch

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "active": active,
                "chosen": chosen,
                "epoch": epoch,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_active(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        active = _parse_active(d.pop("active"))

        def _parse_chosen(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        chosen = _parse_chosen(d.pop("chosen"))

        epoch = d.pop("epoch")

        site_chosen_out = cls(
            active=active,
            chosen=chosen,
            epoch=epoch,
        )

        site_chosen_out.additional_properties = d
        return site_chosen_out

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
