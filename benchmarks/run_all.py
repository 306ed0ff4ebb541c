"""Run every benchmark of this folder, one after the other, and say which failed.

A benchmark is a program here that takes --quick and --json; with --json it prints one line for each figure. Long ones
keep what they measured in scalograph-results/benchmarks/ and go on from there.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Lines = list[dict[str, Any]]


def main() -> int:
    """0 when every benchmark came to its end, whatever it measured; 1 when one did not."""
    args = _arguments()
    # A benchmark that imports the package gets the one that stands here.
    os.environ["PYTHONPATH"] = str(HERE.parent / "src")
    chosen = [file for file in benchmarks() if not args.only or any(word in file.stem for word in args.only)]
    figures: Lines = []
    failed = []
    for file in chosen:
        print(f"\n== {file.stem}: {_first_sentence(file)}", flush=True)
        begin = time.monotonic()
        code, found = _run(file, args.quick, collect=args.json is not None)
        figures += found
        if code:
            failed.append(f"{file.stem}: exit code {code}")
        print(f"   {time.monotonic() - begin:.0f} s", flush=True)
    if args.json:
        args.json.write_text("".join(json.dumps(figure) + "\n" for figure in figures), encoding="utf-8")
    return _conclude(len(chosen), figures, failed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="run only those whose name holds one of these words")
    parser.add_argument("--quick", action="store_true", help="fewer cases; nothing is kept or resumed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write one JSON line for each figure to FILE")
    return parser.parse_args()


def benchmarks() -> list[Path]:
    """Programs of this folder but for this one; what they share is none."""
    files = sorted(HERE.glob("*.py"))
    return [f for f in files if f != HERE / "run_all.py" and '__name__ == "__main__"' in f.read_text(encoding="utf-8")]


def _first_sentence(file: Path) -> str:
    return file.read_text(encoding="utf-8").removeprefix('"""').splitlines()[0].removesuffix('"""')


def _run(file: Path, quick: bool, collect: bool) -> tuple[int, Lines]:
    """The benchmark's own table; where figures are collected, one is drawn here from its JSON lines."""
    argv = [sys.executable, str(file), *(["--quick"] if quick else [])]
    if not collect:
        return subprocess.run(argv, check=False, cwd=HERE.parent).returncode, []
    found: Lines = []
    with subprocess.Popen([*argv, "--json"], stdout=subprocess.PIPE, text=True, cwd=HERE.parent) as child:
        assert child.stdout is not None
        for line in child.stdout:
            try:
                found.append({"benchmark": file.stem, **json.loads(line)})
            except (ValueError, TypeError):
                print(line, end="", flush=True)
                continue
            _show(found[-1])
    return child.returncode, found


def _show(figure: dict[str, Any]) -> None:
    value = figure.get("value")
    measured = "unknown" if value is None else f"{value:.4g} {figure.get('unit', '%')}"
    print(
        f"{figure.get('name', ''):66} {measured:>14}  {figure.get('verdict', ''):8}  {figure.get('note', '')}".rstrip()
    )


def _conclude(n: int, figures: Lines, failed: list[str]) -> int:
    missed = [f"{f['benchmark']}: {f['name'].strip()}" for f in figures if f.get("verdict") == "MISSED"]
    print(f"\n{n} benchmarks" + (f", {len(figures)} figures, {len(missed)} missed their target" if figures else ""))
    for text in [*(f"missed  {text}" for text in missed), *(f"FAILED  {text}" for text in failed)]:
        print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
