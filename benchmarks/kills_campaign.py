"""A thousand kills of the runner, the probe and its guard; each study must then come to exactly its runs.

Nothing finished may be lost or doubled, nothing left behind, every setting back, and no traceback. A case is a study
with one to four harms at drawn moments; full disks and cut journals are among them. As root cases run side by side, in
mounts and cgroups of their own, a third of them as a user without rights; else one after the other. Of a fault the
command is printed that repeats its case.
"""

import argparse
import hashlib
import json
import os
import pkgutil
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy: a fork takes one thread along
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from kills_case import Case, drawn
from kills_harms import kill
from kills_places import has_own_mounts, native_probe
from kills_pool import carried_out
from kills_studies import PLANNERS
from kills_table import figures, n_kills, table

import scalograph

HERE = Path(__file__).resolve().parent
SEED, KILLS = 20, 1000
STATE = Path("scalograph-results") / "benchmarks" / "kills.jsonl"
# A study each: its planner, whether a user without rights starts it, whether SIGINT and SIGHUP are ignored, its kills.
QUICK = (
    ("grid", False, False, ("runner INT", "runner KILL", "runner HUP", "runner, probe and guard KILL")),
    ("break-even", True, False, ("runner TERM", "probe KILL", "runner and probe KILL")),
    ("quota", False, True, ("runner INT", "runner KILL", "runner TERM")),
)
QUICK_LINES = 12


def main() -> int:
    """0 when every case came to its end, whatever was found; 1 when one did not."""
    args = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and none of its cases goes on
    own = has_own_mounts()
    _import_all()
    drawn_on = not args.quick and args.only is None
    outcomes = _known(args.state, args.seed, args.planners) if drawn_on else []
    cases = _cases(args, own, {outcome["case"] for outcome in outcomes})
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        Path(folder).chmod(0o755)
        jobs = args.jobs if own else 1
        for outcome in carried_out(cases, Path(folder), jobs, lambda: drawn_on and n_kills(outcomes) >= args.kills):
            outcomes.append(outcome)
            _tell(outcome, _again(args, outcome["case"]))
            if drawn_on:
                _append(args.state, {**outcome, "seed": args.seed, "of": args.planners, "code": _code()})
    _show(outcomes, args.json, args.planners or [*PLANNERS])
    return int(any(fault[1] == "campaign" for outcome in outcomes for fault in outcome["faults"]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"go on until there were so many ({KILLS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the drawn cases ({SEED})")
    parser.add_argument("--only", type=int, metavar="CASE", help="one case of this seed; nothing is kept")
    parser.add_argument("--planners", nargs="+", choices=[*PLANNERS], default=[], help="draw cases of these alone")
    parser.add_argument("--jobs", type=int, default=2, help="cases side by side (2)")
    parser.add_argument("--state", type=Path, default=STATE, help=f"what is kept and resumed from ({STATE})")
    parser.add_argument("--quick", action="store_true", help="ten kills in three studies; nothing is kept")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of tables")
    return parser.parse_args()


def _again(args: argparse.Namespace, case: int) -> str:
    """The options that repeat a case."""
    planners = ["--planners", *(repr(name) for name in args.planners)] if args.planners else []
    return "--quick" if args.quick else " ".join(["--seed", str(args.seed), "--only", str(case), *planners])


def _import_all() -> None:
    """So that a fork has everything."""
    for module in pkgutil.walk_packages(scalograph.__path__, "scalograph."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def _cases(args: argparse.Namespace, own: bool, known: set[int]) -> Iterator[Case]:
    if args.only is not None:
        return iter([drawn(args.seed, args.only, own, args.planners)])
    if args.quick:
        return (_quick(number, own) for number in range(len(QUICK)))
    return (drawn(args.seed, number, own, args.planners) for number in count() if number not in known)


def _quick(number: int, own: bool) -> Case:
    planner, nobody, nohup, rows = QUICK[number]
    rng = random.Random(number)
    kills = tuple(kill(rng, row, nohup, QUICK_LINES) for row in rows)
    return Case(number, planner if own or PLANNERS[planner].granted else "masks", nobody and own, nohup, False, kills)


@cache
def _code() -> str:
    """Digest of what the outcomes depend on: those of other code are not resumed from."""
    digest = hashlib.sha256()
    probe = native_probe()
    files = [*HERE.parent.glob("src/scalograph/**/*.py"), *HERE.glob("kills_*.py"), *([Path(probe)] if probe else [])]
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _known(state: Path, seed: int, planners: list[str]) -> list[dict[str, Any]]:
    if not state.exists():
        return []
    # A torn last line is that of a campaign that was stopped.
    lines = [json.loads(line) for line in state.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in lines if (line["seed"], line["of"], line["code"]) == (seed, planners, _code())]


def _append(state: Path, outcome: dict[str, Any]) -> None:
    state.parent.mkdir(parents=True, exist_ok=True)
    with state.open("a", encoding="utf-8") as out:
        out.write(json.dumps(outcome) + "\n")


def _tell(outcome: dict[str, Any], again: str) -> None:
    for row, kind, text in outcome["faults"]:
        who = f"{outcome['planner']}{', without rights' if outcome.get('nobody') else ''}"
        print(f"FAULT {kind}, after {row}, {who}: {text}", file=sys.stderr)
        print(f"      again: python benchmarks/kills_campaign.py {again}", file=sys.stderr, flush=True)


def _show(outcomes: list[dict[str, Any]], as_json: bool, planners: list[str]) -> None:
    for figure in figures(outcomes):
        if as_json:
            print(json.dumps({**asdict(figure), "verdict": figure.verdict}))
            continue
        print(f"{figure.name:24} {figure.value:6.0f}  {figure.verdict:8}  {figure.note}".rstrip())
    if not as_json:
        print("", *table(outcomes, planners), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
