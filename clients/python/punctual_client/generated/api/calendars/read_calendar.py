from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calendar_out import CalendarOut
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    calendar_id: int,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/calendars/{calendar_id}".format(
            calendar_id=quote(str(calendar_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CalendarOut | Problem | None:
    if response.status_code == 200:
        response_200 = CalendarOut.from_dict(response.json())

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


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CalendarOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
) -> Response[CalendarOut | Problem]:
    """Read a calendar

    Args:
        calendar_id (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarOut | Problem]
    """

    kwargs = _get_kwargs(
        calendar_id=calendar_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
) -> CalendarOut | Problem | None:
    """Read a calendar

    Args:
        calendar_id (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarOut | Problem
    """

    return sync_detailed(
        calendar_id=calendar_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
) -> Response[CalendarOut | Problem]:
    """Read a calendar

    Args:
        calendar_id (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarOut | Problem]
    """

    kwargs = _get_kwargs(
        calendar_id=calendar_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
) -> CalendarOut | Problem | None:
    """Read a calendar

    Args:
        calendar_id (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarOut | Problem
    """

    return (
        await asyncio_detailed(
            calendar_id=calendar_id,
            client=client,
        )
    ).parsed
