"""Examples for the schema, by the names of its components: each is something that the API takes, or gives."""

from typing import Any

from .alarm_examples import ALARMS
from .member_examples import MEMBERS

_JOB_IN = {
    "name": "daily report",
    "task_type": "REPORT_SEND",
    "cron": "0 9 * * MON-FRI",
    "timezone": "Europe/Berlin",
    "payload": {"to": "sales"},
}
_ADVICE = {
    "at": "2027-03-01T08:00:00Z",
    "firings": 3121,
    "jitter": 600,
    "words": "It makes a peak worse. At 08:00 UTC on 01 Mar, 3,121 firings come together, and the workers "
    "can run about 2,400 in a minute. Spread over 600 seconds (jitter), its busiest minute would have 12.",
}
_JOB: dict[str, Any] = _JOB_IN | {
    "calendar": None,
    "on_day_off": "skip",
    "id": 12,
    "revision": 1,
    "every": None,
    "at": None,
    "words": "At 09:00 on Monday through Friday, Europe/Berlin time",
    "dst_gap": "shift",
    "dst_repeat": "once",
    "lane": "default",
    "max_retry": 5,
    "backoff": None,
    "timeout": None,
    "expires_after": None,
    "start_at": None,
    "end_at": None,
    "max_runs": None,
    "jitter": 0,
    "catch_up": "latest",
    "catch_up_window": 3600,
    "catch_up_most": 10,
    "parents": [],
    "when": "all_success",
    "if_parent_fails": "wait",
    "overlap": "allow",
    "status": "ACTIVE",
    "pause_reason": "",
    "paused_by": "",
    "paused_until": None,
    "on_resume": "skip",
    "declared": None,
    "created_at": "2027-02-26T14:03:11.120000Z",
    "updated_at": "2027-02-26T14:03:11.120000Z",
}
_DECLARED = {"source": "jobs.yaml", "applied_at": "2027-02-26T14:03:11.120000Z", "drift": ["cron"]}
_TASK_IN = {
    "task_type": "INVOICE_SEND",
    "key": "order 4711/a",
    "at": "2027-03-01T09:00:00+01:00",
    "payload": {"order": 4711},
}
_TASK = {
    "id": 1001,
    "task_type": "INVOICE_SEND",
    "key": "order 4711/a",
    "job": None,
    "fire_time": None,
    "manual": False,
    "status": "FAIL",
    "live": True,
    "execute_time": "2027-03-01T08:00:00Z",
    "due_at": "2027-03-01T08:00:05.250000Z",
    "was_due_at": "2027-03-01T08:00:00Z",
    "allowed_at": None,
    "start_time": "2027-03-01T08:00:00.012000Z",
    "finish_time": "2027-03-01T08:00:00.250000Z",
    "progress": None,
    "late_seconds": 0.012,
    "waited_seconds": None,
    "lane": "default",
    "attempt": 1,
    "retry_count": 1,
    "attempts": 1,
    "max_retry": 5,
    "repeat_after": None,
    "expires_after": None,
    "retry_for": None,
    "away": None,
    "deferred_from": None,
    "deferred": [],
    "worker": "worker@app-1",
    "batch": "0d8c1f5e-4a52-4f7e-8c39-5b0a6f1e2d90",
    "error_code": "MAIL_DOWN",
    "error_msg": "the mail server does not answer",
    "last_error": {"code": "MAIL_DOWN", "message": "the mail server does not answer"},
    "payload": {"order": 4711},
    "result": None,
    "token": "6f1d3b0e-6a0c-4f0e-9a51-0d3c6f1b7a10",
    "idem_key": None,
    "asked_by": "shop",
    "created_at": "2027-02-26T14:03:11.120000Z",
    "updated_at": "2027-03-01T08:00:00.250000Z",
}
_LANE = {
    "lane": "default",
    "due": 3,
    "oldestOverdueSeconds": 0.2,
    "batchesWaiting": 0,
    "batchesRunning": 1,
    "tasksClaimed": 0,
    "tasksRunning": 20,
    "slots": 8,
    "paused": None,
    "safeguard": None,
    "rate": None,
    "canarySeconds": 4.1,
}
_NAMED_SECRET = {
    "id": 4,
    "name": "billing-token",
    "signs": False,
    "hosts": ["api.example.com"],
    "values": 1,
    "created_by": "olga",
    "created_at": "2027-02-26T14:03:11.120000Z",
    "updated_at": "2027-02-26T14:03:11.120000Z",
}
_TENANT = {
    "name": "acme",
    "title": "Acme Ltd",
    "state": "ACTIVE",
    "reason": "",
    "since": "2026-11-02T08:00:00Z",
    "until": None,
    "by": "olga",
    "timezone": "Europe/Berlin",
    "contacts": ["ops@acme.example"],
    "weight": 100,
    "encrypted": False,
    "defaults": {"lane": "low", "retention": None, "retry_share": 0.2, "retry_burst": None},
    "quotas": {
        "max_jobs": 500,
        "max_tasks": 10_000,
        "max_payload_bytes": None,
        "schedules_per_second": 50,
        "max_running": None,
        "max_history_days": None,
        "calls_per_minute": None,
    },
    "tasks": 1_234,
    "held_tasks": 0,
    "archive": None,
}
_TENANT_ARCHIVE = {
    "state": "RUNNING",
    "phase": "REMOVE",
    "folder": "tenants/acme/20261116T090000Z",
    "round": 1,
    "exported": 81_234,
    "removed": 20_000,
    "destroy_key": False,
    "waits_for": "",
    "error": "",
    "ordered_by": "olga",
    "ordered_at": "2026-11-16T09:00:00Z",
}
_HOST_LIMIT = {"host": "api.example.com", "max_running": 5, "rate": 20.0, "burst": 20.0, "permits": 17.5, "running": 2}
_SUBSCRIPTION_IN = {
    "name": "shop",
    "events": ["task.dead", "task.late"],
    "task_types": ["INVOICE_SEND"],
    "sink": "webhook",
    "target": {"url": "https://hooks.example.com/punctual"},
    "reason": "the shop wants to know",
}
_SUBSCRIPTION = {
    "id": 3,
    "name": "shop",
    "scope": "tenant",
    "events": ["task.*", "job.missed"],
    "not_kept": [{"pattern": "task.*", "events": ["task.created", "task.released", "task.succeeded"]}],
    "task_types": ["INVOICE_SEND"],
    "sink": "webhook",
    "target": {"url": "https://hooks.example.com/punctual"},
    "secrets": 1,
    "state": "ACTIVE",
    "state_reason": "",
    "created_by": "shop",
    "created_at": "2027-02-26T14:03:11.120000Z",
    "delivered": 1204,
    "delivered_at": "2027-03-01T08:00:00.250000Z",
    "failing_since": None,
    "attempts": 0,
    "next_try_at": None,
    "last_error": "",
    "waiting_events": 2,
    "waiting_seconds": 0.3,
}
_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
_LETTER = {
    "id": 301,
    "task_id": 1001,
    "task_type": "INVOICE_SEND",
    "status": "OPEN",
    "fingerprint": "3f1c9a52d07be684",
    "tags": ["transient_error", "gateway"],
    "error_code": "MAIL_DOWN",
    "error_msg": "the mail server does not answer",
    "frame": "billing.handlers:send_invoice",
    "job": None,
    "created_at": "2027-03-01T08:00:31.250000Z",
    "closed_at": None,
    "closed_by": "",
}
_LETTER_DETAIL = _LETTER | {
    "key": "order 4711/a",
    "payload": {"order": 4711},
    "traceback": '  File "/srv/billing/handlers.py", line 17, in send_invoice\n    raise RetryableError(MAIL_DOWN)\n',
}
_REFUSAL = {"code": "SCH_422_INVALID", "detail": "key: Field required"}
_INSTALLATION = {
    "state": "active",
    "sentence": "Nobody dispatched from Mon 1 Mar 2027 03:10 UTC on. What was due before Mon 1 Mar 2027 07:55 UTC is "
    "held in low until somebody decides.",
    "environment": "production",
    "reason": "",
    "since": "2027-01-11T08:00:00Z",
    "by": "",
    "held_before": "2027-03-01T07:55:00Z",
    "held_lanes": ["low"],
    "ordered": None,
    "exact": True,
    "overdue": [
        {"lane": "low", "tasks": 214000, "since": "2027-03-01T03:10:00Z", "older": 150000, "outdated": 1200},
    ],
    "choices": [
        {
            "choice": "run",
            "words": "run all of it, as fast as the workers can",
            "foreseen": "214,000 tasks run now.",
        }
    ],
}
_SITES = {
    "active": "a",
    "chosen": None,
    "own": "b",
    "epoch": 2,
    "since": "2027-03-01T07:12:00Z",
    "by": "olga",
    "reason": "a is back",
    "resuming": None,
    "sites": [
        {
            "name": "a",
            "state": "active",
            "beats": 2,
            "workers": 4,
            "slots": 16,
            "seen_seconds_ago": 0.8,
            "foreseen": "",
        },
        {
            "name": "b",
            "state": "standing by",
            "beats": 2,
            "workers": 4,
            "slots": 0,
            "seen_seconds_ago": 1.2,
            "foreseen": "Site 'a' works now. Site 'b' has 2 live beats and 4 live workers. 12 batches that workers "
            "have begun would go on to the end; 3 batches that nobody has begun would be due again at once. Lanes "
            "would go on one after the other: critical, high, default, deferred, then the rest, and backfills.",
        },
    ],
    "standbys": [],
    "standby_foreseen": "Site 'a' works now. Nothing more would be started anywhere; 12 batches that workers have "
    "begun would go on to the end.",
}
_STANDBY = {
    "name": "standby1",
    "address": "10.0.7.4",
    "state": "streaming",
    "sync": "async",
    "behind_seconds": 0.04,
    "behind_bytes": 8192,
}
_SAFEGUARD = {
    "name": "delay",
    "words": "tasks start late",
    "mode": "act",
    "limit": 2000.0,
    "sample": 20,
    "on_seconds": 300.0,
    "off_seconds": 600.0,
    "stages": 2,
    "subjects": [
        {
            "subject": "",
            "state": "on",
            "stage": 1,
            "since": "2027-03-01T08:05:00Z",
            "figures": {"p95_ms": 5380.0, "oldest_ms": 7210, "started": 4200, "low_rate": 40.0, "limit_ms": 2000.0},
            "actions": ["lane low is slowed to 10 tasks a second"],
            "order": {
                "kind": "force",
                "stage": 1,
                "by": "olga",
                "reason": "the sale begins at nine",
                "until": "2027-03-01T09:00:00Z",
            },
        }
    ],
}
_SAFEGUARD_INCIDENT = {
    "id": 7,
    "name": "delay",
    "subject": "",
    "sentence": "olga wanted it so: the sale begins at nine",
    "figures": {"p95_ms": 5380.0, "oldest_ms": 7210, "started": 4200, "low_rate": 40.0, "limit_ms": 2000.0},
    "actions": [{"at": "2027-03-01T08:05:00+00:00", "actions": ["lane low is slowed to 10 tasks a second"]}],
    "stage": 1,
    "dry": False,
    "forced_by": "olga",
    "opened_at": "2027-03-01T08:05:00Z",
    "closed_at": None,
    "ending": "",
}
_RECOVERY = {
    "id": 3,
    "incident": "INC-2041",
    "status": "RECOVERY_COMPLETED",
    "resumed": 16,
    "lanes_resumed": ["low", "backfill"],
    "replayed": 40112,
    "dlqMoved": 318,
    "grade": "P2",
    "runs": 1,
    "by": "olga",
    "reason": "rack 4 lost power",
    "began_at": "2027-03-01T03:10:00Z",
    "started_at": "2027-03-01T03:11:10Z",
    "finished_at": "2027-03-01T03:12:04Z",
    "seconds": 124.0,
    "trouble_since": "2027-03-01T03:09:58Z",
    "trouble_sign": "beat",
    "rto_seconds": 126.0,
    "rpo_seconds": 0.0,
    "steps": [
        {
            "name": "freeze",
            "done": True,
            "after_seconds": 70.1,
            "limit_minutes": 3,
            "met": True,
            "seconds": 0.012,
            "words": "Lanes low, backfill are held, and backfills wait.",
        }
    ],
}
_TYPE = {
    "name": "INVOICE_SEND",
    "lane": "default",
    "max_retry": 4,
    "backoff": [1.0, 2.0, 4.0, 8.0],
    "timeout": 10.0,
    "mode": "plain",
    "concurrency": 1,
    "rate": None,
    "burst": None,
    "max_running": None,
    "payload_schema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "order": {"type": "integer"},
            "copy_to": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["order"],
        "additionalProperties": False,
    },
}

