import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.task_page import TaskPage
from ...models.task_status import TaskStatus
from ...types import UNSET, Response, Unset


def _get_kwargs(
    job_id: int,
    *,
    status: TaskStatus | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

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
        "url": "/jobs/{job_id}/instances".format(
            job_id=quote(str(job_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | TaskPage | None:
    if response.status_code == 200:
        response_200 = TaskPage.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | TaskPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    job_id: int,
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[Problem | TaskPage]:
    """List what a job has fired, newest first

     One call looks at a bounded number of them: a page may be short, even empty, and still have a next
    one. Go on
    until `next` is null.

    Args:
        job_id (int):
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TaskPage]
    """

    kwargs = _get_kwargs(
        job_id=job_id,
        status=status,
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
    job_id: int,
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Problem | TaskPage | None:
    """List what a job has fired, newest first

     One call looks at a bounded number of them: a page may be short, even empty, and still have a next
    one. Go on
    until `next` is null.

    Args:
        job_id (int):
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TaskPage
    """

    return sync_detailed(
        job_id=job_id,
        client=client,
        status=status,
        since=since,
        until=until,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    job_id: int,
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[Problem | TaskPage]:
    """List what a job has fired, newest first

     One call looks at a bounded number of them: a page may be short, even empty, and still have a next
    one. Go on
    until `next` is null.

    Args:
        job_id (int):
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TaskPage]
    """

    kwargs = _get_kwargs(
        job_id=job_id,
        status=status,
        since=since,
        until=until,
        after=after,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    job_id: int,
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Problem | TaskPage | None:
    """List what a job has fired, newest first

     One call looks at a bounded number of them: a page may be short, even empty, and still have a next
    one. Go on
    until `next` is null.

    Args:
        job_id (int):
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TaskPage
    """

    return (
        await asyncio_detailed(
            job_id=job_id,
            client=client,
            status=status,
            since=since,
            until=until,
            after=after,
            limit=limit,
        )
    ).parsed
