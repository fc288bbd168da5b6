from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.fail_in import FailIn
from ...models.problem import Problem
from ...models.report_out import ReportOut
from ...types import UNSET, Response, Unset


def _get_kwargs(
    token: UUID,
    *,
    body: FailIn | Unset = UNSET,
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
        "url": "/tasks/{token}/fail".format(
            token=quote(str(token), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | ReportOut | None:
    if response.status_code == 200:
        response_200 = ReportOut.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | ReportOut]:
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
    body: FailIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Response[Problem | ReportOut]:
    """Report that a task has failed

     For a task that is AWAY: it is tried again, unless that can't help or this was its last try.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (FailIn | Unset): It could not be done.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ReportOut]
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
    body: FailIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Problem | ReportOut | None:
    """Report that a task has failed

     For a task that is AWAY: it is tried again, unless that can't help or this was its last try.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (FailIn | Unset): It could not be done.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ReportOut
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
    body: FailIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Response[Problem | ReportOut]:
    """Report that a task has failed

     For a task that is AWAY: it is tried again, unless that can't help or this was its last try.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (FailIn | Unset): It could not be done.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ReportOut]
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
    body: FailIn | Unset = UNSET,
    task: int,
    run: UUID,
    tenant: str | Unset = UNSET,
    signature: str | Unset = UNSET,
) -> Problem | ReportOut | None:
    """Report that a task has failed

     For a task that is AWAY: it is tried again, unless that can't help or this was its last try.

    Args:
        token (UUID):
        task (int):
        run (UUID):
        tenant (str | Unset):
        signature (str | Unset):
        body (FailIn | Unset): It could not be done.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ReportOut
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
