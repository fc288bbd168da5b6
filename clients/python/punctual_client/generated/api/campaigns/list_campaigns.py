from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.any_campaign_kind import AnyCampaignKind
from ...models.campaign_page import CampaignPage
from ...models.campaign_state import CampaignState
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    state: CampaignState | Unset = UNSET,
    kind: AnyCampaignKind | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind.value

    params["kind"] = json_kind

    params["after"] = after

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/campaigns",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CampaignPage | Problem | None:
    if response.status_code == 200:
        response_200 = CampaignPage.from_dict(response.json())

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
) -> Response[CampaignPage | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    state: CampaignState | Unset = UNSET,
    kind: AnyCampaignKind | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[CampaignPage | Problem]:
    """List campaigns, latest first

    Args:
        state (CampaignState | Unset):
        kind (AnyCampaignKind | Unset): What a campaign does: to each task, or, a `backfill`, for
            each firing of its jobs. `undo`: it puts back what another order has moved or cancelled.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CampaignPage | Problem]
    """

    kwargs = _get_kwargs(
        state=state,
        kind=kind,
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
    state: CampaignState | Unset = UNSET,
    kind: AnyCampaignKind | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> CampaignPage | Problem | None:
    """List campaigns, latest first

    Args:
        state (CampaignState | Unset):
        kind (AnyCampaignKind | Unset): What a campaign does: to each task, or, a `backfill`, for
            each firing of its jobs. `undo`: it puts back what another order has moved or cancelled.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CampaignPage | Problem
    """

    return sync_detailed(
        client=client,
        state=state,
        kind=kind,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    state: CampaignState | Unset = UNSET,
    kind: AnyCampaignKind | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[CampaignPage | Problem]:
    """List campaigns, latest first

    Args:
        state (CampaignState | Unset):
        kind (AnyCampaignKind | Unset): What a campaign does: to each task, or, a `backfill`, for
            each firing of its jobs. `undo`: it puts back what another order has moved or cancelled.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CampaignPage | Problem]
    """

    kwargs = _get_kwargs(
        state=state,
        kind=kind,
        after=after,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    state: CampaignState | Unset = UNSET,
    kind: AnyCampaignKind | Unset = UNSET,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> CampaignPage | Problem | None:
    """List campaigns, latest first

    Args:
        state (CampaignState | Unset):
        kind (AnyCampaignKind | Unset): What a campaign does: to each task, or, a `backfill`, for
            each firing of its jobs. `undo`: it puts back what another order has moved or cancelled.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CampaignPage | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            state=state,
            kind=kind,
            after=after,
            limit=limit,
        )
    ).parsed