_CAMPAIGN = {
    "id": 7,
    "kind": "replay",
    "state": "RUNNING",
    "held_by": None,
    "actor": "token billing",
    "reason": "the mail server is back",
    "selection": "status: DEAD, task_type: INVOICE_SEND",
    "operation": "0c1d3b0e-6a0c-4f0e-9a51-0d3c6f1b7a10",
    "task_type": "INVOICE_SEND",
    "cap": 20000,
    "rate": 500.0,
    "most_running": None,
    "lane": "backfill",
    "at": None,
    "by_seconds": None,
    "over_seconds": None,
    "undoes": None,
    "which": None,
    "total": 18250,
    "more": False,
    "done": 6100,
    "counts": {"replayed": 6098, "superseded": 2},
    "waiting": 120,
    "succeeded": 5970,
    "died": 8,
    "otherwise": 0,
    "failures": 0,
    "created_at": "2027-03-01T08:00:00Z",
    "finished_at": None,
}

_RUN = {
    "id": 31,
    "job": 12,
    "fire_time": "2027-03-01T08:00:00Z",
    "state": "stuck",
    "critical_path": ["extract"],
    "nodes": [
        {
            "job": 12,
            "name": "extract",
            "parents": [],
            "task_id": 1001,
            "status": "DEAD",
            "waits_for": [],
            "began": "2027-03-01T08:00:00.012000Z",
            "ended": "2027-03-01T08:00:31.400000Z",
        },
        {
            "job": 13,
            "name": "report",
            "parents": ["extract"],
            "task_id": 1002,
            "status": "BLOCKED",
            "waits_for": ["extract"],
            "began": None,
            "ended": None,
        },
    ],
    "created_at": "2027-03-01T07:59:10Z",
}
_RUN_LINE = {name: _RUN[name] for name in ("id", "job", "fire_time", "state", "created_at")} | {
    "name": "extract",
    "jobs": 2,
    "counts": {"BLOCKED": 1, "DEAD": 1},
    "failed": 1,
    "gone": 0,
}
_CALENDAR_IN = {
    "name": "holidays",
    "weekdays": [6, 7],
    "days_off": {"2026-12-25": "Christmas Day", "2026-12-26": "Boxing Day"},
    "working_days": {"2027-02-20": "instead of the 19th"},
}
_CALENDAR = _CALENDAR_IN | {
    "id": 4,
    "revision": 2,
    "created_at": "2026-11-16T09:00:00Z",
    "updated_at": "2026-11-20T10:00:00Z",
}

