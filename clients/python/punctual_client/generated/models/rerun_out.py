from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RerunOut")


@_attrs_define
class RerunOut:
    """What became of the jobs of the run, by name.

    Attributes:
        started (list[str]): They start anew
        waiting (list[str]): They wait for those
        left (list[str]): They were not over yet, and go on as they are
    """

    started: list[str]
    waiting: list[str]
    left: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        started = self.started

        waiting = self.waiting

        left = self.left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "started": started,
                "waiting": waiting,
                "left": left,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        started = cast(list[str], d.pop("started"))

        waiting = cast(list[str], d.pop("waiting"))

        left = cast(list[str], d.pop("left"))

        rerun_out = cls(
            started=started,
            waiting=waiting,
            left=left,
        )

        rerun_out.additional_properties = d
        return rerun_out

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
