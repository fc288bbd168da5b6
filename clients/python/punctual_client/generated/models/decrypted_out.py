from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.part_out import PartOut


T = TypeVar("T", bound="DecryptedOut")


@_attrs_define
class DecryptedOut:
    """What was encrypted of the task. That you have seen it is in the audit.

    Attributes:
        task (int):
        parts (list[PartOut]):
    """

    task: int
    parts: list[PartOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        task = self.task

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "task": task,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.part_out import PartOut  # noqa: PLC0415

        d = dict(src_dict)
        task = d.pop("task")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = PartOut.from_dict(parts_item_data)

            parts.append(parts_item)

        decrypted_out = cls(
            task=task,
            parts=parts,
        )

        decrypted_out.additional_properties = d
        return decrypted_out

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
