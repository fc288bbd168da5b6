from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.answer import Answer
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.refusal_out import RefusalOut


T = TypeVar("T", bound="BulkCancelledOut")


@_attrs_define
class BulkCancelledOut:
    """What became of one task: `error` is null, or all others are.

    Attributes:
        index (int): Its position in `tasks`, from 0
        task_id (int | None | Unset):
        answer (Answer | None | Unset):
        acted (bool | None | Unset):
        error (None | RefusalOut | Unset):
    """

    index: int
    task_id: int | None | Unset = UNSET
    answer: Answer | None | Unset = UNSET
    acted: bool | None | Unset = UNSET
    error: None | RefusalOut | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.refusal_out import RefusalOut  # noqa: PLC0415

        index = self.index

        task_id: int | None | Unset
        if isinstance(self.task_id, Unset):
            task_id = UNSET
        else:
            task_id = self.task_id

        answer: None | str | Unset
        if isinstance(self.answer, Unset):
            answer = UNSET
        elif isinstance(self.answer, Answer):
            answer = self.answer.value
        else:
            answer = self.answer

        acted: bool | None | Unset
        if isinstance(self.acted, Unset):
            acted = UNSET
        else:
            acted = self.acted

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
        if task_id is not UNSET:
            field_dict["task_id"] = task_id
        if answer is not UNSET:
            field_dict["answer"] = answer
        if acted is not UNSET:
            field_dict["acted"] = acted
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.refusal_out import RefusalOut  # noqa: PLC0415

        d = dict(src_dict)
        index = d.pop("index")

        def _parse_task_id(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        task_id = _parse_task_id(d.pop("task_id", UNSET))

        def _parse_answer(data: object) -> Answer | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                answer_type_0 = Answer(data)

                return answer_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Answer | None | Unset, data)

        answer = _parse_answer(d.pop("answer", UNSET))

        def _parse_acted(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        acted = _parse_acted(d.pop("acted", UNSET))

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

        bulk_cancelled_out = cls(
            index=index,
            task_id=task_id,
            answer=answer,
            acted=acted,
            error=error,
        )

        bulk_cancelled_out.additional_properties = d
        return bulk_cancelled_out

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
