from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.safeguard_incident_out_actions_item import (
        SafeguardIncidentOutActionsItem,
    )
    from ..models.safeguard_incident_out_figures import SafeguardIncidentOutFigures


T = TypeVar("T", bound="SafeguardIncidentOut")


@_attrs_define
class SafeguardIncidentOut:
    """
    Attributes:
        id (int):
        name (str):
        subject (str):
        sentence (str): What was found when it went on
        figures (SafeguardIncidentOutFigures):
        actions (list[SafeguardIncidentOutActionsItem]): What was held back, and when that changed
        stage (int): The highest
        dry (bool): It was only told
        forced_by (str):
        opened_at (datetime.datetime):
        closed_at (datetime.datetime | None):
        ending (str):
    """

    id: int
    name: str
    subject: str
    sentence: str
    figures: SafeguardIncidentOutFigures
    actions: list[SafeguardIncidentOutActionsItem]
    stage: int
    dry: bool
    forced_by: str
    opened_at: datetime.datetime
    closed_at: datetime.datetime | None
    ending: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        subject = self.subject

        sentence = self.sentence

        figures = self.figures.to_dict()

        actions = []
        for actions_item_data in self.actions:
            actions_item = actions_item_data.to_dict()
            actions.append(actions_item)

        stage = self.stage

        dry = self.dry

        forced_by = self.forced_by

        opened_at = self.opened_at.isoformat()

        closed_at: None | str
        if isinstance(self.closed_at, datetime.datetime):
            closed_at = self.closed_at.isoformat()
        else:
            closed_at = self.closed_at

        ending = self.ending

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "subject": subject,
                "sentence": sentence,
                "figures": figures,
                "actions": actions,
                "stage": stage,
                "dry": dry,
                "forced_by": forced_by,
                "opened_at": opened_at,
                "closed_at": closed_at,
                "ending": ending,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.safeguard_incident_out_actions_item import (
            SafeguardIncidentOutActionsItem,  # noqa: PLC0415
        )
        from ..models.safeguard_incident_out_figures import SafeguardIncidentOutFigures  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        subject = d.pop("subject")

        sentence = d.pop("sentence")

        figures = SafeguardIncidentOutFigures.from_dict(d.pop("figures"))

        actions = []
        _actions = d.pop("actions")
        for actions_item_data in _actions:
            actions_item = SafeguardIncidentOutActionsItem.from_dict(actions_item_data)

            actions.append(actions_item)

        stage = d.pop("stage")

        dry = d.pop("dry")

        forced_by = d.pop("forced_by")

        opened_at = datetime.datetime.fromisoformat(d.pop("opened_at"))

        def _parse_closed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                closed_at_type_0 = datetime.datetime.fromisoformat(data)

                return closed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        closed_at = _parse_closed_at(d.pop("closed_at"))

        ending = d.pop("ending")

        safeguard_incident_out = cls(
            id=id,
            name=name,
            subject=subject,
            sentence=sentence,
            figures=figures,
            actions=actions,
            stage=stage,
            dry=dry,
            forced_by=forced_by,
            opened_at=opened_at,
            closed_at=closed_at,
            ending=ending,
        )

        safeguard_incident_out.additional_properties = d
        return safeguard_incident_out

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
