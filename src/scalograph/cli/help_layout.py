"""Lay out the help: commands in four groups, options of a command in six, defaults in parentheses at the end."""

import re
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

# Each command is in one group; in their order they are the table of `scalograph --help`.
COMMAND_GROUPS: Mapping[str, Mapping[str, str]] = {
    "Measure a program": {
        "measure": "Measure a command over CPUs, threads, or other factors",
        "ab": "Compare two builds in pairs, on one machine",
        "find": "Find one property: effective CPUs, a cliff, a break-even size, the best configuration",
        "load": "Load a server: maximum throughput, and the bottleneck",
        "explain": "Explain why a program stops scaling: lost CPU time, by cause",
        "profile": "Profile configurations of a finished study, in separate runs",
    },
    "Compare results": {
        "compare": "Compare results: slower, faster, equivalent, or inconclusive",
        "gate": "Fail CI on a regression against a baseline",
        "history": "Find when a series of results became slower or faster",
        "watch": "Find what became slower lately, over all results of a folder",
        "site": "Write static pages over all results of a folder, with their history",
        "import": "Read results of hyperfine, pyperf, JMH, and other tools",
        "fit": "Fit a scaling law to a CSV file",
        "export": "Write results as CSV, Parquet, Markdown, SVG, or for Extra-P",
    },
    "Run a study step by step": {
        "check": "Step 1 (check): report every mistake in a study file",
        "plan": "Step 2 (plan): print the number of runs, the time, and the detectable effect",
        "run": "Step 3 (run): make the runs; --resume continues",
        "analyze": "Step 4 (analyze): write findings.json from the journal",
        "report": "Step 5 (report): print the answer, and write one HTML page",
    },
    "Use what is built in": {
        "study": "Run a built-in study, all five steps",
        "reproduce": "Reproduce five published studies and check every claim",
        "doctor": "Check what this machine can measure, with fixes",
    },
}

# Options by their parameter; any other option is of the command itself and stands first.
_GROUPS: Mapping[str, frozenset[str]] = {
    "Requests": frozenset(
        {"get", "post", "body", "header", "mix", "insecure", "ca", "status", "contains", "cycle", "arrivals"}
        | {"connections", "ready", "ready_timeout", "warmup", "ramp", "steady", "down", "pool"}
    ),
    "Workload": frozenset(
        {"shell", "setup", "prepare", "cleanup", "input", "stdout", "ok_exit", "response", "per_worker"}
    ),
    "Measurement": frozenset(
        {
            "runs",
            "warmup_runs",
            "max_reruns",
            "max_runs",
            "budget",
            "timeout",
            "pilot",
            "quick",
            "resume",
            "vary",
            "sentinel",
        }
    ),
    "Statistics": frozenset({"precision", "margin", "target", "cost", "ceiling", "even", "same"}),
    "Environment": frozenset(
        {"env", "env_all", "wait_quiet", "when_busy", "wait_lock", "machine_wide", "dangerous", "host"}
        | {"accept_difference", "quota", "memory", "placement"}
        | {"nodes", "tasks_per_node", "cpus_per_task", "launcher", "max_idle", "max_node_hours"}
    ),
    "Output": frozenset(
        {
            "output",
            "strict",
            "tables",
            "table",
            "json",
            "export_json",
            "show_output",
            "summary",
            "junit",
            "markdown",
            "to",
            "page",
            "form",
        }
        | {"help"}
    ),
}
_NOTE = re.compile(r"\s*\[((?:default: |required|x[<>]|[\d.]+<)[^\[\]]*)\]$")
# A group of few options would cost more lines than it saves reading.
_FEWEST = 12


class GroupedCommand(TyperCommand):
    """A command whose help lists options by group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the command's own options, then the groups."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], **{name: [] for name in _GROUPS}}
        params = self.get_params(ctx)
        is_grouped = len(params) > _FEWEST
        for param in params:
            record = param.get_help_record(ctx)
            if record is None:
                continue
            title = "Arguments" if param.param_type_name == "argument" else "Options"
            if is_grouped and title == "Options":
                title = next((group for group, names in _GROUPS.items() if param.name in names), title)
            rows[title].append((_value_name(record[0]), state_default(record[1])))
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def state_default(text: str) -> str:
    """Return a help text with its default in parentheses, without ranges; the text may state its own.

    >>> state_default("Time limit per run  [default: 10min]")
    'Time limit per run (default 10min)'
    >>> state_default("Runs  [x>=1]")
    'Runs'
    """
    match = _NOTE.search(text)
    if match is None:
        return text
    plain, note = text[: match.start()], match[1].partition(";")[0]
    if note == "required":
        return f"{plain} (required)"
    if "(default" in plain or not note.startswith("default: "):
        return plain
    return f"{plain} (default {note.removeprefix('default: ')})"


def _value_name(text: str) -> str:
    """Return the names of an option with the plain type of its value."""
    return re.sub(r"<(?:list\[)?(\w+)(?: range|\])?>", r"<\1>", text)
