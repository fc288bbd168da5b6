from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.job_patch import JobPatch
from ...models.job_saved_out import JobSavedOut
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    job_id: int,
    *,
    body: JobPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/jobs/{job_id}".format(
            job_id=quote(str(job_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> JobSavedOut | Problem | None:
    if response.status_code == 200:
        response_200 = JobSavedOut.from_dict(response.json())

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
) -> Response[JobSavedOut | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    job_id: int,
    *,
    client: AuthenticatedClient,
    body: JobPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> Response[JobSavedOut | Problem]:
    """Change a job

     A field that is left out stays as it is; null sets it to its default. If it makes a peak of the load
    worse,
    `advice` says so.

    Args:
        job_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (JobPatch): The fields to change. A new `cron`, `every` or `at` replaces the old one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[JobSavedOut | Problem]
    """

    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    job_id: int,
    *,
    client: AuthenticatedClient,
    body: JobPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> JobSavedOut | Problem | None:
    """Change a job

     A field that is left out stays as it is; null sets it to its default. If it makes a peak of the load
    worse,
    `advice` says so.

    Args:
        job_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (JobPatch): The fields to change. A new `cron`, `every` or `at` replaces the old one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        JobSavedOut | Problem
    """

    return sync_detailed(
        job_id=job_id,
        client=client,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    job_id: int,
    *,
    client: AuthenticatedClient,
    body: JobPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> Response[JobSavedOut | Problem]:
    """Change a job

     A field that is left out stays as it is; null sets it to its default. If it makes a peak of the load
    worse,
    `advice` says so.

    Args:
        job_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (JobPatch): The fields to change. A new `cron`, `every` or `at` replaces the old one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[JobSavedOut | Problem]
    """

    kwargs = _get_kwargs(
        job_id=job_id,
        body=body,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    job_id: int,
    *,
    client: AuthenticatedClient,
    body: JobPatch,
    if_match: str,
    idempotency_key: str | Unset = UNSET,
) -> JobSavedOut | Problem | None:
    """Change a job

     A field that is left out stays as it is; null sets it to its default. If it makes a peak of the load
    worse,
    `advice` says so.

    Args:
        job_id (int):
        if_match (str):
        idempotency_key (str | Unset):
        body (JobPatch): The fields to change. A new `cron`, `every` or `at` replaces the old one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        JobSavedOut | Problem
    """

    return (
        await asyncio_detailed(
            job_id=job_id,
            client=client,
            body=body,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
    ).parsed
