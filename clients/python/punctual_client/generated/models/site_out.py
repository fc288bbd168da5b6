from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.site_state import SiteState

T = TypeVar("T", bound="SiteOut")


@_attrs_define
class SiteOut:
    """
    Attributes:
        name (str):
        state (SiteState): `active`: it works, and no other one does. `opening`: it was chosen, and will in a moment.
        beats (int): That are alive
        workers (int): That are alive
        slots (int): Of its workers, that take work now
        seen_seconds_ago (float | None): The last sign of life of a beat there; null: none is known
        foreseen (str): What it would do to activate it now; empty: it is the active one
    """

    name: str
    state: SiteState
    beats: int
    workers: int
    slots: int
    seen_seconds_ago: float | None
    foreseen: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        state = self.state.value

        beats = self.beats

        workers = self.workers

        slots = self.slots

        seen_seconds_ago: float | None
        seen_seconds_ago = self.seen_seconds_ago

        foreseen = self.foreseen

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "state": state,
                "beats": beats,
                "workers": workers,
                "slots": slots,
                "seen_seconds_ago": seen_seconds_ago,
                "foreseen": foreseen,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        state = SiteState(d.pop("state"))

        beats = d.pop("beats")

        workers = d.pop("workers")

        slots = d.pop("slots")

        def _parse_seen_seconds_ago(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seen_seconds_ago = _parse_seen_seconds_ago(d.pop("seen_seconds_ago"))

        foreseen = d.pop("foreseen")

        site_out = cls(
            name=name,
            state=state,
            beats=beats,
            workers=workers,
            slots=slots,
            seen_seconds_ago=seen_seconds_ago,
            foreseen=foreseen,
        )

        site_out.additional_properties = d
        return site_out

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
