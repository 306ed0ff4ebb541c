"""Output of `go test -bench`, printed or by `-json`: a line for each benchmark and count, all by one process."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from scalograph.exchange.benchmark import Benchmark, fail, fork, join_process
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError

_LINE = re.compile(r"Benchmark(\S*)\s+[0-9]+\s+([0-9-].*)")
# The name is printed before the benchmark runs, so that a log may tear its line.
_NAME = re.compile(r"Benchmark(\S*)\s*(.*)")
_REST = re.compile(r"\s*[0-9]+\s+([0-9.e+-]+ \S+.*)")
# After the name of a benchmark, or on a line of its own.
_FAILED = re.compile(r".*--- FAIL: Benchmark(\S+)")
_METRIC = re.compile(r"(?<!\S)([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?) (\S+)")
_FACT = re.compile(r"(goos|goarch|cpu): (.{1,200})")
# After the last -: GOMAXPROCS, unless it is 1, which go never prints.
_PROCS = re.compile(r"(.+)-([2-9]|[1-9][0-9]{1,4})")
_FAILED_PACKAGE = "the package failed"
_BYTES = re.compile(r"[KMGT]?i?B/s")


class _Run(NamedTuple):
    """A line of a benchmark: what it printed, empty where it failed; or the reason why there is nothing."""

    package: str
    full: str
    facts: dict[str, str]
    printed: str = ""
    reason: str = ""


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of an output in order: ns/op, or else a rate; the counts of one process are one fork."""
    runs = [*islice(_runs(file), MAX_BENCHMARKS + 1)]
    if not runs:
        raise file.refusal("", "no line of a benchmark")
    if len(runs) > MAX_BENCHMARKS:
        raise file.refusal("", f"more than {MAX_BENCHMARKS} lines", fix="import its packages one by one")
    names = {
        package: {r.full for _, r in runs if r.package == package and r.reason != _FAILED_PACKAGE}
        for package in {r.package for _, r in runs}
    }
    procs = {package: _procs(every) for package, every in names.items()}
    yield from join_process(file.each(runs, lambda _, run: _benchmark(run, procs[run.package])))


def _runs(file: ForeignFile) -> Iterator[tuple[str, _Run]]:
    """Yield the line and text of each benchmark; a torn line is completed, or left without one."""
    package, facts = "", dict[str, str]()
    torn: tuple[str, str, str] | None = None
    for number, line in _lines(file):
        if line.startswith("pkg: "):
            package = line[5:].strip()
        elif fact := _FACT.fullmatch(line):
            facts = {**facts, fact[1]: fact[2].strip()}
        elif line.startswith("FAIL\t"):
            yield f"line {number}", _Run(package, line[5:].split("\t")[0], facts, reason=_FAILED_PACKAGE)
        elif failed := _FAILED.match(line):
            torn = None
            yield f"line {number}", _Run(package, failed[1], facts)
        elif match := _LINE.match(line) or (torn and _REST.fullmatch(line)):
            if torn and match.re is _LINE and torn[2]:
                yield torn[0], _Run(package, torn[1], facts, reason=f'torn by "{torn[2][:80]}"')
            full, printed = match.groups() if match.re is _LINE else (torn[1] if torn else "", match[1])
            torn = None
            yield f"line {number}", _Run(package, full, facts, printed)
        elif name := _NAME.match(line):
            torn = (f"line {number}", name[1], name[2])
    if torn:
        yield torn[0], _Run(package, torn[1], facts, reason=f'it never ended: "{torn[2][:80]}"'.removesuffix(': ""'))


def _lines(file: ForeignFile) -> Iterator[tuple[int, str]]:
    """Yield the printed lines; those of `-json` are put together for each package, as packages may take turns."""
    if not file.text.lstrip().startswith("{"):
        yield from file.lines()
        return
    printed: dict[str, list[str]] = {}
    for _, event in file.json_lines():
        if isinstance(event, dict) and isinstance(output := event.get("Output"), str):
            printed.setdefault(str(event.get("Package")), []).append(output)
    for package, outputs in printed.items():
        yield 0, f"pkg: {package}"
        yield from enumerate("".join(outputs).splitlines(), 1)


def _benchmark(run: _Run, procs: Collection[str] | None) -> Benchmark:
    if run.reason:
        raise PartError(f"{run.full[:200]}: {run.reason}")
    name, params = _parts(run.full, procs or ())
    warnings: tuple[str, ...] = ()
    if procs is None:
        del params["gomaxprocs"]
        warnings = (f"-{run.full.rpartition('-')[2]} may be GOMAXPROCS or a part of the name, which keeps it",)
    called = f"{run.package}.{name}" if run.package else name
    benchmark = Benchmark(called, "op", params, "s", (), facts=run.facts, warnings=warnings)
    if not run.printed:
        return fail(benchmark)
    metrics = {unit: float(value) for value, unit in _METRIC.findall(run.printed)}
    if (took := metrics.get("ns/op")) is not None:
        return replace(benchmark, forks=(fork([took], 1e-9),))
    rates = {unit: value for unit, value in metrics.items() if unit.endswith("/s") and not _BYTES.fullmatch(unit)}
    if not rates:
        raise PartError(f'"{run.full[:80]} {run.printed[:80]}" has neither ns/op nor a rate')
    unit, value = next(iter(rates.items()))
    return replace(benchmark, mode=unit, unit="1/s", forks=(fork([value]),))


def _procs(names: Collection[str]) -> set[str] | None:
    """Return the values of GOMAXPROCS that names of one package end with; None if the end may be of the name itself.

    All are run with the same ones. Where one was run with 1, its name ends with none, and those of the others tell
    which ones there are. A name without parts has no hyphen of its own, and two that end alike have none in common.

    >>> _procs({"Add-1", "Add-1-2", "Add-1-4"}) == {"2", "4"}, _procs({"Sort-64", "Max"}), _procs({"Sort-64"})
    (True, set(), {'64'})
    >>> _procs({"A/size-16"}), _procs({"A/x-8", "A/y-8"}), _procs({"A/size-16", "B-8"}), _procs({"A/1-16", "A/1-32"})
    (None, {'8'}, {'8'}, None)
    """
    ends = [match.groups() for name in names if (match := _PROCS.fullmatch(name))]
    plain = {base for base, _ in ends if base in names} | {name for name in names if not _PROCS.fullmatch(name)}
    if plain:
        return {procs for base, procs in ends if base in plain}
    bases = {procs: {base for base, end in ends if end == procs} for _, procs in ends}
    whole = {procs for procs in bases if any("/" not in base for base in bases[procs])}
    return whole or (set(bases) if all(len(of) > 1 for of in bases.values()) else None)


def _parts(full: str, procs: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return name and named parts of a benchmark, with GOMAXPROCS.

    >>> _parts("Sort/size=8/radix-4", {"4"}), _parts("Build/TOML,pages=5,tags=1", ())
    (('Sort/radix', {'size': '8', 'gomaxprocs': '4'}), ('Build/TOML', {'pages': '5', 'tags': '1', 'gomaxprocs': '1'}))
    """
    match = _PROCS.fullmatch(full)
    name, used = (match[1], match[2]) if match and match[2] in procs else (full, "1")
    first, *rest = name.split("/")
    params, plain = dict[str, str](), [first]
    for part in rest:
        pieces = part.split(",")
        is_listed = all("=" in piece for piece in pieces[1:])
        for piece in pieces if is_listed else [part]:
            key, equals, value = piece.partition("=")
            if equals and key and key not in params:
                params[key] = value
            else:
                plain.append(piece)
    return "/".join(plain), {**params, "gomaxprocs": used}
