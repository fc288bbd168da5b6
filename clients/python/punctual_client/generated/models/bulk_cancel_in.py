from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.target_in import TargetIn


T = TypeVar("T", bound="BulkCancelIn")


@_attrs_define
class BulkCancelIn:
    """
    Attributes:
        tasks (list[TargetIn]):
        atomic (bool | Unset): All or nothing: the first refusal is the answer to the whole call Default: False.
        reason (None | str | Unset): Why; kept in the audit
    """

    tasks: list[TargetIn]
    atomic: bool | Unset = False
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        tasks = []
        for tasks_item_data in self.tasks:
            tasks_item = tasks_item_data.to_dict()
            tasks.append(tasks_item)

        atomic = self.atomic

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "tasks": tasks,
            }
        )
        if atomic is not UNSET:
            field_dict["atomic"] = atomic
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.target_in import TargetIn  # noqa: PLC0415

        d = dict(src_dict)
        tasks = []
        _tasks = d.pop("tasks")
        for tasks_item_data in _tasks:
            tasks_item = TargetIn.from_dict(tasks_item_data)

            tasks.append(tasks_item)

        atomic = d.pop("atomic", UNSET)

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        bulk_cancel_in = cls(
            tasks=tasks,
            atomic=atomic,
            reason=reason,
        )

        return bulk_cancel_in
