from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calendar_out import CalendarOut
from ...models.calendar_patch import CalendarPatch
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    calendar_id: int,
    *,
    body: CalendarPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/calendars/{calendar_id}".format(
            calendar_id=quote(str(calendar_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CalendarOut | Problem | None:
    if response.status_code == 200:
        response_200 = CalendarOut.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 428:
        response_428 = Problem.from_dict(response.json())

        return response_428

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
    body: CalendarPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> Response[CalendarOut | Problem]:
    """Change a calendar

     What jobs have planned by its old days and nobody has claimed is planned again within seconds.

    Args:
        calendar_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (CalendarPatch): The fields to change. A list replaces the old one as a whole.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarOut | Problem]
    """

    kwargs = _get_kwargs(
        calendar_id=calendar_id,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
    body: CalendarPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> CalendarOut | Problem | None:
    """Change a calendar

     What jobs have planned by its old days and nobody has claimed is planned again within seconds.

    Args:
        calendar_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (CalendarPatch): The fields to change. A list replaces the old one as a whole.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CalendarOut | Problem
    """

    return sync_detailed(
        calendar_id=calendar_id,
        client=client,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
    body: CalendarPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> Response[CalendarOut | Problem]:
    """Change a calendar

     What jobs have planned by its old days and nobody has claimed is planned again within seconds.

    Args:
        calendar_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (CalendarPatch): The fields to change. A list replaces the old one as a whole.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CalendarOut | Problem]
    """

    kwargs = _get_kwargs(
        calendar_id=calendar_id,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    calendar_id: int,
    *,
    client: AuthenticatedClient,
    body: CalendarPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> CalendarOut | Problem | None:
    """Change a calendar

     What jobs have planned by its old days and nobody has claimed is planned again within seconds.

    Args:
        calendar_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (CalendarPatch): The fields to change. A list replaces the old one as a whole.

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
            body=body,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
    ).parsed
