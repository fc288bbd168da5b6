from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane
from ..models.mode import Mode

if TYPE_CHECKING:
    from ..models.payload_schema import PayloadSchema


T = TypeVar("T", bound="TaskTypeOut")


@_attrs_define
class TaskTypeOut:
    """
    Attributes:
        name (str):
        lane (Lane): Priority classes, most urgent first.
        max_retry (int):
        backoff (list[float]): Seconds before each retry, without their jitter; the last repeats
        timeout (float): Seconds
        mode (Mode): How the handler is called.
        concurrency (int): Tasks of one batch that run at the same time
        rate (float | None): Tasks a second across all workers
        burst (float | None):
        max_running (int | None):
        payload_schema (None | PayloadSchema): What its payload has: names, types, defaults, and what is required. Null:
            the handler declares no parameters, and takes any payload
    """

    name: str
    lane: Lane
    max_retry: int
    backoff: list[float]
    timeout: float
    mode: Mode
    concurrency: int
    rate: float | None
    burst: float | None
    max_running: int | None
    payload_schema: None | PayloadSchema
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.payload_schema import PayloadSchema  # noqa: PLC0415

        name = self.name

        lane = self.lane.value

        max_retry = self.max_retry

        backoff = self.backoff

        timeout = self.timeout

        mode = self.mode.value

        concurrency = self.concurrency

        rate: float | None
        rate = self.rate

        burst: float | None
        burst = self.burst

        max_running: int | None
        max_running = self.max_running

        payload_schema: dict[str, Any] | None
        if isinstance(self.payload_schema, PayloadSchema):
            payload_schema = self.payload_schema.to_dict()
        else:
            payload_schema = self.payload_schema

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "lane": lane,
                "max_retry": max_retry,
                "backoff": backoff,
                "timeout": timeout,
                "mode": mode,
                "concurrency": concurrency,
                "rate": rate,
                "burst": burst,
                "max_running": max_running,
                "payload_schema": payload_schema,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.payload_schema import PayloadSchema  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        lane = Lane(d.pop("lane"))

        max_retry = d.pop("max_retry")

        backoff = cast(list[float], d.pop("backoff"))

        timeout = d.pop("timeout")

        mode = Mode(d.pop("mode"))

        concurrency = d.pop("concurrency")

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

        def _parse_payload_schema(data: object) -> None | PayloadSchema:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                payload_schema_type_0 = PayloadSchema.from_dict(data)

                return payload_schema_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PayloadSchema, data)

        payload_schema = _parse_payload_schema(d.pop("payload_schema"))

        task_type_out = cls(
            name=name,
            lane=lane,
            max_retry=max_retry,
            backoff=backoff,
            timeout=timeout,
            mode=mode,
            concurrency=concurrency,
            rate=rate,
            burst=burst,
            max_running=max_running,
            payload_schema=payload_schema,
        )

        task_type_out.additional_properties = d
        return task_type_out

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
