from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.limit_load import LimitLoad


T = TypeVar("T", bound="LimitOut")


@_attrs_define
class LimitOut:
    """
    Attributes:
        task_type (str):
        declared (bool): False: no beat knows the limit, so none of these tasks is started
        rate (float | None): Tasks a second
        burst (float | None): Tasks that may start at once after a pause
        max_running (int | None):
        load (LimitLoad | None): Of all tenants together; null for a tenant's token
    """

    task_type: str
    declared: bool
    rate: float | None
    burst: float | None
    max_running: int | None
    load: LimitLoad | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.limit_load import LimitLoad  # noqa: PLC0415

        task_type = self.task_type

        declared = self.declared

        rate: float | None
        rate = self.rate

        burst: float | None
        burst = self.burst

        max_running: int | None
        max_running = self.max_running

        load: dict[str, Any] | None
        if isinstance(self.load, LimitLoad):
            load = self.load.to_dict()
        else:
            load = self.load

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "task_type": task_type,
                "declared": declared,
                "rate": rate,
                "burst": burst,
                "max_running": max_running,
                "load": load,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.limit_load import LimitLoad  # noqa: PLC0415

        d = dict(src_dict)
        task_type = d.pop("task_type")

        declared = d.pop("declared")

        def _parse_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate = _parse_rate(d.pop("rate"))

        def _parse_burst(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        burst = _parse_burst(d.pop("burst"))

        def _parse_max_running(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_running = _parse_max_running(d.pop("max_running"))

        def _parse_load(data: object) -> LimitLoad | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                load_type_0 = LimitLoad.from_dict(data)

                return load_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LimitLoad | None, data)

        load = _parse_load(d.pop("load"))

        limit_out = cls(
            task_type=task_type,
            declared=declared,
            rate=rate,
            burst=burst,
            max_running=max_running,
            load=load,
        )

        limit_out.additional_properties = d
        return limit_out

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
