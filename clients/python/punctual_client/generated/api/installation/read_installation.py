from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.installation_out import InstallationOut
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    older_seconds: float | Unset = 3600.0,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["older_seconds"] = older_seconds

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/installation",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> InstallationOut | Problem | None:
    if response.status_code == 200:
        response_200 = InstallationOut.from_dict(response.json())

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
) -> Response[InstallationOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    older_seconds: float | Unset = 3600.0,
) -> Response[InstallationOut | Problem]:
    """Does the installation work, and what is overdue?

    Args:
        older_seconds (float | Unset):  Default: 3600.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[InstallationOut | Problem]
    """

    kwargs = _get_kwargs(
        older_seconds=older_seconds,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    older_seconds: float | Unset = 3600.0,
) -> InstallationOut | Problem | None:
    """Does the installation work, and what is overdue?

    Args:
        older_seconds (float | Unset):  Default: 3600.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        InstallationOut | Problem
    """

    return sync_detailed(
        client=client,
        older_seconds=older_seconds,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    older_seconds: float | Unset = 3600.0,
) -> Response[InstallationOut | Problem]:
    """Does the installation work, and what is overdue?

    Args:
        older_seconds (float | Unset):  Default: 3600.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[InstallationOut | Problem]
    """

    kwargs = _get_kwargs(
        older_seconds=older_seconds,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    older_seconds: float | Unset = 3600.0,
) -> InstallationOut | Problem | None:
    """Does the installation work, and what is overdue?

    Args:
        older_seconds (float | Unset):  Default: 3600.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        InstallationOut | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            older_seconds=older_seconds,
        )
    ).parsed