EXAMPLES = (
    {
        "RunOut": [_RUN],
        "RunPage": [{"items": [_RUN_LINE], "next": "31"}],
        "RerunIn": [{"reason": "the source is back"}, {"from_job": "extract"}],
        "RerunOut": [{"started": ["extract"], "waiting": ["report"], "left": []}],
        "CampaignIn": [
            {
                "kind": "retry",
                "matching": {"task_type": "INVOICE_SEND"},
                "cap": 20000,
                "rate": 500,
                "reason": "the mail server is back",
            },
            {"kind": "cancel", "matching": {"lane": "default"}, "reason": "the customer has left"},
            {"kind": "move", "matching": {"status": "INIT"}, "at": "2090-01-01T00:00:00Z"},
            {"kind": "move", "matching": {"status": "INIT"}, "by_seconds": 7200, "reason": "the warehouse opens later"},
            {"kind": "move", "matching": {"status": "INIT"}, "at": "2090-01-01T00:00:00Z", "over_seconds": 3600},
        ],
        "CampaignOut": [_CAMPAIGN],
        "CampaignPage": [{"items": [_CAMPAIGN], "next": "7"}],
        "CampaignChangedOut": [{"id": 7, "state": "PAUSED", "changed": True}],
        "JobIn": [
            _JOB_IN,
            {"name": "stock", "task_type": "STOCK_SYNC", "every": 600, "lane": "low"},
            {"name": "one more thing", "task_type": "REPORT_SEND", "delay": 3600, "reason": "asked for by phone"},
            {"name": "after the report", "task_type": "REPORT_SEND", "parents": ["daily report"], "when": "all_done"},
        ],
        "SubscriptionIn": [_SUBSCRIPTION_IN],
        "SubscriptionPatch": [{"events": ["task.*"], "reason": "all of them"}],
        "SubscriptionOut": [_SUBSCRIPTION],
        "SubscriptionMade": [_SUBSCRIPTION | {"secret": _SECRET}],
        "SubscriptionPage": [{"items": [_SUBSCRIPTION], "next": None}],
        "SubscriptionReasonIn": [{"reason": "the receiver is being moved"}],
        "SubscriptionResumeIn": [
            {"reason": "it is back"},
            {"reason": "it lost a day", "since": "2026-11-01T00:00:00Z"},
        ],
        "SubscriptionReplayIn": [{"reason": "it lost a day", "since": "2026-11-01T00:00:00Z"}],
        "SecretIn": [{"reason": "once a year"}],
        "SecretOut": [{"secret": _SECRET}],
        "WithdrawnOut": [{"withdrawn": 1}],
        "TestedOut": [{"delivered": True, "response": "200", "ms": 35.2, "said": "thank you"}],
        "DeliveryPage": [
            {
                "items": [
                    {
                        "id": 77,
                        "at": "2027-03-01T08:00:00.250000Z",
                        "ok": True,
                        "response": "200",
                        "ms": 35.2,
                        "count": 1,
                        "event_ids": ["1001-1"],
                        "said": "thank you",
                    }
                ],
                "next": None,
            }
        ],
        "NamedSecretIn": [
            {"value": "sk_live_0123456789", "hosts": ["api.example.com"], "reason": "a new contract"},
            {"keep_old": True, "reason": "once a year"},
        ],
        "NamedSecretOut": [_NAMED_SECRET],
        "NamedSecretMade": [_NAMED_SECRET | {"made": None}],
        "NamedSecretPage": [{"items": [_NAMED_SECRET], "next": None}],
        "TenantIn": [
            {
                "name": "acme",
                "title": "Acme Ltd",
                "timezone": "Europe/Berlin",
                "contacts": ["ops@acme.example"],
                "defaults": {"lane": "low"},
                "quotas": {"max_jobs": 500, "max_tasks": 10_000},
                "reason": "a new contract",
            }
        ],
        "TenantPatch": [{"quotas": {"max_tasks": 20_000, "max_jobs": None}, "reason": "they grow"}],
        "TenantSuspendIn": [{"reason": "the invoice is open", "until": "2099-01-04T08:00:00Z"}],
        "TenantResumeIn": [{"reason": "the invoice is paid"}],
        "TenantArchiveIn": [{"reason": "they have left", "destroy_key": False}],
        "TenantArchiveOrderIn": [{"reason": "the archive is full"}],
        "TenantOut": [
            _TENANT,
            _TENANT | {"state": "SUSPENDED", "reason": "they have left", "archive": _TENANT_ARCHIVE},
        ],
        "TenantUseOut": [
            {"items": [{"quota": "max_tasks", "hour": "2027-03-02T08:00:00Z", "used": 4210, "limit": 5000}]},
            {"items": []},
        ],
        "TenantPage": [{"items": [_TENANT], "next": None}],
        "TenantChangedOut": [{"changed": True, "tenant": _TENANT}],
        "HostLimitIn": [{"max_running": 5, "rate": 20, "reason": "they asked us to"}],
        "HostLimitOut": [_HOST_LIMIT],
        "Hosts": [
            {
                "limits": [_HOST_LIMIT],
                "unwell": [
                    {
                        "tenant": "acme",
                        "host": "hooks.example.com",
                        "failures": 5,
                        "tries": 1,
                        "error": "POST: https://hooks.example.com did not answer within 5 s.",
                        "unwell_seconds": 41.5,
                        "try_in_seconds": 18.5,
                    }
                ],
            }
        ],
        "HostTriedOut": [{"host": "hooks.example.com", "changed": True}],
        "JobPatch": [{"cron": "0 8 * * MON-FRI", "reason": "an hour earlier"}],
        "PauseIn": [
            {"reason": "the mail server is being moved"},
            {"reason": "a long holiday", "until": "2090-01-01T00:00:00Z", "on_resume": "latest"},
        ],
        "ResumeIn": [{"on_resume": "all", "reason": "all of them are needed"}],
        "TriggerIn": [{"payload": {"to": "board"}, "reason": "for the meeting"}],
        "TaskIn": [
            _TASK_IN,
            {
                "task_type": "INVOICE_SEND",
                "key": 4712,
                "delay": 90.5,
                "lane": "high",
                "max_retry": 3,
                "expires_after": 600,
            },
            {"task_type": "STOCK_SYNC", "key": "warehouse-7", "repeat_after": 300},
        ],
        "ReasonIn": [{"reason": "the order was cancelled"}],
        "RescheduleIn": [{"at": "2027-03-02T09:00:00+01:00", "revision": 3}, {"delay": 3600, "reason": "not yet paid"}],
        "UnitRescheduleIn": [
            {"task_type": "INVOICE_SEND", "key": "order 4711/a", "at": "2027-03-02T09:00:00+01:00", "revision": 3},
            {"task_type": "INVOICE_SEND", "key": 4712, "delay": 0},
        ],
        "JobOut": [_JOB, _JOB | {"declared": _DECLARED}],
        "JobSavedOut": [_JOB | {"advice": None}, _JOB | {"advice": _ADVICE}],
        "JobPage": [{"items": [_JOB], "next": "daily report"}],
        "TaskOut": [_TASK],
        "TaskPage": [{"items": [_TASK], "next": "1001"}],
        "PreviewOut": [
            {
                "words": "At 09:00 on Monday through Friday, Europe/Berlin time",
                "state": "Fires next on Mon 2027-03-01 09:00 CET.",
                "times": [
                    {
                        "at": "2027-03-01T08:00:00Z",
                        "fire_time": "2027-03-01T08:00:00Z",
                        "words": "Mon 1 Mar 2027 09:00 CET",
                    },
                    {
                        "at": "2027-03-02T17:00:00Z",
                        "fire_time": "2027-03-02T08:00:00Z",
                        "words": "Tue 2 Mar 2027 18:00 CET, moved from Tue 2 Mar 2027 09:00 CET",
                    },
                    {
                        "at": "2027-03-09T08:00:00Z",
                        "fire_time": "2027-03-09T08:00:00Z",
                        "words": "Tue 9 Mar 2027 09:00 CET",
                    },
                ],
                "falls_out": [
                    {
                        "fire_time": "2027-03-08T08:00:00Z",
                        "skipped": False,
                        "words": "Mon 8 Mar 2027 falls out: Women's Day, in the calendar 'holidays'",
                    }
                ],
            }
        ],
        "MoveFiringIn": [{"to": "2090-01-01T17:00:00Z", "reason": "the office closes later"}],
        "FiringChangedOut": [
            {
                "job": 12,
                "fire_time": "2027-03-02T08:00:00Z",
                "outcome": "moved",
                "moved_to": "2027-03-02T17:00:00Z",
            }
        ],
        "CalendarIn": [_CALENDAR_IN],
        "CalendarPatch": [{"days_off": {"2027-01-01": "New Year"}, "reason": "the list for 2027"}],
        "CalendarOut": [_CALENDAR],
        "CalendarFileIn": [
            {
                "name": "office",
                "ics": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\nBEGIN:VEVENT\r\nUID:1\r\n"
                "DTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            }
        ],
        "CalendarFileOut": [{"calendar": _CALENDAR, "days": 1, "left_out": []}],
        "CalendarPage": [{"items": [_CALENDAR], "next": None}],
        "TriggerOut": [{"task_id": 1002, "new": True, "status": "INIT"}],
        "PlannedOut": [
            {"outcome": "UPDATED", "task_id": 1001, "status": "INIT"},
            {"outcome": "SUPERSEDED", "task_id": 1001, "status": "SUCCESS"},
        ],
        "OperatedOut": [
            {"answer": "cancelled", "acted": True, "task_id": 1001, "status": "CANCELLED"},
            {"answer": "finished", "acted": False, "task_id": 1001, "status": "SUCCESS"},
        ],
        "CompleteIn": [{"result": {"pages": 40}}, {}],
        "FailIn": [
            {"code": "NO_SUCH_FILE", "message": "film-7.mov is not there", "retryable": False, "tags": ["films"]},
            {"code": "BUSY", "message": "all machines are taken", "retry_after": 600},
        ],
        "ProgressIn": [{"fraction": 0.4, "note": "reel 2 of 5"}, {"lease": 3600}, {}],
        "DecryptIn": [{"reason": "the customer says that the wrong amount was charged"}],
        "DecryptedOut": [
            {
                "task": 1001,
                "parts": [
                    {"what": "payload", "attempt": None, "value": {"amount": "19.90"}},
                    {"what": "error", "attempt": 1, "value": "the bank does not answer"},
                ],
            }
        ],
        "ReportOut": [
            {"task": 1001, "outcome": "complete", "status": "SUCCESS", "due_at": None},
            {"task": 1001, "outcome": "fail", "status": "FAIL", "due_at": "2027-03-01T08:10:00Z"},
        ],
        "LeaseOut": [{"task": 1001, "until": "2027-03-01T09:00:00Z"}],
        "WhyOut": [{"rule": "lane_paused", "words": "Lane low is paused."}],
        "HealthOut": [
            {
                "status": "ok",
                "installation": "active",
                "site": "main",
                "ownSite": "main",
                "triggerDelayP95Ms": 21.5,
                "startedP50Ms": 8.1,
                "startedP95Ms": 21.5,
                "startedP99Ms": 40.3,
                "oldestOverdueMs": 0.2,
                "planningBehindMs": 0.0,
                "throttledBy": [],
                "waitingForLimits": 0,
                "oldestWaitingForLimitsMs": 0.0,
                "windowSeconds": 300,
                "succeeded": 4200,
                "failed": 3,
                "due": 3,
                "claimed": 0,
                "running": 20,
                "away": 2,
                "deadLetters": 1,
                "waitingToMove": 0,
                "oldestToMoveSeconds": None,
                "subscriptions": 3,
                "subscriptionsSuspended": 0,
                "eventsWaiting": 2,
                "oldestEventWaitingSeconds": 0.3,
                "backupBehindSeconds": 0.4,
                "backupAgeSeconds": 28800.0,
                "backupRestoredSeconds": 172800.0,
                "beats": 2,
                "workers": 2,
                "slots": 8,
                "shards": 16,
                "shardsWithoutDispatcher": 0,
                "lanes": [_LANE],
                "problems": [],
                "notices": [],
            }
        ],
        "ServiceLevelsOut": [
            {
                "days": 30,
                "since": "2027-01-30T08:00:00Z",
                "until": "2027-03-01T08:00:00Z",
                "availability": {
                    "goal": 0.999,
                    "share": 0.99972,
                    "minutes_up": 43188,
                    "minutes_down": 12,
                    "minutes_unwatched": 0,
                    "budget_minutes": 43.2,
                    "budget_left_minutes": 31.2,
                    "kept": True,
                },
                "trigger_delay": {"goal_ms": 2000.0, "p95_ms": 21.5, "started": 9120000, "kept": True},
                "success": {"goal": 0.995, "share": 0.9991, "succeeded": 9111792, "failed": 8208, "kept": True},
                "outages": [{"since": "2027-02-11T03:12:00Z", "minutes": 12, "lanes": ["default", "low"]}],
            }
        ],
        "ForecastOut": [
            {
                "begins": "2027-03-01T07:31:00Z",
                "age_seconds": 12.5,
                "jobs": 4711,
                "jobs_left_out": 0,
                "capacity_per_minute": 2400.0,
                "capacity_words": "8 slots, and a task took 200 ms on average within a day.",
                "lanes": [{"lane": "default", "firings": 3, "minutes": [0, 0, 2, 0, 0, 1]}],
                "peaks": [{"at": "2027-03-02T00:00:00Z", "firings": 3120, "over_capacity": True}],
            }
        ],
        "DraftIn": [_JOB_IN, {"name": "coupon_job", "cron": "0 */5 * * * ?"}],
        "DraftOut": [
            {
                "words": "At 09:00 on Monday through Friday, Europe/Berlin time",
                "times": [
                    {
                        "at": "2027-03-01T08:00:00Z",
                        "fire_time": "2027-03-01T08:00:00Z",
                        "words": "Mon 1 Mar 2027 09:00 CET",
                    }
                ],
                "falls_out": [],
                "day": {
                    "begins": "2027-03-01T07:31:00Z",
                    "step_minutes": 15,
                    "others": [0, 3120, 7],
                    "own": [0, 1, 0],
                    "capacity_per_minute": 2400.0,
                    "age_seconds": 12.5,
                },
                "advice": _ADVICE,
                "errors": [
                    {
                        "field": "task_type",
                        "detail": "task_type is missing; it says what runs. You may use REPORT_SEND.",
                    }
                ],
            }
        ],
        "LiveOut": [{"status": "ok"}],
        "VersionOut": [{"version": "0.1.0", "api": "v1", "redis": True}],
        "BulkCreateIn": [
            {"tasks": [_TASK_IN, {"task_type": "INVOICE_SEND", "key": 4712, "delay": 90.5}]},
            {"tasks": [{"task_type": "INVOICE_SEND", "key": "order 4713"}], "atomic": True},
        ],
        "BulkCreateOut": [
            {
                "created": 1,
                "existing": 1,
                "refused": 1,
                "items": [
                    {"index": 0, "outcome": "CREATED", "task_id": 1001, "status": "INIT", "error": None},
                    {"index": 1, "outcome": "EXISTS", "task_id": 998, "status": "RUNNING", "error": None},
                    {"index": 2, "outcome": None, "task_id": None, "status": None, "error": _REFUSAL},
                ],
            }
        ],
        "BulkCancelIn": [
            {
                "tasks": [{"task_type": "INVOICE_SEND", "key": "order 4711/a"}, {"id": 1002}],
                "reason": "the customer has closed the account",
            }
        ],
        "BulkCancelOut": [
            {
                "cancelled": 1,
                "left": 0,
                "refused": 1,
                "items": [
                    {"index": 0, "task_id": 1001, "answer": "cancelled", "acted": True, "error": None},
                    {
                        "index": 1,
                        "task_id": None,
                        "answer": None,
                        "acted": None,
                        "error": {"code": "SCH_404_NOT_FOUND", "detail": "There is no task 1002."},
                    },
                ],
            }
        ],
        "LetterPageOut": [{"items": [_LETTER], "next": "1803888031250000-301"}],
        "LetterDetailOut": [_LETTER_DETAIL],
        "CausesOut": [
            {
                "items": [
                    {
                        "fingerprint": "3f1c9a52d07be684",
                        "task_type": "INVOICE_SEND",
                        "error_code": "MAIL_DOWN",
                        "error_msg": "the mail server does not answer",
                        "frame": "billing.handlers:send_invoice",
                        "letters": 4711,
                        "exact": True,
                        "first_at": "2027-03-01T07:12:00.100000Z",
                        "last_at": "2027-03-01T08:00:31.250000Z",
                        "sample": 301,
                    }
                ],
                "complete": True,
            }
        ],
        "TagsIn": [{"add": ["gateway"], "remove": ["unclear"], "reason": "the provider told us"}],
        "ReplayIn": [
            {"task_type": "INVOICE_SEND", "cap": 20000, "rate": 50, "reason": "the mail server is back"},
            {"fingerprint": "3f1c9a52d07be684", "dry_run": True},
        ],
        "LettersIn": [{"task_type": "INVOICE_SEND", "tag": "gateway", "reason": "nobody needs them any more"}],
        "OrderedOut": [{"letters": 4711, "complete": True, "taken": 4711, "campaign": 9, "state": "RUNNING"}],
        "BackfillIn": [
            {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T12:00:00Z", "rate": 5, "dry_run": True},
            {"since": "2026-03-01T00:00:00Z", "which": "failed", "most_running": 4, "reason": "the source is back"},
        ],
        "BackfillsIn": [
            {
                "jobs": [12, 13],
                "since": "2026-03-01T00:00:00Z",
                "until": "2026-03-01T12:00:00Z",
                "which": "all",
                "newest_first": True,
            }
        ],
        "BackfillOut": [
            {
                "instances": 4032,
                "along": 0,
                "first": [{"job": 12, "fire_time": "2027-03-01T00:00:00Z", "task_id": None}],
                "last": [{"job": 12, "fire_time": "2027-03-14T23:55:00Z", "task_id": None}],
                "per_second": 5.0,
                "seconds": 806.4,
                "done_at": "2027-03-15T09:13:26.400000Z",
                "forecast": "About 13 min, until Mon 15 Mar 09:13 UTC, at the rate of 5 a second.",
                "selection": "missing firings of 'report' from 2027-03-01 00:00 to 2027-03-14 23:59 UTC, oldest first",
                "campaign": None,
                "state": None,
            }
        ],
        "PaceIn": [{"rate": 50, "reason": "the mail server can take more"}, {"rate": None, "most_running": 8}],
        "AttemptPage": [
            {
                "items": [
                    {
                        "id": 77,
                        "attempt": 1,
                        "replayed_at": None,
                        "worker": "worker@app-1",
                        "started_at": "2027-03-01T08:00:00.012000Z",
                        "finished_at": "2027-03-01T08:00:00.250000Z",
                        "error_code": "MAIL_DOWN",
                        "error_msg": "the mail server does not answer",
                    }
                ],
                "next": None,
            }
        ],
        "LogPage": [
            {
                "items": [
                    {
                        "id": 12,
                        "attempt": 1,
                        "replayed_at": None,
                        "worker": "worker@app-1",
                        "started_at": "2027-03-01T08:00:00.012000Z",
                        "dropped": 0,
                        "lines": [
                            {"at": "2027-03-01T08:00:00.150000Z", "level": "", "text": "page 1 has no title"},
                            {"at": "2027-03-01T08:00:00.250000Z", "level": "WARNING", "text": "shop.mail: no answer"},
                        ],
                    }
                ],
                "next": None,
            }
        ],
        "TaskTypeOut": [_TYPE, _TYPE | {"name": "STOCK_SYNC", "payload_schema": None}],
        "TaskTypes": [{"items": [_TYPE]}],
        "Lanes": [
            {
                "items": [
                    {
                        "name": "critical",
                        "usable": False,
                        "paused": False,
                        "pause": None,
                        "due": 3,
                        "due_exact": True,
                        "oldest_overdue_seconds": 0.2,
                        "claimed": 0,
                        "running": 20,
                        "queued": 1,
                        "slots": 8,
                    }
                ]
            }
        ],
        "LaneReasonIn": [{"reason": "the mail server is being moved"}],
        "LaneChangedOut": [{"name": "low", "paused": True, "changed": True}],
        "Workers": [
            {
                "items": [
                    {
                        "name": "web-3:4711",
                        "version": "0.1.0 2026.11.3",
                        "site": "main",
                        "lanes": ["critical", "default"],
                        "slots": 0,
                        "busy": 1,
                        "drain": {
                            "at": "2027-03-01T08:59:00Z",
                            "by": "olga",
                            "reason": "its machine is replaced today",
                        },
                        "up_seconds": 86400.0,
                        "seen_seconds_ago": 0.7,
                        "memory_bytes": 210763776.0,
                    }
                ]
            }
        ],
        "WorkerReasonIn": [{"reason": "its machine is replaced today"}],
        "WorkerChangedOut": [{"name": "web-3:4711", "drained": True, "changed": True}],
        "InstallationOut": [_INSTALLATION],
        "InstallationStopIn": [{"reason": "the wrong database was restored"}],
        "InstallationResumeIn": [
            {"choice": "expire", "older_seconds": 3600, "reason": "mails of the night help nobody now"},
            {"choice": "shift", "spread_seconds": 1800, "lanes": ["low"], "reason": "the mail server is slow today"},
        ],
        "InstallationChangedOut": [{"state": "active", "sentence": ""}],
        "SitesOut": [_SITES, _SITES | {"standbys": [_STANDBY]}],
        "SiteActivateIn": [{"site": "b", "epoch": 0, "reason": "site a is flooded"}],
        "SitesStandbyIn": [{"reason": "the database is moved tonight"}],
        "SiteChosenOut": [{"active": None, "chosen": "b", "epoch": 3}],
        "Safeguards": [{"items": [_SAFEGUARD]}],
        "SafeguardIncidents": [{"items": [_SAFEGUARD_INCIDENT], "next": None}],
        "Recoveries": [{"items": [_RECOVERY], "next": None}],
        "SafeguardForceIn": [{"seconds": 1800, "stage": 2, "reason": "the sale begins at nine"}],
        "SafeguardForbidIn": [{"seconds": 1800, "reason": "we know, and look into it"}],
        "SafeguardEndIn": [{"reason": "the disk was replaced"}],
        "SafeguardOrderedOut": [
            {"name": "delay", "subject": "", "order": "force", "until": "2027-03-01T09:30:00Z"},
        ],
        "Limits": [
            {
                "items": [
                    {
                        "task_type": "STOCK_SYNC",
                        "declared": True,
                        "rate": 100.0,
                        "burst": 50.0,
                        "max_running": None,
                        "load": {
                            "permits": 42.5,
                            "claimed": 20,
                            "running": 8,
                            "due": 1000,
                            "due_exact": False,
                            "oldest_due_seconds": 3.5,
                        },
                    }
                ]
            }
        ],
        "AuditPage": [
            {
                "items": [
                    {
                        "id": 501,
                        "at": "2027-03-01T08:00:00.250000Z",
                        "operation": "0c1d3b0e-6a0c-4f0e-9a51-0d3c6f1b7a10",
                        "actor": "token billing",
                        "verb": "cancel",
                        "subject": "task 1001",
                        "task_id": 1001,
                        "tenant": "billing",
                        "task_type": "INVOICE_SEND",
                        "outcome": "cancelled",
                        "reason": "the order was cancelled",
                        "detail": {},
                    }
                ],
                "next": "501",
            }
        ],
    }
    | ALARMS
    | MEMBERS
)
