from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

if TYPE_CHECKING:
    from ..models.worker_drain_out import WorkerDrainOut


T = TypeVar("T", bound="WorkerOut")


@_attrs_define
class WorkerOut:
    """
    Attributes:
        name (str):
        version (str): Punctual's, and the project's `RELEASE` after it; empty: it does not say
        site (str):
        lanes (list[Lane]):
        slots (int): Batches that it runs at the same time; 0: it takes none
        busy (int): Batches that it runs now; more tasks than that may be in them
        drain (None | WorkerDrainOut): Since when it takes nothing more, and why; null: it does
        up_seconds (float):
        seen_seconds_ago (float):
        memory_bytes (float | None): Of all its processes; null: it does not say
    """

    name: str
    version: str
    site: str
    lanes: list[Lane]
    slots: int
    busy: int
    drain: None | WorkerDrainOut
    up_seconds: float
    seen_seconds_ago: float
    memory_bytes: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.worker_drain_out import WorkerDrainOut  # noqa: PLC0415

        name = self.name

        version = self.version

        site = self.site

        lanes = []
        for lanes_item_data in self.lanes:
            lanes_item = lanes_item_data.value
            lanes.append(lanes_item)

        slots = self.slots

        busy = self.busy

        drain: dict[str, Any] | None
        if isinstance(self.drain, WorkerDrainOut):
            drain = self.drain.to_dict()
        else:
            drain = self.drain

        up_seconds = self.up_seconds

        seen_seconds_ago = self.seen_seconds_ago

        memory_bytes: float | None
        memory_bytes = self.memory_bytes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "version": version,
                "site": site,
                "lanes": lanes,
                "slots": slots,
                "busy": busy,
                "drain": drain,
                "up_seconds": up_seconds,
                "seen_seconds_ago": seen_seconds_ago,
                "memory_bytes": memory_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.worker_drain_out import WorkerDrainOut  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        version = d.pop("version")

        site = d.pop("site")

        lanes = []
        _lanes = d.pop("lanes")
        for lanes_item_data in _lanes:
            lanes_item = Lane(lanes_item_data)

            lanes.append(lanes_item)

        slots = d.pop("slots")

        busy = d.pop("busy")

        def _parse_drain(data: object) -> None | WorkerDrainOut:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                drain_type_0 = WorkerDrainOut.from_dict(data)

                return drain_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WorkerDrainOut, data)

        drain = _parse_drain(d.pop("drain"))

        up_seconds = d.pop("up_seconds")

        seen_seconds_ago = d.pop("seen_seconds_ago")

        def _parse_memory_bytes(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        memory_bytes = _parse_memory_bytes(d.pop("memory_bytes"))

        worker_out = cls(
            name=name,
            version=version,
            site=site,
            lanes=lanes,
            slots=slots,
            busy=busy,
            drain=drain,
            up_seconds=up_seconds,
            seen_seconds_ago=seen_seconds_ago,
            memory_bytes=memory_bytes,
        )

        worker_out.additional_properties = d
        return worker_out

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
