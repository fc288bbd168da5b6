"""Examples of alarms for the schema: each is something that the API takes, or gives."""

_RULE_IN = {
    "name": "mails",
    "conditions": ["dead", "late"],
    "late_seconds": 120,
    "task_types": ["MAIL_*"],
    "channels": [3],
    "runbook": "https://wiki.example.com/mail",
}
_RULE = _RULE_IN | {
    "id": 5,
    "revision": 1,
    "scope": "tenant",
    "job": None,
    "running_seconds": None,
    "repeat_seconds": 1800,
    "quiet_seconds": 600,
    "enabled": True,
    "created_at": "2027-02-26T14:03:11.120000Z",
    "updated_at": "2027-02-26T14:03:11.120000Z",
}
_CHANNEL = {
    "id": 3,
    "revision": 1,
    "scope": "tenant",
    "name": "on call",
    "kind": "webhook",
    "shown": "https://hooks.example.com",
    "most_per_hour": 60,
    "enabled": True,
    "failing_since": None,
    "error": "",
    "sent_at": None,
    "created_at": "2027-02-26T14:00:02.700000Z",
    "updated_at": "2027-02-26T14:00:02.700000Z",
}
_ALERT = {
    "id": "6f0c7f9e-4f5c-4b5e-9f43-0d1f2b6f8a11",
    "channel": 3,
    "kind": "opened",
    "title": "5,000 tasks of MAIL_SEND gave up: SMTP_DOWN",
    "created_at": "2027-03-01T08:00:06.310000Z",
    "attempts": 1,
    "outcome": "SENT",
    "error": "",
}
_INCIDENT = {
    "id": 88,
    "scope": "tenant",
    "rule": 5,
    "rule_name": "mails",
    "condition": "dead",
    "cause": "SMTP_DOWN",
    "task_type": "MAIL_SEND",
    "job": None,
    "title": "5,000 tasks of MAIL_SEND gave up: SMTP_DOWN",
    "count": 5000,
    "opened_at": "2027-03-01T08:00:01.120000Z",
    "seen_at": "2027-03-01T08:00:04.900000Z",
    "told_at": "2027-03-01T08:00:06.310000Z",
    "closed_at": None,
    "well": False,
}
ALARMS = {
    "AlarmRuleIn": [
        _RULE_IN,
        {
            "name": "too long",
            "conditions": ["running"],
            "running_seconds": 900,
            "channels": [3],
            "repeat_seconds": 3600,
        },
    ],
    "AlarmRulePatch": [{"quiet_seconds": 1200, "reason": "it flaps"}],
    "AlarmRuleOut": [_RULE],
    "AlarmRulePage": [{"items": [_RULE], "next": "mails"}],
    "AlarmChannelIn": [
        {"name": "on call", "kind": "webhook", "url": "https://hooks.example.com/punctual"},
        {"name": "chat", "kind": "chat", "url": "https://chat.example.com/hooks/T0", "most_per_hour": 20},
    ],
    "AlarmChannelPatch": [{"most_per_hour": 10, "reason": "too loud"}],
    "AlarmChannelOut": [_CHANNEL],
    "NewAlarmChannelOut": [_CHANNEL | {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="}],
    "AlarmChannelPage": [{"items": [_CHANNEL], "next": "on call"}],
    "AlarmChannelTestOut": [
        {"ok": True, "words": "answered 200, after 41.2 ms"},
        {"ok": False, "words": "https://hooks.example.com can't be reached: Connection refused."},
    ],
    "AlertPage": [{"items": [_ALERT]}],
    "IncidentPage": [{"items": [_INCIDENT], "next": "88"}],
    "IncidentDetailOut": [_INCIDENT | {"alerts": [_ALERT]}],
}
