from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.safeguard_mode import SafeguardMode
from ..models.safeguard_name import SafeguardName

if TYPE_CHECKING:
    from ..models.safeguard_subject_out import SafeguardSubjectOut


T = TypeVar("T", bound="SafeguardOut")


@_attrs_define
class SafeguardOut:
    """
    Attributes:
        name (SafeguardName): The rules that act.
        words (str): What it is about
        mode (SafeguardMode): act holds work back while a limit is passed, tell only says so, off does neither.
        limit (float):
        sample (int):
        on_seconds (float):
        off_seconds (float):
        stages (int):
        subjects (list[SafeguardSubjectOut]): What it is on for, or about to be, or has an order for
    """

    name: SafeguardName
    words: str
    mode: SafeguardMode
    limit: float
    sample: int
    on_seconds: float
    off_seconds: float
    stages: int
    subjects: list[SafeguardSubjectOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name.value

        words = self.words

        mode = self.mode.value

        limit = self.limit

        sample = self.sample

        on_seconds = self.on_seconds

        off_seconds = self.off_seconds

        stages = self.stages

        subjects = []
        for subjects_item_data in self.subjects:
            subjects_item = subjects_item_data.to_dict()
            subjects.append(subjects_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "words": words,
                "mode": mode,
                "limit": limit,
                "sample": sample,
                "on_seconds": on_seconds,
                "off_seconds": off_seconds,
                "stages": stages,
                "subjects": subjects,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.safeguard_subject_out import SafeguardSubjectOut  # noqa: PLC0415

        d = dict(src_dict)
        name = SafeguardName(d.pop("name"))

        words = d.pop("words")

        mode = SafeguardMode(d.pop("mode"))

        limit = d.pop("limit")

        sample = d.pop("sample")

        on_seconds = d.pop("on_seconds")

        off_seconds = d.pop("off_seconds")

        stages = d.pop("stages")

        subjects = []
        _subjects = d.pop("subjects")
        for subjects_item_data in _subjects:
            subjects_item = SafeguardSubjectOut.from_dict(subjects_item_data)

            subjects.append(subjects_item)

        safeguard_out = cls(
            name=name,
            words=words,
            mode=mode,
            limit=limit,
            sample=sample,
            on_seconds=on_seconds,
            off_seconds=off_seconds,
            stages=stages,
            subjects=subjects,
        )

        safeguard_out.additional_properties = d
        return safeguard_out

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
