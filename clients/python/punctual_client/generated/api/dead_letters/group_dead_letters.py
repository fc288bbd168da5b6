import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.causes_out import CausesOut
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["tag"] = tag

    params["task_type"] = task_type

    params["job"] = job

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/dead-letters/groups",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CausesOut | Problem | None:
    if response.status_code == 200:
        response_200 = CausesOut.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[CausesOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[CausesOut | Problem]:
    """List the causes of open dead letters, largest first

     Each cause is counted up to a bound; with a tag or a job, among its latest letters.

    Args:
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CausesOut | Problem]
    """

    kwargs = _get_kwargs(
        tag=tag,
        task_type=task_type,
        job=job,
        since=since,
        until=until,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
) -> CausesOut | Problem | None:
    """List the causes of open dead letters, largest first

     Each cause is counted up to a bound; with a tag or a job, among its latest letters.

    Args:
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CausesOut | Problem
    """

    return sync_detailed(
        client=client,
        tag=tag,
        task_type=task_type,
        job=job,
        since=since,
        until=until,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[CausesOut | Problem]:
    """List the causes of open dead letters, largest first

     Each cause is counted up to a bound; with a tag or a job, among its latest letters.

    Args:
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CausesOut | Problem]
    """

    kwargs = _get_kwargs(
        tag=tag,
        task_type=task_type,
        job=job,
        since=since,
        until=until,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    limit: int | Unset = 50,
) -> CausesOut | Problem | None:
    """List the causes of open dead letters, largest first

     Each cause is counted up to a bound; with a tag or a job, among its latest letters.

    Args:
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CausesOut | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            tag=tag,
            task_type=task_type,
            job=job,
            since=since,
            until=until,
            limit=limit,
        )
    ).parsed
