from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.campaign_kind import CampaignKind
from ..models.release_lane import ReleaseLane
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.matching_in import MatchingIn


T = TypeVar("T", bound="CampaignIn")


@_attrs_define
class CampaignIn:
    """
    Attributes:
        kind (CampaignKind): What is done to each task. `retry`: the dead start over, the failed don't wait. `replay`:
            the dead alone.
        matching (MatchingIn): Which tasks: all that match every one of these.
        at (datetime.datetime | None | Unset): The new time of a move; of one that is spread, its beginning
        by_seconds (float | None | Unset): A move by so many seconds: later, or earlier if it is negative; but nothing
            is due before now
        over_seconds (float | None | Unset): A move that is spread evenly over so many seconds, from `at` or from now on
        cap (int | Unset): No more tasks than this are chosen Default: 5000.
        rate (float | None | Unset): Tasks a second; null: no limit
        lane (ReleaseLane | Unset): Where tasks wait that a campaign makes run again; `own`: each in its own lane.
            Default: ReleaseLane.BACKFILL.
        most_running (int | None | Unset): Of what it releases, so many may not be over yet; null: no limit
        reason (None | str | Unset): Why; kept in the audit
    """

    kind: CampaignKind
    matching: MatchingIn
    at: datetime.datetime | None | Unset = UNSET
    by_seconds: float | None | Unset = UNSET
    over_seconds: float | None | Unset = UNSET
    cap: int | Unset = 5000
    rate: float | None | Unset = UNSET
    lane: ReleaseLane | Unset = ReleaseLane.BACKFILL
    most_running: int | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        matching = self.matching.to_dict()

        at: None | str | Unset
        if isinstance(self.at, Unset):
            at = UNSET
        elif isinstance(self.at, datetime.datetime):
            at = self.at.isoformat()
        else:
            at = self.at

        by_seconds: float | None | Unset
        if isinstance(self.by_seconds, Unset):
            by_seconds = UNSET
        else:
            by_seconds = self.by_seconds

        over_seconds: float | None | Unset
        if isinstance(self.over_seconds, Unset):
            over_seconds = UNSET
        else:
            over_seconds = self.over_seconds

        cap = self.cap

        rate: float | None | Unset
        if isinstance(self.rate, Unset):
            rate = UNSET
        else:
            rate = self.rate

        lane: str | Unset = UNSET
        if not isinstance(self.lane, Unset):
            lane = self.lane.value

        most_running: int | None | Unset
        if isinstance(self.most_running, Unset):
            most_running = UNSET
        else:
            most_running = self.most_running

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "matching": matching,
            }
        )
        if at is not UNSET:
            field_dict["at"] = at
        if by_seconds is not UNSET:
            field_dict["by_seconds"] = by_seconds
        if over_seconds is not UNSET:
            field_dict["over_seconds"] = over_seconds
        if cap is not UNSET:
            field_dict["cap"] = cap
        if rate is not UNSET:
            field_dict["rate"] = rate
        if lane is not UNSET:
            field_dict["lane"] = lane
        if most_running is not UNSET:
            field_dict["most_running"] = most_running
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.matching_in import MatchingIn  # noqa: PLC0415

        d = dict(src_dict)
        kind = CampaignKind(d.pop("kind"))

        matching = MatchingIn.from_dict(d.pop("matching"))

        def _parse_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                at_type_0 = datetime.datetime.fromisoformat(data)

                return at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        at = _parse_at(d.pop("at", UNSET))

        def _parse_by_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        by_seconds = _parse_by_seconds(d.pop("by_seconds", UNSET))

        def _parse_over_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        over_seconds = _parse_over_seconds(d.pop("over_seconds", UNSET))

        cap = d.pop("cap", UNSET)

        def _parse_rate(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate = _parse_rate(d.pop("rate", UNSET))

        _lane = d.pop("lane", UNSET)
        lane: ReleaseLane | Unset
        if isinstance(_lane, Unset):
            lane = UNSET
        else:
            lane = ReleaseLane(_lane)

        def _parse_most_running(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        most_running = _parse_most_running(d.pop("most_running", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        campaign_in = cls(
            kind=kind,
            matching=matching,
            at=at,
            by_seconds=by_seconds,
            over_seconds=over_seconds,
            cap=cap,
            rate=rate,
            lane=lane,
            most_running=most_running,
            reason=reason,
        )

        return campaign_in
