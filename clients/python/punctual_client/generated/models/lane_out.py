from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

if TYPE_CHECKING:
    from ..models.lane_pause_out import LanePauseOut


T = TypeVar("T", bound="LaneOut")


@_attrs_define
class LaneOut:
    """
    Attributes:
        name (Lane): Priority classes, most urgent first.
        usable (bool): Whether the caller may have tasks run in it
        paused (bool):
        pause (LanePauseOut | None): By whom and why; null if it is not paused, and for tenants
        due (int):
        due_exact (bool): False: there are so many that they were estimated
        oldest_overdue_seconds (float | None):
        claimed (int):
        running (int):
        queued (int | None): Messages in the broker; null if it does not answer
        slots (int): Of live workers that serve it
    """

    name: Lane
    usable: bool
    paused: bool
    pause: LanePauseOut | None
    due: int
    due_exact: bool
    oldest_overdue_seconds: float | None
    claimed: int
    running: int
    queued: int | None
    slots: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.lane_pause_out import LanePauseOut  # noqa: PLC0415

        name = self.name.value

        usable = self.usable

        paused = self.paused

        pause: dict[str, Any] | None
        if isinstance(self.pause, LanePauseOut):
            pause = self.pause.to_dict()
        else:
            pause = self.pause

        due = self.due

        due_exact = self.due_exact

        oldest_overdue_seconds: float | None
        oldest_overdue_seconds = self.oldest_overdue_seconds

        claimed = self.claimed

        running = self.running

        queued: int | None
        queued = self.queued

        slots = self.slots

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "usable": usable,
                "paused": paused,
                "pause": pause,
                "due": due,
                "due_exact": due_exact,
                "oldest_overdue_seconds": oldest_overdue_seconds,
                "claimed": claimed,
                "running": running,
                "queued": queued,
                "slots": slots,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lane_pause_out import LanePauseOut  # noqa: PLC0415

        d = dict(src_dict)
        name = Lane(d.pop("name"))

        usable = d.pop("usable")

        paused = d.pop("paused")

        def _parse_pause(data: object) -> LanePauseOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                pause_type_0 = LanePauseOut.from_dict(data)

                return pause_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LanePauseOut | None, data)

        pause = _parse_pause(d.pop("pause"))

        due = d.pop("due")

        due_exact = d.pop("due_exact")

        def _parse_oldest_overdue_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_overdue_seconds = _parse_oldest_overdue_seconds(d.pop("oldest_overdue_seconds"))

        claimed = d.pop("claimed")

        running = d.pop("running")

        def _parse_queued(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        queued = _parse_queued(d.pop("queued"))

        slots = d.pop("slots")

        lane_out = cls(
            name=name,
            usable=usable,
            paused=paused,
            pause=pause,
            due=due,
            due_exact=due_exact,
            oldest_overdue_seconds=oldest_overdue_seconds,
            claimed=claimed,
            running=running,
            queued=queued,
            slots=slots,
        )

        lane_out.additional_properties = d
        return lane_out

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
