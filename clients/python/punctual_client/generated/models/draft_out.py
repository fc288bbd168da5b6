from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.advice_out import AdviceOut
    from ..models.day_out import DayOut
    from ..models.falls_out import FallsOut
    from ..models.field_error_out import FieldErrorOut
    from ..models.firing import Firing


T = TypeVar("T", bound="DraftOut")


@_attrs_define
class DraftOut:
    """What the job would be like. Nothing was saved.

    Attributes:
        words (None | str): The schedule, for people; null: it can't be said when it would fire
        times (list[Firing]): The next five
        falls_out (list[FallsOut]): What falls out before the last of those times, or is shifted
        day (DayOut | None):
        advice (AdviceOut | None):
        errors (list[FieldErrorOut]): Why it could not be created as it is; empty: it could
    """

    words: None | str
    times: list[Firing]
    falls_out: list[FallsOut]
    day: DayOut | None
    advice: AdviceOut | None
    errors: list[FieldErrorOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.advice_out import AdviceOut  # noqa: PLC0415
        from ..models.day_out import DayOut  # noqa: PLC0415

        words: None | str
        words = self.words

        times = []
        for times_item_data in self.times:
            times_item = times_item_data.to_dict()
            times.append(times_item)

        falls_out = []
        for falls_out_item_data in self.falls_out:
            falls_out_item = falls_out_item_data.to_dict()
            falls_out.append(falls_out_item)

        day: dict[str, Any] | None
        if isinstance(self.day, DayOut):
            day = self.day.to_dict()
        else:
            day = self.day

        advice: dict[str, Any] | None
        if isinstance(self.advice, AdviceOut):
            advice = self.advice.to_dict()
        else:
            advice = self.advice

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "words": words,
                "times": times,
                "falls_out": falls_out,
                "day": day,
                "advice": advice,
                "errors": errors,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.advice_out import AdviceOut  # noqa: PLC0415
        from ..models.day_out import DayOut  # noqa: PLC0415
        from ..models.falls_out import FallsOut  # noqa: PLC0415
        from ..models.field_error_out import FieldErrorOut  # noqa: PLC0415
        from ..models.firing import Firing  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_words(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        words = _parse_words(d.pop("words"))

        times = []
        _times = d.pop("times")
        for times_item_data in _times:
            times_item = Firing.from_dict(times_item_data)

            times.append(times_item)

        falls_out = []
        _falls_out = d.pop("falls_out")
        for falls_out_item_data in _falls_out:
            falls_out_item = FallsOut.from_dict(falls_out_item_data)

            falls_out.append(falls_out_item)

        def _parse_day(data: object) -> DayOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                day_type_0 = DayOut.from_dict(data)

                return day_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DayOut | None, data)

        day = _parse_day(d.pop("day"))

        def _parse_advice(data: object) -> AdviceOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                advice_type_0 = AdviceOut.from_dict(data)

                return advice_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdviceOut | None, data)

        advice = _parse_advice(d.pop("advice"))

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in _errors:
            errors_item = FieldErrorOut.from_dict(errors_item_data)

            errors.append(errors_item)

        draft_out = cls(
            words=words,
            times=times,
            falls_out=falls_out,
            day=day,
            advice=advice,
            errors=errors,
        )

        draft_out.additional_properties = d
        return draft_out

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
