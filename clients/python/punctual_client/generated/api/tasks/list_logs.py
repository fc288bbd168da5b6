from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.log_page import LogPage
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    task_id: int,
    *,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/tasks/{task_id}/logs".format(
            task_id=quote(str(task_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> LogPage | Problem | None:
    if response.status_code == 200:
        response_200 = LogPage.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[LogPage | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    task_id: int,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[LogPage | Problem]:
    """List what the tries of a task have logged, latest try first

     Tries that logged nothing are left out. Lines of a run under way come with its heartbeats.

    Args:
        task_id (int):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LogPage | Problem]
    """

    kwargs = _get_kwargs(
        task_id=task_id,
        after=after,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    task_id: int,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> LogPage | Problem | None:
    """List what the tries of a task have logged, latest try first

     Tries that logged nothing are left out. Lines of a run under way come with its heartbeats.

    Args:
        task_id (int):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LogPage | Problem
    """

    return sync_detailed(
        task_id=task_id,
        client=client,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    task_id: int,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[LogPage | Problem]:
    """List what the tries of a task have logged, latest try first

     Tries that logged nothing are left out. Lines of a run under way come with its heartbeats.

    Args:
        task_id (int):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LogPage | Problem]
    """

    kwargs = _get_kwargs(
        task_id=task_id,
        after=after,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    task_id: int,
    *,
    client: AuthenticatedClient,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> LogPage | Problem | None:
    """List what the tries of a task have logged, latest try first

     Tries that logged nothing are left out. Lines of a run under way come with its heartbeats.

    Args:
        task_id (int):
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LogPage | Problem
    """

    return (
        await asyncio_detailed(
            task_id=task_id,
            client=client,
            after=after,
            limit=limit,
        )
    ).parsed
