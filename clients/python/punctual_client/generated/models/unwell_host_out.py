from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UnwellHostOut")


@_attrs_define
class UnwellHostOut:
    """A host to which so many calls in a row failed that its callbacks wait.

    Attributes:
        tenant (str):
        host (str):
        failures (int):
        tries (int): In vain, since they wait
        error (str): Of the last call
        unwell_seconds (float):
        try_in_seconds (float): Until one of them may try it; less than 0: the next that comes does
    """

    tenant: str
    host: str
    failures: int
    tries: int
    error: str
    unwell_seconds: float
    try_in_seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant = self.tenant

        host = self.host

        failures = self.failures

        tries = self.tries

        error = self.error

        unwell_seconds = self.unwell_seconds

        try_in_seconds = self.try_in_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant": tenant,
                "host": host,
                "failures": failures,
                "tries": tries,
                "error": error,
                "unwell_seconds": unwell_seconds,
                "try_in_seconds": try_in_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenant = d.pop("tenant")

        host = d.pop("host")

        failures = d.pop("failures")

        tries = d.pop("tries")

        error = d.pop("error")

        unwell_seconds = d.pop("unwell_seconds")

        try_in_seconds = d.pop("try_in_seconds")

        unwell_host_out = cls(
            tenant=tenant,
            host=host,
            failures=failures,
            tries=tries,
            error=error,
            unwell_seconds=unwell_seconds,
            try_in_seconds=try_in_seconds,
        )

        unwell_host_out.additional_properties = d
        return unwell_host_out

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
