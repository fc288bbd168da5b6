from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProgressIn")


@_attrs_define
class ProgressIn:
    """Still at work: the lease begins again. The body may be left out.

    Attributes:
        fraction (float | None | Unset): How much of the whole is done
        note (str | Unset): For people; the first 200 characters are shown Default: ''.
        lease (float | None | Unset): Seconds, from now on; left out: as long as before
    """

    fraction: float | None | Unset = UNSET
    note: str | Unset = ""
    lease: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        fraction: float | None | Unset
        if isinstance(self.fraction, Unset):
            fraction = UNSET
        else:
            fraction = self.fraction

        note = self.note

        lease: float | None | Unset
        if isinstance(self.lease, Unset):
            lease = UNSET
        else:
            lease = self.lease

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if fraction is not UNSET:
            field_dict["fraction"] = fraction
        if note is not UNSET:
            field_dict["note"] = note
        if lease is not UNSET:
            field_dict["lease"] = lease

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_fraction(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        fraction = _parse_fraction(d.pop("fraction", UNSET))

        note = d.pop("note", UNSET)

        def _parse_lease(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        lease = _parse_lease(d.pop("lease", UNSET))

        progress_in = cls(
            fraction=fraction,
            note=note,
            lease=lease,
        )

        return progress_in
