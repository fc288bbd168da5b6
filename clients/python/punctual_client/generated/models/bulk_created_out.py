from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.bulk_outcome import BulkOutcome
from ..models.task_status import TaskStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.refusal_out import RefusalOut


T = TypeVar("T", bound="BulkCreatedOut")


@_attrs_define
class BulkCreatedOut:
    """What became of one task: `error` is null, or all others are.

    Attributes:
        index (int): Its position in `tasks`, from 0
        outcome (BulkOutcome | None | Unset):
        task_id (int | None | Unset):
        status (None | TaskStatus | Unset):
        error (None | RefusalOut | Unset):
    """

    index: int
    outcome: BulkOutcome | None | Unset = UNSET
    task_id: int | None | Unset = UNSET
    status: None | TaskStatus | Unset = UNSET
    error: None | RefusalOut | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.refusal_out import RefusalOut  # noqa: PLC0415

        index = self.index

        outcome: None | str | Unset
        if isinstance(self.outcome, Unset):
            outcome = UNSET
        elif isinstance(self.outcome, BulkOutcome):
            outcome = self.outcome.value
        else:
            outcome = self.outcome

        task_id: int | None | Unset
        if isinstance(self.task_id, Unset):
            task_id = UNSET
        else:
            task_id = self.task_id

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, TaskStatus):
            status = self.status.value
        else:
            status = self.status

        error: dict[str, Any] | None | Unset
        if isinstance(self.error, Unset):
            error = UNSET
        elif isinstance(self.error, RefusalOut):
            error = self.error.to_dict()
        else:
            error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
            }
        )
        if outcome is not UNSET:
            field_dict["outcome"] = outcome
        if task_id is not UNSET:
            field_dict["task_id"] = task_id
        if status is not UNSET:
            field_dict["status"] = status
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.refusal_out import RefusalOut  # noqa: PLC0415

        d = dict(src_dict)
        index = d.pop("index")

        def _parse_outcome(data: object) -> BulkOutcome | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                outcome_type_0 = BulkOutcome(data)

                return outcome_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BulkOutcome | None | Unset, data)

        outcome = _parse_outcome(d.pop("outcome", UNSET))

        def _parse_task_id(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        task_id = _parse_task_id(d.pop("task_id", UNSET))

        def _parse_status(data: object) -> None | TaskStatus | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = TaskStatus(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TaskStatus | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        def _parse_error(data: object) -> None | RefusalOut | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = RefusalOut.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RefusalOut | Unset, data)

        error = _parse_error(d.pop("error", UNSET))

        bulk_created_out = cls(
            index=index,
            outcome=outcome,
            task_id=task_id,
            status=status,
            error=error,
        )

        bulk_created_out.additional_properties = d
        return bulk_created_out

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
