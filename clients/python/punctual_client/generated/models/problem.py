from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_code import ProblemCode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_error_out import FieldErrorOut
    from ..models.job_ref import JobRef
    from ..models.quota_ref import QuotaRef
    from ..models.task_ref import TaskRef


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error, as in RFC 9457. Nothing was changed.

    Attributes:
        type_ (str):
        title (str):
        status (int):
        code (ProblemCode): What went wrong, for programs; the number in it is the status of the answer.
        detail (str): What is wrong and what to do about it, for people
        task (TaskRef | Unset): A task that stands in the way, as it is now.
        job (JobRef | Unset): A job that stands in the way, as it is now.
        quota (QuotaRef | Unset): A quota that is used up.
        errors (list[FieldErrorOut] | Unset): What is wrong with which fields of the body, where that is known
    """

    type_: str
    title: str
    status: int
    code: ProblemCode
    detail: str
    task: TaskRef | Unset = UNSET
    job: JobRef | Unset = UNSET
    quota: QuotaRef | Unset = UNSET
    errors: list[FieldErrorOut] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        code = self.code.value

        detail = self.detail

        task: dict[str, Any] | Unset = UNSET
        if not isinstance(self.task, Unset):
            task = self.task.to_dict()

        job: dict[str, Any] | Unset = UNSET
        if not isinstance(self.job, Unset):
            job = self.job.to_dict()

        quota: dict[str, Any] | Unset = UNSET
        if not isinstance(self.quota, Unset):
            quota = self.quota.to_dict()

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "code": code,
                "detail": detail,
            }
        )
        if task is not UNSET:
            field_dict["task"] = task
        if job is not UNSET:
            field_dict["job"] = job
        if quota is not UNSET:
            field_dict["quota"] = quota
        if errors is not UNSET:
            field_dict["errors"] = errors

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.field_error_out import FieldErrorOut  # noqa: PLC0415
        from ..models.job_ref import JobRef  # noqa: PLC0415
        from ..models.quota_ref import QuotaRef  # noqa: PLC0415
        from ..models.task_ref import TaskRef  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        code = ProblemCode(d.pop("code"))

        detail = d.pop("detail")

        _task = d.pop("task", UNSET)
        task: TaskRef | Unset
        if isinstance(_task, Unset):
            task = UNSET
        else:
            task = TaskRef.from_dict(_task)

        _job = d.pop("job", UNSET)
        job: JobRef | Unset
        if isinstance(_job, Unset):
            job = UNSET
        else:
            job = JobRef.from_dict(_job)

        _quota = d.pop("quota", UNSET)
        quota: QuotaRef | Unset
        if isinstance(_quota, Unset):
            quota = UNSET
        else:
            quota = QuotaRef.from_dict(_quota)

        _errors = d.pop("errors", UNSET)
        errors: list[FieldErrorOut] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = FieldErrorOut.from_dict(errors_item_data)

                errors.append(errors_item)

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            code=code,
            detail=detail,
            task=task,
            job=job,
            quota=quota,
            errors=errors,
        )

        problem.additional_properties = d
        return problem

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
