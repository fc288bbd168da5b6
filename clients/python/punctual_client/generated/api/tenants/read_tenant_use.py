from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.quota_name import QuotaName
from ...models.tenant_use_out import TenantUseOut
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    hours: int | Unset = 168,
    quota: QuotaName | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["hours"] = hours

    json_quota: str | Unset = UNSET
    if not isinstance(quota, Unset):
        json_quota = quota.value

    params["quota"] = json_quota

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/tenants/{name}/use".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | TenantUseOut | None:
    if response.status_code == 200:
        response_200 = TenantUseOut.from_dict(response.json())

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
) -> Response[Problem | TenantUseOut]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    hours: int | Unset = 168,
    quota: QuotaName | Unset = UNSET,
) -> Response[Problem | TenantUseOut]:
    """How much of its quotas a tenant has used, by the hour

    Args:
        name (str):
        hours (int | Unset):  Default: 168.
        quota (QuotaName | Unset): The quotas of which it is counted how much is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TenantUseOut]
    """

    kwargs = _get_kwargs(
        name=name,
        hours=hours,
        quota=quota,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    hours: int | Unset = 168,
    quota: QuotaName | Unset = UNSET,
) -> Problem | TenantUseOut | None:
    """How much of its quotas a tenant has used, by the hour

    Args:
        name (str):
        hours (int | Unset):  Default: 168.
        quota (QuotaName | Unset): The quotas of which it is counted how much is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TenantUseOut
    """

    return sync_detailed(
        name=name,
        client=client,
        hours=hours,
        quota=quota,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    hours: int | Unset = 168,
    quota: QuotaName | Unset = UNSET,
) -> Response[Problem | TenantUseOut]:
    """How much of its quotas a tenant has used, by the hour

    Args:
        name (str):
        hours (int | Unset):  Default: 168.
        quota (QuotaName | Unset): The quotas of which it is counted how much is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TenantUseOut]
    """

    kwargs = _get_kwargs(
        name=name,
        hours=hours,
        quota=quota,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    hours: int | Unset = 168,
    quota: QuotaName | Unset = UNSET,
) -> Problem | TenantUseOut | None:
    """How much of its quotas a tenant has used, by the hour

    Args:
        name (str):
        hours (int | Unset):  Default: 168.
        quota (QuotaName | Unset): The quotas of which it is counted how much is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TenantUseOut
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            hours=hours,
            quota=quota,
        )
    ).parsed
