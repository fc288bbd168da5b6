from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.falls_out import FallsOut
    from ..models.firing import Firing


T = TypeVar("T", bound="PreviewOut")


@_attrs_define
class PreviewOut:
    """When a job fires next.

    Attributes:
        words (str): The schedule, for people
        state (str): Whether it fires, and if not, why not
        times (list[Firing]):
        falls_out (list[FallsOut]): What falls out before the last of those times, or is shifted
    """

    words: str
    state: str
    times: list[Firing]
    falls_out: list[FallsOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        words = self.words

        state = self.state

        times = []
        for times_item_data in self.times:
            times_item = times_item_data.to_dict()
            times.append(times_item)

        falls_out = []
        for falls_out_item_data in self.falls_out:
            falls_out_item = falls_out_item_data.to_dict()
            falls_out.append(falls_out_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "words": words,
                "state": state,
                "times": times,
                "falls_out": falls_out,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.falls_out import FallsOut  # noqa: PLC0415
        from ..models.firing import Firing  # noqa: PLC0415

        d = dict(src_dict)
        words = d.pop("words")

        state = d.pop("state")

        times = []
        _times = d.pop("times")
        for times_item_data in _times:
            times_item = Firing.from_dict(times_item_data)

            times.append(times_item)

        falls_out = []
        _falls_out = d.pop("falls_out")
        for falls_out_item_data in _falls_out:
            falls_out_item = FallsOut.from_dict(falls_out_item_data)

            falls_out.append(falls_out_item)

        preview_out = cls(
            words=words,
            state=state,
            times=times,
            falls_out=falls_out,
        )

        preview_out.additional_properties = d
        return preview_out

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
