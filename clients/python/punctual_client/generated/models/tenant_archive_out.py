from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.tenant_archive_phase import TenantArchivePhase
from ..models.tenant_archive_state import TenantArchiveState

T = TypeVar("T", bound="TenantArchiveOut")


@_attrs_define
class TenantArchiveOut:
    """How far a tenant is on its way into the archive.

    Attributes:
        state (TenantArchiveState): Whether the beats are at it.
        phase (TenantArchivePhase): What they do: wait for what runs, write what there is, remove what was written;
            until there is nothing left.
        folder (str): Where it lies, below the archive's root
        round_ (int): Times that all tables were looked through; the last time finds nothing
        exported (int): Rows that were written and read back
        removed (int): Rows that are in the archive alone
        destroy_key (bool):
        waits_for (str): Why it does not go on right now; else empty
        error (str): Of the last try, if that failed; else empty
        ordered_by (str):
        ordered_at (datetime.datetime):
    """

    state: TenantArchiveState
    phase: TenantArchivePhase
    folder: str
    round_: int
    exported: int
    removed: int
    destroy_key: bool
    waits_for: str
    error: str
    ordered_by: str
    ordered_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state = self.state.value

        phase = self.phase.value

        folder = self.folder

        round_ = self.round_

        exported = self.exported

        removed = self.removed

        destroy_key = self.destroy_key

        waits_for = self.waits_for

        error = self.error

        ordered_by = self.ordered_by

        ordered_at = self.ordered_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "phase": phase,
                "folder": folder,
                "round": round_,
                "exported": exported,
                "removed": removed,
                "destroy_key": destroy_key,
                "waits_for": waits_for,
                "error": error,
                "ordered_by": ordered_by,
                "ordered_at": ordered_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        state = TenantArchiveState(d.pop("state"))

        phase = TenantArchivePhase(d.pop("phase"))

        folder = d.pop("folder")

        round_ = d.pop("round")

        exported = d.pop("exported")

        removed = d.pop("removed")

        destroy_key = d.pop("destroy_key")

        waits_for = d.pop("waits_for")

        error = d.pop("error")

        ordered_by = d.pop("ordered_by")

        ordered_at = datetime.datetime.fromisoformat(d.pop("ordered_at"))

        tenant_archive_out = cls(
            state=state,
            phase=phase,
            folder=folder,
            round_=round_,
            exported=exported,
            removed=removed,
            destroy_key=destroy_key,
            waits_for=waits_for,
            error=error,
            ordered_by=ordered_by,
            ordered_at=ordered_at,
        )

        tenant_archive_out.additional_properties = d
        return tenant_archive_out

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
