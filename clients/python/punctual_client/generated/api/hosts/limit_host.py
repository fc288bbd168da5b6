from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.host_limit_in import HostLimitIn
from ...models.host_limit_out import HostLimitOut
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    host: str,
    *,
    body: HostLimitIn,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/hosts/{host}".format(
            host=quote(str(host), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> HostLimitOut | Problem | None:
    if response.status_code == 200:
        response_200 = HostLimitOut.from_dict(response.json())

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

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

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
) -> Response[HostLimitOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    host: str,
    *,
    client: AuthenticatedClient,
    body: HostLimitIn,
) -> Response[HostLimitOut | Problem]:
    """Limit a host

     The same twice changes nothing more, so it takes no Idempotency-Key.

    Args:
        host (str):
        body (HostLimitIn): What it may be asked for, by all workers together; at least one of
            `max_running` and `rate`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[HostLimitOut | Problem]
    """

    kwargs = _get_kwargs(
        host=host,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    host: str,
    *,
    client: AuthenticatedClient,
    body: HostLimitIn,
) -> HostLimitOut | Problem | None:
    """Limit a host

     The same twice changes nothing more, so it takes no Idempotency-Key.

    Args:
        host (str):
        body (HostLimitIn): What it may be asked for, by all workers together; at least one of
            `max_running` and `rate`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        HostLimitOut | Problem
    """

    return sync_detailed(
        host=host,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    host: str,
    *,
    client: AuthenticatedClient,
    body: HostLimitIn,
) -> Response[HostLimitOut | Problem]:
    """Limit a host

     The same twice changes nothing more, so it takes no Idempotency-Key.

    Args:
        host (str):
        body (HostLimitIn): What it may be asked for, by all workers together; at least one of
            `max_running` and `rate`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[HostLimitOut | Problem]
    """

    kwargs = _get_kwargs(
        host=host,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    host: str,
    *,
    client: AuthenticatedClient,
    body: HostLimitIn,
) -> HostLimitOut | Problem | None:
    """Limit a host

     The same twice changes nothing more, so it takes no Idempotency-Key.

    Args:
        host (str):
        body (HostLimitIn): What it may be asked for, by all workers together; at least one of
            `max_running` and `rate`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        HostLimitOut | Problem
    """

    return (
        await asyncio_detailed(
            host=host,
            client=client,
            body=body,
        )
    ).parsed
