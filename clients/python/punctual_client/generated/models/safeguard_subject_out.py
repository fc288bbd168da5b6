from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.safeguard_order_out import SafeguardOrderOut
    from ..models.safeguard_subject_out_figures import SafeguardSubjectOutFigures


T = TypeVar("T", bound="SafeguardSubjectOut")


@_attrs_define
class SafeguardSubjectOut:
    """
    Attributes:
        subject (str): A task type, or host: and a host; empty: all there is
        state (str): on, forbidden, about to go on, or off
        stage (int): 0: off
        since (datetime.datetime | None): Since when it has been in this stage
        figures (SafeguardSubjectOutFigures): What was found at the last look
        actions (list[str]): What is held back, in words
        order (None | SafeguardOrderOut):
    """

    subject: str
    state: str
    stage: int
    since: datetime.datetime | None
    figures: SafeguardSubjectOutFigures
    actions: list[str]
    order: None | SafeguardOrderOut
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.safeguard_order_out import SafeguardOrderOut  # noqa: PLC0415

        subject = self.subject

        state = self.state

        stage = self.stage

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        figures = self.figures.to_dict()

        actions = self.actions

        order: dict[str, Any] | None
        if isinstance(self.order, SafeguardOrderOut):
            order = self.order.to_dict()
        else:
            order = self.order

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "subject": subject,
                "state": state,
                "stage": stage,
                "since": since,
                "figures": figures,
                "actions": actions,
                "order": order,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.safeguard_order_out import SafeguardOrderOut  # noqa: PLC0415
        from ..models.safeguard_subject_out_figures import SafeguardSubjectOutFigures  # noqa: PLC0415

        d = dict(src_dict)
        subject = d.pop("subject")

        state = d.pop("state")

        stage = d.pop("stage")

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        figures = SafeguardSubjectOutFigures.from_dict(d.pop("figures"))

        actions = cast(list[str], d.pop("actions"))

        def _parse_order(data: object) -> None | SafeguardOrderOut:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                order_type_0 = SafeguardOrderOut.from_dict(data)

                return order_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SafeguardOrderOut, data)

        order = _parse_order(d.pop("order"))

        safeguard_subject_out = cls(
            subject=subject,
            state=state,
            stage=stage,
            since=since,
            figures=figures,
            actions=actions,
            order=order,
        )

        safeguard_subject_out.additional_properties = d
        return safeguard_subject_out

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
