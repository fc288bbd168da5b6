from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AuditOut")


@_attrs_define
class AuditOut:
    """
    Attributes:
        id (int):
        at (datetime.datetime):
        operation (UUID): The same for everything that one order acted on
        actor (str):
        verb (str):
        subject (str): What it was done to, such as `task 7`, `job 3` or `lane low`
        task_id (int | None):
        tenant (None | str): Null: it was done to what all tenants share
        task_type (None | str):
        outcome (str):
        reason (str):
        detail (Any):
    """

    id: int
    at: datetime.datetime
    operation: UUID
    actor: str
    verb: str
    subject: str
    task_id: int | None
    tenant: None | str
    task_type: None | str
    outcome: str
    reason: str
    detail: Any
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        at = self.at.isoformat()

        operation = str(self.operation)

        actor = self.actor

        verb = self.verb

        subject = self.subject

        task_id: int | None
        task_id = self.task_id

        tenant: None | str
        tenant = self.tenant

        task_type: None | str
        task_type = self.task_type

        outcome = self.outcome

        reason = self.reason

        detail = self.detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "at": at,
                "operation": operation,
                "actor": actor,
                "verb": verb,
                "subject": subject,
                "task_id": task_id,
                "tenant": tenant,
                "task_type": task_type,
                "outcome": outcome,
                "reason": reason,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        operation = UUID(d.pop("operation"))

        actor = d.pop("actor")

        verb = d.pop("verb")

        subject = d.pop("subject")

        def _parse_task_id(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        task_id = _parse_task_id(d.pop("task_id"))

        def _parse_tenant(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        tenant = _parse_tenant(d.pop("tenant"))

        def _parse_task_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        task_type = _parse_task_type(d.pop("task_type"))

        outcome = d.pop("outcome")

        reason = d.pop("reason")

        detail = d.pop("detail")

        audit_out = cls(
            id=id,
            at=at,
            operation=operation,
            actor=actor,
            verb=verb,
            subject=subject,
            task_id=task_id,
            tenant=tenant,
            task_type=task_type,
            outcome=outcome,
            reason=reason,
            detail=detail,
        )

        audit_out.additional_properties = d
        return audit_out

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
