"""Owns the shape of the comparison: one report of all answers, and the table that a person reads."""


def report(answers: dict[str, dict], ours: dict) -> dict:
    """The JSON object: Punctual first, each peer next to Punctual's rate with the same number of tasks."""
    return {
        "bench": "peers",
        "peers": [_our_row(ours), *(_row(name, answer, ours) for name, answer in answers.items())],
    }


def _our_row(ours: dict) -> dict:
    most = {bench: max(ours[bench]) for bench in ("drain", "enqueue")}
    return (
        {"name": "punctual", "versions": ours["versions"], "settings": ours["settings"], "reason": None}
        | {
            bench: {"tasks": size, "tasks_per_s": ours[bench][size], "punctual_per_s": ours[bench][size]}
            for bench, size in most.items()
        }
        | {"punctual": ours["punctual"]}
    )


def _row(name: str, answer: dict, ours: dict) -> dict:
    row = {"name": name, "versions": answer.get("versions"), "settings": answer.get("settings")}
    row["reason"] = answer.get("reason")
    for bench in ("drain", "enqueue"):
        measured = answer.get(bench)
        row[bench] = measured and measured | {"punctual_per_s": ours[bench][measured["tasks"]]}
    row["punctual"] = {rate: answer.get("punctual", {}).get(rate) for rate in ours["punctual"]}
    return row


def text(report: dict) -> str:
    rates = list(report["peers"][0]["punctual"])
    lines = [[name_and_version(row), *_rates(row, "drain"), *_rates(row, "enqueue")] for row in report["peers"]]
    for line, row in zip(lines, report["peers"], strict=True):
        line += [_late(row["punctual"][rate]) for rate in rates]
    head = [
        ["", "drain", "", "ours", "enqueue", "", "ours", *(f"late at {rate}/s" for rate in rates)],
        ["", "tasks", "a second", "as many", "tasks", "a second", "as many", *("p50 / p99 / max ms" for _ in rates)],
    ]
    widths = [max(len(line[column]) for line in head + lines) for column in range(len(head[0]))]
    shown = [
        "  ".join(_cell(cell, width, n) for n, (cell, width) in enumerate(zip(line, widths, strict=True)))
        for line in head + lines
    ]
    return "\n".join(["", *(line.rstrip() for line in shown), "", *_reasons(report["peers"])])


def name_and_version(row: dict) -> str:
    # The first package is the peer itself, the others are what it runs on.
    return f"{row['name']} {next(iter((row['versions'] or {'': ''}).values()))}".strip()


def _rates(row: dict, bench: str) -> list[str]:
    measured = row[bench]
    if not measured:
        return ["-", "-", "-"]
    return [f"{measured[key]:,}" for key in ("tasks", "tasks_per_s", "punctual_per_s")]


def _late(measured: dict | None) -> str:
    if not measured or measured["p50_ms"] is None:
        return "-"
    return " / ".join(f"{measured[name]:,}" for name in ("p50_ms", "p99_ms", "max_ms"))


def _cell(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def _reasons(rows: list[dict]) -> list[str]:
    """One line for each dash in the table."""
    found = []
    for row in rows:
        if row["reason"]:
            found.append(f"{row['name']}: {row['reason']}")
        for rate, measured in row["punctual"].items():
            if measured and measured.get("reason"):
                found.append(f"{row['name']} at {rate}/s: {measured['reason']}")
    return found
