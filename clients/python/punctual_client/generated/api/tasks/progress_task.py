from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.lease_out import LeaseOut
from ...models.problem import Problem
from ...models.progress_in import ProgressIn
from ...types import UNSET, Response, Unset


def _get_kwargs(
    token: UUID,
    *,
    body: ProgressIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["task"] = task

    json_run = str(run)
    params["run"] = json_run

    params["tenant"] = tenant

    params["signature"] = signature

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/tasks/{token}/progress".format(
            token=quote(str(token), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> LeaseOut | Problem | None:
    if response.status_code == 200:
        response_200 = LeaseOut.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[LeaseOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    token: UUID,
    *,
    client: AuthenticatedClient,
    body: ProgressIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Response[LeaseOut | Problem]:
    """Report that a task is being worked on

     For a task that is AWAY: its lease begins again. Silence for longer than the lease counts as lost.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (ProgressIn | Unset): Still at work: the lease begins again. The body may be left
            out.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LeaseOut | Problem]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        task=task,
        run=run,
        tenant=tenant,
        signature=signature,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    token: UUID,
    *,
    client: AuthenticatedClient,
    body: ProgressIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> LeaseOut | Problem | None:
    """Report that a task is being worked on

     For a task that is AWAY: its lease begins again. Silence for longer than the lease counts as lost.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (ProgressIn | Unset): Still at work: the lease begins again. The body may be left
            out.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LeaseOut | Problem
    """

    return sync_detailed(
        token=token,
        client=client,
        body=body,
        task=task,
        run=run,
        tenant=tenant,
        signature=signature,
    ).parsed


async def asyncio_detailed(
    token: UUID,
    *,
    client: AuthenticatedClient,
    body: ProgressIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Response[LeaseOut | Problem]:
    """Report that a task is being worked on

     For a task that is AWAY: its lease begins again. Silence for longer than the lease counts as lost.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (ProgressIn | Unset): Still at work: the lease begins again. The body may be left
            out.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LeaseOut | Problem]
    """

    kwargs = _get_kwargs(
        token=token,
        body=body,
        task=task,
        run=run,
        tenant=tenant,
        signature=signature,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    token: UUID,
    *,
    client: AuthenticatedClient,
    body: ProgressIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> LeaseOut | Problem | None:
    """Report that a task is being worked on

     For a task that is AWAY: its lease begins again. Silence for longer than the lease counts as lost.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (ProgressIn | Unset): Still at work: the lease begins again. The body may be left
            out.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LeaseOut | Problem
    """

    return (
        await asyncio_detailed(
            token=token,
            client=client,
            body=body,
            task=task,
            run=run,
            tenant=tenant,
            signature=signature,
        )
    ).parsed
