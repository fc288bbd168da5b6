import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.letter_page_out import LetterPageOut
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    fingerprint: str | Unset = UNSET,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["fingerprint"] = fingerprint

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

    params["after"] = after

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/dead-letters",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LetterPageOut | Problem | None:
    if response.status_code == 200:
        response_200 = LetterPageOut.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[LetterPageOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    fingerprint: str | Unset = UNSET,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[LetterPageOut | Problem]:
    """List open dead letters, latest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        fingerprint (str | Unset):
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LetterPageOut | Problem]
    """

    kwargs = _get_kwargs(
        fingerprint=fingerprint,
        tag=tag,
        task_type=task_type,
        job=job,
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
    fingerprint: str | Unset = UNSET,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> LetterPageOut | Problem | None:
    """List open dead letters, latest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        fingerprint (str | Unset):
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LetterPageOut | Problem
    """

    return sync_detailed(
        client=client,
        fingerprint=fingerprint,
        tag=tag,
        task_type=task_type,
        job=job,
        since=since,
        until=until,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    fingerprint: str | Unset = UNSET,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[LetterPageOut | Problem]:
    """List open dead letters, latest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        fingerprint (str | Unset):
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LetterPageOut | Problem]
    """

    kwargs = _get_kwargs(
        fingerprint=fingerprint,
        tag=tag,
        task_type=task_type,
        job=job,
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
    fingerprint: str | Unset = UNSET,
    tag: str | Unset = UNSET,
    task_type: str | Unset = UNSET,
    job: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> LetterPageOut | Problem | None:
    """List open dead letters, latest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        fingerprint (str | Unset):
        tag (str | Unset):
        task_type (str | Unset):
        job (int | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LetterPageOut | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            fingerprint=fingerprint,
            tag=tag,
            task_type=task_type,
            job=job,
            since=since,
            until=until,
            after=after,
            limit=limit,
        )
    ).parsed
