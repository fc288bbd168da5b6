from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.run_state import RunState

if TYPE_CHECKING:
    from ..models.run_node_out import RunNodeOut


T = TypeVar("T", bound="RunOut")


@_attrs_define
class RunOut:
    """One run of a graph: an instance of each of its jobs, for one fire time.

    Attributes:
        id (int):
        job (int): The first of the graph: its root, or the job that somebody triggered
        fire_time (datetime.datetime):
        state (RunState): How a run of a whole graph stands.
        critical_path (list[str]): The jobs that its end has waited for, the first one first
        nodes (list[RunNodeOut]):
        created_at (datetime.datetime):
    """

    id: int
    job: int
    fire_time: datetime.datetime
    state: RunState
    critical_path: list[str]
    nodes: list[RunNodeOut]
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        job = self.job

        fire_time = self.fire_time.isoformat()

        state = self.state.value

        critical_path = self.critical_path

        nodes = []
        for nodes_item_data in self.nodes:
            nodes_item = nodes_item_data.to_dict()
            nodes.append(nodes_item)

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "job": job,
                "fire_time": fire_time,
                "state": state,
                "critical_path": critical_path,
                "nodes": nodes,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_node_out import RunNodeOut  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        job = d.pop("job")

        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        state = RunState(d.pop("state"))

        critical_path = cast(list[str], d.pop("critical_path"))

        nodes = []
        _nodes = d.pop("nodes")
        for nodes_item_data in _nodes:
            nodes_item = RunNodeOut.from_dict(nodes_item_data)

            nodes.append(nodes_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        run_out = cls(
            id=id,
            job=job,
            fire_time=fire_time,
            state=state,
            critical_path=critical_path,
            nodes=nodes,
            created_at=created_at,
        )

        run_out.additional_properties = d
        return run_out

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
