"""How many simulated studies contradict themselves: verdict, flags, matrix and answer of 2,000 sweeps.

Studies have 1 to 8 curves, of all shapes and noises that have a known truth, and up to a third of disturbed runs. A
contradiction is counted by its kind, once a study. `--before FILE` prints the counts of an earlier `--json` beside.
"""

import argparse
import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = (
    "number",
    "digits",
    "unit",
    "direction",
    "row",
    "column",
    "verdict",
    "flags",
    "effect",
    "place",
    "verb",
    "period",
)
N, N_QUICK = 2000, 100


def main() -> int:
    """Print the share of studies with each kind of contradiction; a missed target is a result and no failure."""
    args = _arguments()
    counts, n = count_contradictions(N_QUICK if args.quick else N), N_QUICK if args.quick else N
    before = _read(args.before)
    if not args.json:
        print(f"{'contradiction':14} {'studies':>8} {'before':>8}   of {n:,}")
    for kind in KINDS:
        figure = {"name": f"studies with a contradiction: {kind}", "value": 100 * counts[kind] / n, "unit": "%",
                  "verdict": "MISSED" if counts[kind] else "reached", "n": n}  # fmt: skip
        if args.json:
            print(json.dumps(figure), flush=True)
        else:
            was = before.get(str(figure["name"]))
            print(f"{kind:14} {counts[kind]:>8} {'-' if was is None else round(was * n / 100):>8}")
    return 0


def count_contradictions(n: int) -> Counter[str]:
    """Count the studies with each kind of contradiction."""
    kit = _import_kit()
    counts: Counter[str] = Counter()
    for seed in range(n):
        texts = kit.contradictions(kit.simulate_findings(seed))
        counts.update({text.split(":")[0] for text in texts})
    return counts


def _import_kit():  # type: ignore[no-untyped-def]
    """Import the checker that the tests share; it is no part of the package."""
    sys.path.insert(0, str(ROOT))
    return import_module("tests.kit.agreement")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{N_QUICK} studies")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure instead of a table")
    parser.add_argument("--before", type=Path, metavar="FILE", help="what an earlier --json printed")
    return parser.parse_args()


def _read(file: Path | None) -> dict[str, float]:
    lines = file.read_text(encoding="utf-8").splitlines() if file else []
    return {figure["name"]: figure["value"] for figure in map(json.loads, lines)}


if __name__ == "__main__":
    sys.exit(main())
