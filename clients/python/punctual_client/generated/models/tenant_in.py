from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.quotas_in import QuotasIn
    from ..models.tenant_defaults_in import TenantDefaultsIn


T = TypeVar("T", bound="TenantIn")


@_attrs_define
class TenantIn:
    """A new tenant.

    Attributes:
        name (str):
        title (None | str | Unset): For people
        timezone (None | str | Unset): IANA name; of its new jobs that have a `cron` and name none
        contacts (list[str] | None | Unset): Mail addresses; the list replaces the old one
        weight (int | None | Unset): Its share beside others; 100 is the usual one
        encrypted (bool | None | Unset): Payloads, results, errors and secrets are encrypted with a key of its own
        defaults (None | TenantDefaultsIn | Unset):
        quotas (None | QuotasIn | Unset):
        reason (None | str | Unset): Why; kept in the audit
    """

    name: str
    title: None | str | Unset = UNSET
    timezone: None | str | Unset = UNSET
    contacts: list[str] | None | Unset = UNSET
    weight: int | None | Unset = UNSET
    encrypted: bool | None | Unset = UNSET
    defaults: None | TenantDefaultsIn | Unset = UNSET
    quotas: None | QuotasIn | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.quotas_in import QuotasIn  # noqa: PLC0415
        from ..models.tenant_defaults_in import TenantDefaultsIn  # noqa: PLC0415

        name = self.name

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        timezone: None | str | Unset
        if isinstance(self.timezone, Unset):
            timezone = UNSET
        else:
            timezone = self.timezone

        contacts: list[str] | None | Unset
        if isinstance(self.contacts, Unset):
            contacts = UNSET
        elif isinstance(self.contacts, list):
            contacts = self.contacts

        else:
            contacts = self.contacts

        weight: int | None | Unset
        if isinstance(self.weight, Unset):
            weight = UNSET
        else:
            weight = self.weight

        encrypted: bool | None | Unset
        if isinstance(self.encrypted, Unset):
            encrypted = UNSET
        else:
            encrypted = self.encrypted

        defaults: dict[str, Any] | None | Unset
        if isinstance(self.defaults, Unset):
            defaults = UNSET
        elif isinstance(self.defaults, TenantDefaultsIn):
            defaults = self.defaults.to_dict()
        else:
            defaults = self.defaults

        quotas: dict[str, Any] | None | Unset
        if isinstance(self.quotas, Unset):
            quotas = UNSET
        elif isinstance(self.quotas, QuotasIn):
            quotas = self.quotas.to_dict()
        else:
            quotas = self.quotas

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if title is not UNSET:
            field_dict["title"] = title
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if contacts is not UNSET:
            field_dict["contacts"] = contacts
        if weight is not UNSET:
            field_dict["weight"] = weight
        if encrypted is not UNSET:
            field_dict["encrypted"] = encrypted
        if defaults is not UNSET:
            field_dict["defaults"] = defaults
        if quotas is not UNSET:
            field_dict["quotas"] = quotas
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.quotas_in import QuotasIn  # noqa: PLC0415
        from ..models.tenant_defaults_in import TenantDefaultsIn  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        def _parse_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        timezone = _parse_timezone(d.pop("timezone", UNSET))

        def _parse_contacts(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                contacts_type_0 = cast(list[str], data)

                return contacts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        contacts = _parse_contacts(d.pop("contacts", UNSET))

        def _parse_weight(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        weight = _parse_weight(d.pop("weight", UNSET))

        def _parse_encrypted(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        encrypted = _parse_encrypted(d.pop("encrypted", UNSET))

        def _parse_defaults(data: object) -> None | TenantDefaultsIn | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                defaults_type_0 = TenantDefaultsIn.from_dict(data)

                return defaults_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TenantDefaultsIn | Unset, data)

        defaults = _parse_defaults(d.pop("defaults", UNSET))

        def _parse_quotas(data: object) -> None | QuotasIn | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                quotas_type_0 = QuotasIn.from_dict(data)

                return quotas_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | QuotasIn | Unset, data)

        quotas = _parse_quotas(d.pop("quotas", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        tenant_in = cls(
            name=name,
            title=title,
            timezone=timezone,
            contacts=contacts,
            weight=weight,
            encrypted=encrypted,
            defaults=defaults,
            quotas=quotas,
            reason=reason,
        )

        return tenant_in
