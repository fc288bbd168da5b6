from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.database_standby_out import DatabaseStandbyOut
    from ..models.site_out import SiteOut


T = TypeVar("T", bound="SitesOut")


@_attrs_define
class SitesOut:
    """
    Attributes:
        active (None | str): It works, and no other one does; null: none does
        chosen (None | str): It is being opened, which takes milliseconds
        own (str): The site of the process that answers
        epoch (int): Grows with every choice
        since (datetime.datetime | None): Of the last choice
        by (str): Who made it; for operators, as is all that follows
        reason (str):
        resuming (None | str): The recovery that lets the lanes go on, one after the other
        sites (list[SiteOut]):
        standbys (list[DatabaseStandbyOut]): Of the database
        standby_foreseen (str): What it would do to let all sites stand by now
    """

    active: None | str
    chosen: None | str
    own: str
    epoch: int
    since: datetime.datetime | None
    by: str
    reason: str
    resuming: None | str
    sites: list[SiteOut]
    standbys: list[DatabaseStandbyOut]
    standby_foreseen: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active: None | str
        active = self.active

        chosen: None | str
        chosen = self.chosen

        own = self.own

        epoch = self.epoch

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        by = self.by

        reason = self.reason

        resuming: None | str
        resuming = self.resuming

        sites = []
        for sites_item_data in self.sites:
            sites_item = sites_item_data.to_dict()
            sites.append(sites_item)

        standbys = []
        for standbys_item_data in self.standbys:
            standbys_item = standbys_item_data.to_dict()
            standbys.append(standbys_item)

        standby_foreseen = self.standby_foreseen

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "active": active,
                "chosen": chosen,
                "own": own,
                "epoch": epoch,
                "since": since,
                "by": by,
                "reason": reason,
                "resuming": resuming,
                "sites": sites,
                "standbys": standbys,
                "standby_foreseen": standby_foreseen,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.database_standby_out import DatabaseStandbyOut  # noqa: PLC0415
        from ..models.site_out import SiteOut  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_active(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        active = _parse_active(d.pop("active"))

        def _parse_chosen(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        chosen = _parse_chosen(d.pop("chosen"))

        own = d.pop("own")

        epoch = d.pop("epoch")

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        by = d.pop("by")

        reason = d.pop("reason")

        def _parse_resuming(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        resuming = _parse_resuming(d.pop("resuming"))

        sites = []
        _sites = d.pop("sites")
        for sites_item_data in _sites:
            sites_item = SiteOut.from_dict(sites_item_data)

            sites.append(sites_item)

        standbys = []
        _standbys = d.pop("standbys")
        for standbys_item_data in _standbys:
            standbys_item = DatabaseStandbyOut.from_dict(standbys_item_data)

            standbys.append(standbys_item)

        standby_foreseen = d.pop("standby_foreseen")

        sites_out = cls(
            active=active,
            chosen=chosen,
            own=own,
            epoch=epoch,
            since=since,
            by=by,
            reason=reason,
            resuming=resuming,
            sites=sites,
            standbys=standbys,
            standby_foreseen=standby_foreseen,
        )

        sites_out.additional_properties = d
        return sites_out

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
