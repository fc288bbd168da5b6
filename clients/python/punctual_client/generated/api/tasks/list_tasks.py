import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.lane import Lane
from ...models.problem import Problem
from ...models.task_page import TaskPage
from ...models.task_status import TaskStatus
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: TaskStatus | Unset = UNSET,
    task_type: str | Unset = UNSET,
    lane: Lane | Unset = UNSET,
    key: str | Unset = UNSET,
    history: bool | Unset = False,
    job: int | Unset = UNSET,
    due_from: datetime.datetime | Unset = UNSET,
    due_to: datetime.datetime | Unset = UNSET,
    ran_from: datetime.datetime | Unset = UNSET,
    ran_to: datetime.datetime | Unset = UNSET,
    changed_from: datetime.datetime | Unset = UNSET,
    changed_to: datetime.datetime | Unset = UNSET,
    cold: bool | Unset = False,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["task_type"] = task_type

    json_lane: str | Unset = UNSET
    if not isinstance(lane, Unset):
        json_lane = lane.value

    params["lane"] = json_lane

    params["key"] = key

    params["history"] = history

    params["job"] = job

    json_due_from: str | Unset = UNSET
    if not isinstance(due_from, Unset):
        json_due_from = due_from.isoformat()
    params["due_from"] = json_due_from

    json_due_to: str | Unset = UNSET
    if not isinstance(due_to, Unset):
        json_due_to = due_to.isoformat()
    params["due_to"] = json_due_to

    json_ran_from: str | Unset = UNSET
    if not isinstance(ran_from, Unset):
        json_ran_from = ran_from.isoformat()
    params["ran_from"] = json_ran_from

    json_ran_to: str | Unset = UNSET
    if not isinstance(ran_to, Unset):
        json_ran_to = ran_to.isoformat()
    params["ran_to"] = json_ran_to

    json_changed_from: str | Unset = UNSET
    if not isinstance(changed_from, Unset):
        json_changed_from = changed_from.isoformat()
    params["changed_from"] = json_changed_from

    json_changed_to: str | Unset = UNSET
    if not isinstance(changed_to, Unset):
        json_changed_to = changed_to.isoformat()
    params["changed_to"] = json_changed_to

    params["cold"] = cold

    params["after"] = after

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/tasks",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | TaskPage | None:
    if response.status_code == 200:
        response_200 = TaskPage.from_dict(response.json())

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Problem | TaskPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    task_type: str | Unset = UNSET,
    lane: Lane | Unset = UNSET,
    key: str | Unset = UNSET,
    history: bool | Unset = False,
    job: int | Unset = UNSET,
    due_from: datetime.datetime | Unset = UNSET,
    due_to: datetime.datetime | Unset = UNSET,
    ran_from: datetime.datetime | Unset = UNSET,
    ran_to: datetime.datetime | Unset = UNSET,
    changed_from: datetime.datetime | Unset = UNSET,
    changed_to: datetime.datetime | Unset = UNSET,
    cold: bool | Unset = False,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[Problem | TaskPage]:
    """List tasks, newest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        task_type (str | Unset):
        lane (Lane | Unset): Priority classes, most urgent first.
        key (str | Unset):
        history (bool | Unset):  Default: False.
        job (int | Unset):
        due_from (datetime.datetime | Unset):
        due_to (datetime.datetime | Unset):
        ran_from (datetime.datetime | Unset):
        ran_to (datetime.datetime | Unset):
        changed_from (datetime.datetime | Unset):
        changed_to (datetime.datetime | Unset):
        cold (bool | Unset):  Default: False.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TaskPage]
    """

    kwargs = _get_kwargs(
        status=status,
        task_type=task_type,
        lane=lane,
        key=key,
        history=history,
        job=job,
        due_from=due_from,
        due_to=due_to,
        ran_from=ran_from,
        ran_to=ran_to,
        changed_from=changed_from,
        changed_to=changed_to,
        cold=cold,
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
    status: TaskStatus | Unset = UNSET,
    task_type: str | Unset = UNSET,
    lane: Lane | Unset = UNSET,
    key: str | Unset = UNSET,
    history: bool | Unset = False,
    job: int | Unset = UNSET,
    due_from: datetime.datetime | Unset = UNSET,
    due_to: datetime.datetime | Unset = UNSET,
    ran_from: datetime.datetime | Unset = UNSET,
    ran_to: datetime.datetime | Unset = UNSET,
    changed_from: datetime.datetime | Unset = UNSET,
    changed_to: datetime.datetime | Unset = UNSET,
    cold: bool | Unset = False,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Problem | TaskPage | None:
    """List tasks, newest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        task_type (str | Unset):
        lane (Lane | Unset): Priority classes, most urgent first.
        key (str | Unset):
        history (bool | Unset):  Default: False.
        job (int | Unset):
        due_from (datetime.datetime | Unset):
        due_to (datetime.datetime | Unset):
        ran_from (datetime.datetime | Unset):
        ran_to (datetime.datetime | Unset):
        changed_from (datetime.datetime | Unset):
        changed_to (datetime.datetime | Unset):
        cold (bool | Unset):  Default: False.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TaskPage
    """

    return sync_detailed(
        client=client,
        status=status,
        task_type=task_type,
        lane=lane,
        key=key,
        history=history,
        job=job,
        due_from=due_from,
        due_to=due_to,
        ran_from=ran_from,
        ran_to=ran_to,
        changed_from=changed_from,
        changed_to=changed_to,
        cold=cold,
        after=after,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    task_type: str | Unset = UNSET,
    lane: Lane | Unset = UNSET,
    key: str | Unset = UNSET,
    history: bool | Unset = False,
    job: int | Unset = UNSET,
    due_from: datetime.datetime | Unset = UNSET,
    due_to: datetime.datetime | Unset = UNSET,
    ran_from: datetime.datetime | Unset = UNSET,
    ran_to: datetime.datetime | Unset = UNSET,
    changed_from: datetime.datetime | Unset = UNSET,
    changed_to: datetime.datetime | Unset = UNSET,
    cold: bool | Unset = False,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Response[Problem | TaskPage]:
    """List tasks, newest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        task_type (str | Unset):
        lane (Lane | Unset): Priority classes, most urgent first.
        key (str | Unset):
        history (bool | Unset):  Default: False.
        job (int | Unset):
        due_from (datetime.datetime | Unset):
        due_to (datetime.datetime | Unset):
        ran_from (datetime.datetime | Unset):
        ran_to (datetime.datetime | Unset):
        changed_from (datetime.datetime | Unset):
        changed_to (datetime.datetime | Unset):
        cold (bool | Unset):  Default: False.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TaskPage]
    """

    kwargs = _get_kwargs(
        status=status,
        task_type=task_type,
        lane=lane,
        key=key,
        history=history,
        job=job,
        due_from=due_from,
        due_to=due_to,
        ran_from=ran_from,
        ran_to=ran_to,
        changed_from=changed_from,
        changed_to=changed_to,
        cold=cold,
        after=after,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: TaskStatus | Unset = UNSET,
    task_type: str | Unset = UNSET,
    lane: Lane | Unset = UNSET,
    key: str | Unset = UNSET,
    history: bool | Unset = False,
    job: int | Unset = UNSET,
    due_from: datetime.datetime | Unset = UNSET,
    due_to: datetime.datetime | Unset = UNSET,
    ran_from: datetime.datetime | Unset = UNSET,
    ran_to: datetime.datetime | Unset = UNSET,
    changed_from: datetime.datetime | Unset = UNSET,
    changed_to: datetime.datetime | Unset = UNSET,
    cold: bool | Unset = False,
    after: str | Unset = UNSET,
    limit: int | Unset = 50,
) -> Problem | TaskPage | None:
    """List tasks, newest first

     A page may be short, even empty, and still have a next one: go on until `next` is null.

    Args:
        status (TaskStatus | Unset): BLOCKED waits for other tasks, INIT for its time, FAIL for
            its next try. RUNNING is with a worker or on its way there, AWAY with somebody else, who
            reports its outcome. SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped,
            expired or replaced.
        task_type (str | Unset):
        lane (Lane | Unset): Priority classes, most urgent first.
        key (str | Unset):
        history (bool | Unset):  Default: False.
        job (int | Unset):
        due_from (datetime.datetime | Unset):
        due_to (datetime.datetime | Unset):
        ran_from (datetime.datetime | Unset):
        ran_to (datetime.datetime | Unset):
        changed_from (datetime.datetime | Unset):
        changed_to (datetime.datetime | Unset):
        cold (bool | Unset):  Default: False.
        after (str | Unset):
        limit (int | Unset):  Default: 50.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TaskPage
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            task_type=task_type,
            lane=lane,
            key=key,
            history=history,
            job=job,
            due_from=due_from,
            due_to=due_to,
            ran_from=ran_from,
            ran_to=ran_to,
            changed_from=changed_from,
            changed_to=changed_to,
            cold=cold,
            after=after,
            limit=limit,
        )
    ).parsed
