from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.lane import Lane
from ..models.overdue_choice import OverdueChoice
from ..types import UNSET, Unset

T = TypeVar("T", bound="InstallationResumeIn")


@_attrs_define
class InstallationResumeIn:
    """
    Attributes:
        choice (OverdueChoice): What to do with what is overdue. `run`: all of it. `latest`: of each job only its latest
            firing. `shift`: all of it, later. `expire`: what is not overdue for too long.
        reason (str): Why; kept in the audit
        lanes (list[Lane] | Unset): Only in these; empty: in all that are held
        older_seconds (float | None | Unset): expire: how long a task may be overdue
        spread_seconds (float | None | Unset): shift: over how long; left out: as long as nobody did
    """

    choice: OverdueChoice
    reason: str
    lanes: list[Lane] | Unset = UNSET
    older_seconds: float | None | Unset = UNSET
    spread_seconds: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        choice = self.choice.value

        reason = self.reason

        lanes: list[str] | Unset = UNSET
        if not isinstance(self.lanes, Unset):
            lanes = []
            for lanes_item_data in self.lanes:
                lanes_item = lanes_item_data.value
                lanes.append(lanes_item)

        older_seconds: float | None | Unset
        if isinstance(self.older_seconds, Unset):
            older_seconds = UNSET
        else:
            older_seconds = self.older_seconds

        spread_seconds: float | None | Unset
        if isinstance(self.spread_seconds, Unset):
            spread_seconds = UNSET
        else:
            spread_seconds = self.spread_seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "choice": choice,
                "reason": reason,
            }
        )
        if lanes is not UNSET:
            field_dict["lanes"] = lanes
        if older_seconds is not UNSET:
            field_dict["older_seconds"] = older_seconds
        if spread_seconds is not UNSET:
            field_dict["spread_seconds"] = spread_seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        choice = OverdueChoice(d.pop("choice"))

        reason = d.pop("reason")

        _lanes = d.pop("lanes", UNSET)
        lanes: list[Lane] | Unset = UNSET
        if _lanes is not UNSET:
            lanes = []
            for lanes_item_data in _lanes:
                lanes_item = Lane(lanes_item_data)

                lanes.append(lanes_item)

        def _parse_older_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        older_seconds = _parse_older_seconds(d.pop("older_seconds", UNSET))

        def _parse_spread_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        spread_seconds = _parse_spread_seconds(d.pop("spread_seconds", UNSET))

        installation_resume_in = cls(
            choice=choice,
            reason=reason,
            lanes=lanes,
            older_seconds=older_seconds,
            spread_seconds=spread_seconds,
        )

        return installation_resume_in
