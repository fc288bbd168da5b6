from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SiteActivateIn")


@_attrs_define
class SiteActivateIn:
    """
    Attributes:
        site (str): The one that works from now on, and no other one
        reason (str): Why; kept in the audit
        epoch (int | None | Unset): As it was read: refused if somebody has chosen since. Left out: never
        anyway (bool | Unset): Even if none of its beats is alive Default: False.
    """

    site: str
    reason: str
    epoch: int | None | Unset = UNSET
    anyway: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        site = self.site

        reason = self.reason

        epoch: int | None | Unset
        if isinstance(self.epoch, Unset):
            epoch = UNSET
        else:
            epoch = self.epoch

        anyway = self.anyway

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "site": site,
                "reason": reason,
            }
        )
        if epoch is not UNSET:
            field_dict["epoch"] = epoch
        if anyway is not UNSET:
            field_dict["anyway"] = anyway

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        site = d.pop("site")

        reason = d.pop("reason")

        def _parse_epoch(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        epoch = _parse_epoch(d.pop("epoch", UNSET))

        anyway = d.pop("anyway", UNSET)

        site_activate_in = cls(
            site=site,
            reason=reason,
            epoch=epoch,
            anyway=anyway,
        )

        return site_activate_in
