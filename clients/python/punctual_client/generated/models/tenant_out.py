from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.tenant_state import TenantState

if TYPE_CHECKING:
    from ..models.quotas_out import QuotasOut
    from ..models.tenant_archive_out import TenantArchiveOut
    from ..models.tenant_defaults_out import TenantDefaultsOut


T = TypeVar("T", bound="TenantOut")


@_attrs_define
class TenantOut:
    """
    Attributes:
        name (str):
        title (str):
        state (TenantState): Whether its tasks are started.
        reason (str): Why it is suspended or archived; else empty
        since (datetime.datetime): In this state
        until (datetime.datetime | None): It is resumed by itself then
        by (str): Who has changed its state last, as the audit says, too; else empty
        timezone (str): Of its new jobs that have a `cron` and name none; empty: UTC
        contacts (list[str]):
        weight (int):
        encrypted (bool): Payloads, results, errors and secrets are encrypted with a key of its own
        defaults (TenantDefaultsOut): What holds where neither a caller nor a type names anything; null: as the settings
            say.
        quotas (QuotasOut): How much it may have; null: as much as it likes.
        tasks (int | None): Live ones, when a beat has last counted; null without a quota for them
        held_tasks (int): That came due while it was suspended and wait; 10000: that many, or more
        archive (None | TenantArchiveOut): If it is being archived, or was
    """

    name: str
    title: str
    state: TenantState
    reason: str
    since: datetime.datetime
    until: datetime.datetime | None
    by: str
    timezone: str
    contacts: list[str]
    weight: int
    encrypted: bool
    defaults: TenantDefaultsOut
    quotas: QuotasOut
    tasks: int | None
    held_tasks: int
    archive: None | TenantArchiveOut
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.tenant_archive_out import TenantArchiveOut  # noqa: PLC0415

        name = self.name

        title = self.title

        state = self.state.value

        reason = self.reason

        since = self.since.isoformat()

        until: None | str
        if isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        by = self.by

        timezone = self.timezone

        contacts = self.contacts

        weight = self.weight

        encrypted = self.encrypted

        defaults = self.defaults.to_dict()

        quotas = self.quotas.to_dict()

        tasks: int | None
        tasks = self.tasks

        held_tasks = self.held_tasks

        archive: dict[str, Any] | None
        if isinstance(self.archive, TenantArchiveOut):
            archive = self.archive.to_dict()
        else:
            archive = self.archive

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "title": title,
                "state": state,
                "reason": reason,
                "since": since,
                "until": until,
                "by": by,
                "timezone": timezone,
                "contacts": contacts,
                "weight": weight,
                "encrypted": encrypted,
                "defaults": defaults,
                "quotas": quotas,
                "tasks": tasks,
                "held_tasks": held_tasks,
                "archive": archive,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.quotas_out import QuotasOut  # noqa: PLC0415
        from ..models.tenant_archive_out import TenantArchiveOut  # noqa: PLC0415
        from ..models.tenant_defaults_out import TenantDefaultsOut  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        title = d.pop("title")

        state = TenantState(d.pop("state"))

        reason = d.pop("reason")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        def _parse_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        until = _parse_until(d.pop("until"))

        by = d.pop("by")

        timezone = d.pop("timezone")

        contacts = cast(list[str], d.pop("contacts"))

        weight = d.pop("weight")

        encrypted = d.pop("encrypted")

        defaults = TenantDefaultsOut.from_dict(d.pop("defaults"))

        quotas = QuotasOut.from_dict(d.pop("quotas"))

        def _parse_tasks(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        tasks = _parse_tasks(d.pop("tasks"))

        held_tasks = d.pop("held_tasks")

        def _parse_archive(data: object) -> None | TenantArchiveOut:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                archive_type_0 = TenantArchiveOut.from_dict(data)

                return archive_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TenantArchiveOut, data)

        archive = _parse_archive(d.pop("archive"))

        tenant_out = cls(
            name=name,
            title=title,
            state=state,
            reason=reason,
            since=since,
            until=until,
            by=by,
            timezone=timezone,
            contacts=contacts,
            weight=weight,
            encrypted=encrypted,
            defaults=defaults,
            quotas=quotas,
            tasks=tasks,
            held_tasks=held_tasks,
            archive=archive,
        )

        tenant_out.additional_properties = d
        return tenant_out

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
