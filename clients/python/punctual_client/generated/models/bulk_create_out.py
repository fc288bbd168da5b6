from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.bulk_created_out import BulkCreatedOut


T = TypeVar("T", bound="BulkCreateOut")


@_attrs_define
class BulkCreateOut:
    """
    Attributes:
        created (int):
        existing (int):
        refused (int):
        items (list[BulkCreatedOut]):
    """

    created: int
    existing: int
    refused: int
    items: list[BulkCreatedOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created = self.created

        existing = self.existing

        refused = self.refused

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created": created,
                "existing": existing,
                "refused": refused,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bulk_created_out import BulkCreatedOut  # noqa: PLC0415

        d = dict(src_dict)
        created = d.pop("created")

        existing = d.pop("existing")

        refused = d.pop("refused")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = BulkCreatedOut.from_dict(items_item_data)

            items.append(items_item)

        bulk_create_out = cls(
            created=created,
            existing=existing,
            refused=refused,
            items=items,
        )

        bulk_create_out.additional_properties = d
        return bulk_create_out

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
