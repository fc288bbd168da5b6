from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.installation_state import InstallationState

T = TypeVar("T", bound="InstallationChangedOut")


@_attrs_define
class InstallationChangedOut:
    """
    Attributes:
        state (InstallationState): `quarantined`: nothing is dispatched, and nobody is called. `rehearsing`: tasks are
            dispatched, and not run.
        sentence (str):
    """

    state: InstallationState
    sentence: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state = self.state.value

        sentence = self.sentence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "sentence": sentence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        state = InstallationState(d.pop("state"))

        sentence = d.pop("sentence")

        installation_changed_out = cls(
            state=state,
            sentence=sentence,
        )

        installation_changed_out.additional_properties = d
        return installation_changed_out

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
