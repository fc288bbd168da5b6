from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SitesStandbyIn")


@_attrs_define
class SitesStandbyIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        epoch (int | None | Unset): As it was read: refused if somebody has chosen since. Left out: never
    """

    reason: str
    epoch: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        epoch: int | None | Unset
        if isinstance(self.epoch, Unset):
            epoch = UNSET
        else:
            epoch = self.epoch

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if epoch is not UNSET:
            field_dict["epoch"] = epoch

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        def _parse_epoch(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        epoch = _parse_epoch(d.pop("epoch", UNSET))

        sites_standby_in = cls(
            reason=reason,
            epoch=epoch,
        )

        return sites_standby_in
