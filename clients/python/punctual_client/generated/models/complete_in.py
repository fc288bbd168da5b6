from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CompleteIn")


@_attrs_define
class CompleteIn:
    """Done. The body may be left out.

    Attributes:
        result (Any | Unset): JSON of at most 4 kB, kept with the task
    """

    result: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        result = self.result

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if result is not UNSET:
            field_dict["result"] = result

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        result = d.pop("result", UNSET)

        complete_in = cls(
            result=result,
        )

        return complete_in
