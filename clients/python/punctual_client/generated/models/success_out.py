from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SuccessOut")


@_attrs_define
class SuccessOut:
    """
    Attributes:
        goal (float): As a share: 0.995 is 99.5 %
        share (float | None): Of the runs that succeeded; null if there was none
        succeeded (int):
        failed (int):
        kept (bool | None): Whether the goal is kept; null if nothing, or too little, was measured to judge
    """

    goal: float
    share: float | None
    succeeded: int
    failed: int
    kept: bool | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        goal = self.goal

        share: float | None
        share = self.share

        succeeded = self.succeeded

        failed = self.failed

        kept: bool | None
        kept = self.kept

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "goal": goal,
                "share": share,
                "succeeded": succeeded,
                "failed": failed,
                "kept": kept,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        goal = d.pop("goal")

        def _parse_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        share = _parse_share(d.pop("share"))

        succeeded = d.pop("succeeded")

        failed = d.pop("failed")

        def _parse_kept(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        kept = _parse_kept(d.pop("kept"))

        success_out = cls(
            goal=goal,
            share=share,
            succeeded=succeeded,
            failed=failed,
            kept=kept,
        )

        success_out.additional_properties = d
        return success_out

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
