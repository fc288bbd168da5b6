from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.health_status import HealthStatus
from ..models.installation_state import InstallationState

if TYPE_CHECKING:
    from ..models.lane_health import LaneHealth


T = TypeVar("T", bound="HealthOut")


@_attrs_define
class HealthOut:
    """
    Attributes:
        status (HealthStatus): `notice` can wait; `trouble` needs somebody now.
        installation (InstallationState): `quarantined`: nothing is dispatched, and nobody is called. `rehearsing`:
            tasks are dispatched, and not run.
        site (None | str):
        own_site (str):
        trigger_delay_p95_ms (float | None): Of what started in the last windowSeconds, 95 % started within this time;
            null: nothing did
        started_p50_ms (float | None):
        started_p95_ms (float | None):
        started_p99_ms (float | None):
        oldest_overdue_ms (float): How long the oldest waiting task of lanes that nothing holds has been due; 0: none
            waits
        planning_behind_ms (float): How overdue a firing of a job is that has no task yet; 0: none is
        throttled_by (list[str]): The safeguards that hold or slow down something now
        waiting_for_limits (int):
        oldest_waiting_for_limits_ms (float):
        window_seconds (int):
        succeeded (int):
        failed (int):
        due (int):
        claimed (int):
        running (int):
        away (int):
        dead_letters (int):
        waiting_to_move (int):
        oldest_to_move_seconds (float | None):
        subscriptions (int):
        subscriptions_suspended (int):
        events_waiting (int):
        oldest_event_waiting_seconds (float | None):
        backup_behind_seconds (float | None):
        backup_age_seconds (float | None):
        backup_restored_seconds (float | None):
        beats (int):
        workers (int):
        slots (int):
        shards (int):
        shards_without_dispatcher (int):
        lanes (list[LaneHealth]):
        problems (list[str]):
        notices (list[str]):
    """

    status: HealthStatus
    installation: InstallationState
    site: None | str
    own_site: str
    trigger_delay_p95_ms: float | None
    started_p50_ms: float | None
    started_p95_ms: float | None
    started_p99_ms: float | None
    oldest_overdue_ms: float
    planning_behind_ms: float
    throttled_by: list[str]
    waiting_for_limits: int
    oldest_waiting_for_limits_ms: float
    window_seconds: int
    succeeded: int
    failed: int
    due: int
    claimed: int
    running: int
    away: int
    dead_letters: int
    waiting_to_move: int
    oldest_to_move_seconds: float | None
    subscriptions: int
    subscriptions_suspended: int
    events_waiting: int
    oldest_event_waiting_seconds: float | None
    backup_behind_seconds: float | None
    backup_age_seconds: float | None
    backup_restored_seconds: float | None
    beats: int
    workers: int
    slots: int
    shards: int
    shards_without_dispatcher: int
    lanes: list[LaneHealth]
    problems: list[str]
    notices: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        installation = self.installation.value

        site: None | str
        site = self.site

        own_site = self.own_site

        trigger_delay_p95_ms: float | None
        trigger_delay_p95_ms = self.trigger_delay_p95_ms

        started_p50_ms: float | None
        started_p50_ms = self.started_p50_ms

        started_p95_ms: float | None
        started_p95_ms = self.started_p95_ms

        started_p99_ms: float | None
        started_p99_ms = self.started_p99_ms

        oldest_overdue_ms = self.oldest_overdue_ms

        planning_behind_ms = self.planning_behind_ms

        throttled_by = self.throttled_by

        waiting_for_limits = self.waiting_for_limits

        oldest_waiting_for_limits_ms = self.oldest_waiting_for_limits_ms

        window_seconds = self.window_seconds

        succeeded = self.succeeded

        failed = self.failed

        due = self.due

        claimed = self.claimed

        running = self.running

        away = self.away

        dead_letters = self.dead_letters

        waiting_to_move = self.waiting_to_move

        oldest_to_move_seconds: float | None
        oldest_to_move_seconds = self.oldest_to_move_seconds

        subscriptions = self.subscriptions

        subscriptions_suspended = self.subscriptions_suspended

        events_waiting = self.events_waiting

        oldest_event_waiting_seconds: float | None
        oldest_event_waiting_seconds = self.oldest_event_waiting_seconds

        backup_behind_seconds: float | None
        backup_behind_seconds = self.backup_behind_seconds

        backup_age_seconds: float | None
        backup_age_seconds = self.backup_age_seconds

        backup_restored_seconds: float | None
        backup_restored_seconds = self.backup_restored_seconds

        beats = self.beats

        workers = self.workers

        slots = self.slots

        shards = self.shards

        shards_without_dispatcher = self.shards_without_dispatcher

        lanes = []
        for lanes_item_data in self.lanes:
            lanes_item = lanes_item_data.to_dict()
            lanes.append(lanes_item)

        problems = self.problems

        notices = self.notices

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "installation": installation,
                "site": site,
                "ownSite": own_site,
                "triggerDelayP95Ms": trigger_delay_p95_ms,
                "startedP50Ms": started_p50_ms,
                "startedP95Ms": started_p95_ms,
                "startedP99Ms": started_p99_ms,
                "oldestOverdueMs": oldest_overdue_ms,
                "planningBehindMs": planning_behind_ms,
                "throttledBy": throttled_by,
                "waitingForLimits": waiting_for_limits,
                "oldestWaitingForLimitsMs": oldest_waiting_for_limits_ms,
                "windowSeconds": window_seconds,
                "succeeded": succeeded,
                "failed": failed,
                "due": due,
                "claimed": claimed,
                "running": running,
                "away": away,
                "deadLetters": dead_letters,
                "waitingToMove": waiting_to_move,
                "oldestToMoveSeconds": oldest_to_move_seconds,
                "subscriptions": subscriptions,
                "subscriptionsSuspended": subscriptions_suspended,
                "eventsWaiting": events_waiting,
                "oldestEventWaitingSeconds": oldest_event_waiting_seconds,
                "backupBehindSeconds": backup_behind_seconds,
                "backupAgeSeconds": backup_age_seconds,
                "backupRestoredSeconds": backup_restored_seconds,
                "beats": beats,
                "workers": workers,
                "slots": slots,
                "shards": shards,
                "shardsWithoutDispatcher": shards_without_dispatcher,
                "lanes": lanes,
                "problems": problems,
                "notices": notices,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lane_health import LaneHealth  # noqa: PLC0415

        d = dict(src_dict)
        status = HealthStatus(d.pop("status"))

        installation = InstallationState(d.pop("installation"))

        def _parse_site(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        site = _parse_site(d.pop("site"))

        own_site = d.pop("ownSite")

        def _parse_trigger_delay_p95_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        trigger_delay_p95_ms = _parse_trigger_delay_p95_ms(d.pop("triggerDelayP95Ms"))

        def _parse_started_p50_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        started_p50_ms = _parse_started_p50_ms(d.pop("startedP50Ms"))

        def _parse_started_p95_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        started_p95_ms = _parse_started_p95_ms(d.pop("startedP95Ms"))

        def _parse_started_p99_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        started_p99_ms = _parse_started_p99_ms(d.pop("startedP99Ms"))

        oldest_overdue_ms = d.pop("oldestOverdueMs")

        planning_behind_ms = d.pop("planningBehindMs")

        throttled_by = cast(list[str], d.pop("throttledBy"))

        waiting_for_limits = d.pop("waitingForLimits")

        oldest_waiting_for_limits_ms = d.pop("oldestWaitingForLimitsMs")

        window_seconds = d.pop("windowSeconds")

        succeeded = d.pop("succeeded")

        failed = d.pop("failed")

        due = d.pop("due")

        claimed = d.pop("claimed")

        running = d.pop("running")

        away = d.pop("away")

        dead_letters = d.pop("deadLetters")

        waiting_to_move = d.pop("waitingToMove")

        def _parse_oldest_to_move_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_to_move_seconds = _parse_oldest_to_move_seconds(d.pop("oldestToMoveSeconds"))

        subscriptions = d.pop("subscriptions")

        subscriptions_suspended = d.pop("subscriptionsSuspended")

        events_waiting = d.pop("eventsWaiting")

        def _parse_oldest_event_waiting_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_event_waiting_seconds = _parse_oldest_event_waiting_seconds(d.pop("oldestEventWaitingSeconds"))

        def _parse_backup_behind_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        backup_behind_seconds = _parse_backup_behind_seconds(d.pop("backupBehindSeconds"))

        def _parse_backup_age_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        backup_age_seconds = _parse_backup_age_seconds(d.pop("backupAgeSeconds"))

        def _parse_backup_restored_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        backup_restored_seconds = _parse_backup_restored_seconds(d.pop("backupRestoredSeconds"))

        beats = d.pop("beats")

        workers = d.pop("workers")

        slots = d.pop("slots")

        shards = d.pop("shards")

        shards_without_dispatcher = d.pop("shardsWithoutDispatcher")

        lanes = []
        _lanes = d.pop("lanes")
        for lanes_item_data in _lanes:
            lanes_item = LaneHealth.from_dict(lanes_item_data)

            lanes.append(lanes_item)

        problems = cast(list[str], d.pop("problems"))

        notices = cast(list[str], d.pop("notices"))

        health_out = cls(
            status=status,
            installation=installation,
            site=site,
            own_site=own_site,
            trigger_delay_p95_ms=trigger_delay_p95_ms,
            started_p50_ms=started_p50_ms,
            started_p95_ms=started_p95_ms,
            started_p99_ms=started_p99_ms,
            oldest_overdue_ms=oldest_overdue_ms,
            planning_behind_ms=planning_behind_ms,
            throttled_by=throttled_by,
            waiting_for_limits=waiting_for_limits,
            oldest_waiting_for_limits_ms=oldest_waiting_for_limits_ms,
            window_seconds=window_seconds,
            succeeded=succeeded,
            failed=failed,
            due=due,
            claimed=claimed,
            running=running,
            away=away,
            dead_letters=dead_letters,
            waiting_to_move=waiting_to_move,
            oldest_to_move_seconds=oldest_to_move_seconds,
            subscriptions=subscriptions,
            subscriptions_suspended=subscriptions_suspended,
            events_waiting=events_waiting,
            oldest_event_waiting_seconds=oldest_event_waiting_seconds,
            backup_behind_seconds=backup_behind_seconds,
            backup_age_seconds=backup_age_seconds,
            backup_restored_seconds=backup_restored_seconds,
            beats=beats,
            workers=workers,
            slots=slots,
            shards=shards,
            shards_without_dispatcher=shards_without_dispatcher,
            lanes=lanes,
            problems=problems,
            notices=notices,
        )

        health_out.additional_properties = d
        return health_out

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
