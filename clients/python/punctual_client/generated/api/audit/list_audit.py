import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.audit_page import AuditPage
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    task_id: int | Unset = UNSET,
    job_id: int | Unset = UNSET,
    verb: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    subject: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["task_id"] = task_id

    params["job_id"] = job_id

    params["verb"] = verb

    params["actor"] = actor

    params["subject"] = subject

    params["reason"] = reason

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["after"] = after

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/audit",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> AuditPage | Problem | None:
    if response.status_code == 200:
        response_200 = AuditPage.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[AuditPage | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    task_id: int | Unset = UNSET,
    job_id: int | Unset = UNSET,
    verb: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    subject: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[AuditPage | Problem]:
    """List what was done, latest first

    Args:
        task_id (int | Unset):
        job_id (int | Unset):
        verb (str | Unset):
        actor (str | Unset):
        subject (str | Unset):
        reason (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditPage | Problem]
    """

    kwargs = _get_kwargs(
        task_id=task_id,
        job_id=job_id,
        verb=verb,
        actor=actor,
        subject=subject,
        reason=reason,
        since=since,
        until=until,
        after=after,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    task_id: int | Unset = UNSET,
    job_id: int | Unset = UNSET,
    verb: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    subject: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> AuditPage | Problem | None:
    """List what was done, latest first

    Args:
        task_id (int | Unset):
        job_id (int | Unset):
        verb (str | Unset):
        actor (str | Unset):
        subject (str | Unset):
        reason (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditPage | Problem
    """

    return sync_detailed(
        client=client,
        task_id=task_id,
        job_id=job_id,
        verb=verb,
        actor=actor,
        subject=subject,
        reason=reason,
        since=since,
        until=until,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    task_id: int | Unset = UNSET,
    job_id: int | Unset = UNSET,
    verb: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    subject: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[AuditPage | Problem]:
    """List what was done, latest first

    Args:
        task_id (int | Unset):
        job_id (int | Unset):
        verb (str | Unset):
        actor (str | Unset):
        subject (str | Unset):
        reason (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditPage | Problem]
    """

    kwargs = _get_kwargs(
        task_id=task_id,
        job_id=job_id,
        verb=verb,
        actor=actor,
        subject=subject,
        reason=reason,
        since=since,
        until=until,
        after=after,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    task_id: int | Unset = UNSET,
    job_id: int | Unset = UNSET,
    verb: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    subject: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> AuditPage | Problem | None:
    """List what was done, latest first

    Args:
        task_id (int | Unset):
        job_id (int | Unset):
        verb (str | Unset):
        actor (str | Unset):
        subject (str | Unset):
        reason (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditPage | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            task_id=task_id,
            job_id=job_id,
            verb=verb,
            actor=actor,
            subject=subject,
            reason=reason,
            since=since,
            until=until,
            after=after,
            limit=limit,
        )
    ).parsed
