from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.installation_state import InstallationState
from ..models.lane import Lane

if TYPE_CHECKING:
    from ..models.overdue_choice_out import OverdueChoiceOut
    from ..models.overdue_lane_out import OverdueLaneOut
    from ..models.overdue_order_out import OverdueOrderOut


T = TypeVar("T", bound="InstallationOut")


@_attrs_define
class InstallationOut:
    """
    Attributes:
        state (InstallationState): `quarantined`: nothing is dispatched, and nobody is called. `rehearsing`: tasks are
            dispatched, and not run.
        sentence (str): What everybody should know; empty: all is as always
        environment (str):
        reason (str):
        since (datetime.datetime | None):
        by (str):
        held_before (datetime.datetime | None): What was due before then is held, in held_lanes; null: nothing is
        held_lanes (list[Lane]):
        ordered (None | OverdueOrderOut): What is being done with what is overdue
        exact (bool): False: more is overdue than was counted
        overdue (list[OverdueLaneOut]): For operators, as is all that follows
        choices (list[OverdueChoiceOut]):
    """

    state: InstallationState
    sentence: str
    environment: str
    reason: str
    since: datetime.datetime | None
    by: str
    held_before: datetime.datetime | None
    held_lanes: list[Lane]
    ordered: None | OverdueOrderOut
    exact: bool
    overdue: list[OverdueLaneOut]
    choices: list[OverdueChoiceOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.overdue_order_out import OverdueOrderOut  # noqa: PLC0415

        state = self.state.value

        sentence = self.sentence

        environment = self.environment

        reason = self.reason

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        by = self.by

        held_before: None | str
        if isinstance(self.held_before, datetime.datetime):
            held_before = self.held_before.isoformat()
        else:
            held_before = self.held_before

        held_lanes = []
        for held_lanes_item_data in self.held_lanes:
            held_lanes_item = held_lanes_item_data.value
            held_lanes.append(held_lanes_item)

        ordered: dict[str, Any] | None
        if isinstance(self.ordered, OverdueOrderOut):
            ordered = self.ordered.to_dict()
        else:
            ordered = self.ordered

        exact = self.exact

        overdue = []
        for overdue_item_data in self.overdue:
            overdue_item = overdue_item_data.to_dict()
            overdue.append(overdue_item)

        choices = []
        for choices_item_data in self.choices:
            choices_item = choices_item_data.to_dict()
            choices.append(choices_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "sentence": sentence,
                "environment": environment,
                "reason": reason,
                "since": since,
                "by": by,
                "held_before": held_before,
                "held_lanes": held_lanes,
                "ordered": ordered,
                "exact": exact,
                "overdue": overdue,
                "choices": choices,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.overdue_choice_out import OverdueChoiceOut  # noqa: PLC0415
        from ..models.overdue_lane_out import OverdueLaneOut  # noqa: PLC0415
        from ..models.overdue_order_out import OverdueOrderOut  # noqa: PLC0415

        d = dict(src_dict)
        state = InstallationState(d.pop("state"))

        sentence = d.pop("sentence")

        environment = d.pop("environment")

        reason = d.pop("reason")

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

        by = d.pop("by")

        def _parse_held_before(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                held_before_type_0 = datetime.datetime.fromisoformat(data)

                return held_before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        held_before = _parse_held_before(d.pop("held_before"))

        held_lanes = []
        _held_lanes = d.pop("held_lanes")
        for held_lanes_item_data in _held_lanes:
            held_lanes_item = Lane(held_lanes_item_data)

            held_lanes.append(held_lanes_item)

        def _parse_ordered(data: object) -> None | OverdueOrderOut:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ordered_type_0 = OverdueOrderOut.from_dict(data)

                return ordered_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverdueOrderOut, data)

        ordered = _parse_ordered(d.pop("ordered"))

        exact = d.pop("exact")

        overdue = []
        _overdue = d.pop("overdue")
        for overdue_item_data in _overdue:
            overdue_item = OverdueLaneOut.from_dict(overdue_item_data)

            overdue.append(overdue_item)

        choices = []
        _choices = d.pop("choices")
        for choices_item_data in _choices:
            choices_item = OverdueChoiceOut.from_dict(choices_item_data)

            choices.append(choices_item)

        installation_out = cls(
            state=state,
            sentence=sentence,
            environment=environment,
            reason=reason,
            since=since,
            by=by,
            held_before=held_before,
            held_lanes=held_lanes,
            ordered=ordered,
            exact=exact,
            overdue=overdue,
            choices=choices,
        )

        installation_out.additional_properties = d
        return installation_out

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
