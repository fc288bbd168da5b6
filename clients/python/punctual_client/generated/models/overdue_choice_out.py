from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.overdue_choice import OverdueChoice

T = TypeVar("T", bound="OverdueChoiceOut")


@_attrs_define
class OverdueChoiceOut:
    """
    Attributes:
        choice (OverdueChoice): What to do with what is overdue. `run`: all of it. `latest`: of each job only its latest
            firing. `shift`: all of it, later. `expire`: what is not overdue for too long.
        words (str): What it does
        foreseen (str): What it would do now
    """

    choice: OverdueChoice
    words: str
    foreseen: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        choice = self.choice.value

        words = self.words

        foreseen = self.foreseen

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "choice": choice,
                "words": words,
                "foreseen": foreseen,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        choice = OverdueChoice(d.pop("choice"))

        words = d.pop("words")

        foreseen = d.pop("foreseen")

        overdue_choice_out = cls(
            choice=choice,
            words=words,
            foreseen=foreseen,
        )

        overdue_choice_out.additional_properties = d
        return overdue_choice_out

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
