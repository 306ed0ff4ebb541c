"""Imported benchmarks as points of a scaling law: throughput of each fork at each level of a param."""

from collections.abc import Mapping, Sequence

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_figures import params_text, scores
from scalograph.exchange.csv_points import MOST, WIDEST, Points
from scalograph.study.known_names import meant


def points_over(every: Sequence[Benchmark], param: str, where: Mapping[str, str]) -> Points:
    """Take throughput over a param: rates as they are, of times one over each.

    Args:
        every: what was imported.
        param: which counts what works at once: threads, clients, GOMAXPROCS.
        where: levels of other params, where these have several.

    Raises:
        StudyError: no benchmark has the param as a number, none of those the levels, or several benchmarks have both.
    """
    having = [one for one in every if param in one.params]
    if not having:
        params = dict.fromkeys(name for one in every for name in one.params)
        expected = f"one of these params: {(', '.join(params) or 'none')[:200]}"
        raise StudyError.one("--over", f'no benchmark with the param "{param}"', expected, meant(param, params))
    chosen = [one for one in having if where.items() <= one.params.items()]
    if not chosen:
        known = "; ".join(dict.fromkeys(_rest(one, param) for one in having))
        raise StudyError.one("--where", f"no benchmark with {params_text(dict(where))}", f"one of {known[:200]}")
    names = list(dict.fromkeys(_rest(one, param) for one in chosen))
    if len(names) > 1:
        fix = "choose one with --where PARAM=LEVEL, or import its file alone"
        raise StudyError.one("--over", f"{len(names)} benchmarks over {param}: {'; '.join(names[:4])}", "one", fix)
    if not any(one.forks for one in chosen):
        raise StudyError.one("--over", "no run that succeeded", "some, at several levels")
    points = Points([], [])
    for one in chosen:
        for score in scores(one):
            points.sizes.append(_size(one, param))
            points.rates.append(_rate(one, score))
    return points


def parse_params(texts: Sequence[str]) -> dict[str, str]:
    """Parse `PARAM=LEVEL` of the command line. Raises StudyError where it has another form."""
    pairs = [text.partition("=") for text in texts]
    if wrong := [text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals]:
        raise StudyError.one("--where", f'"{wrong[0][:80]}"', "PARAM=LEVEL")
    return {name: level for name, _, level in pairs}


def _rest(one: Benchmark, param: str) -> str:
    """What a benchmark is beside the param; what counts the same under another name is no difference."""
    same = one.params[param]
    others = {name: level for name, level in one.params.items() if name != param and level != same}
    return f"{one.name} {params_text(others)}".strip()


def _size(one: Benchmark, param: str) -> float:
    text = one.params[param]
    size = float(text) if text.replace(".", "", 1).isdecimal() and text.isascii() else 0.0
    if not 1 / MOST <= size <= MOST:
        raise StudyError.one("--over", f"{param}={text[:40]} of {one.name[:80]}", f"a number above 0, up to {MOST:g}")
    return size


def _rate(one: Benchmark, score: float) -> float:
    if not 1 / WIDEST <= score <= WIDEST:
        raise StudyError.one(
            "--over", f"a score of {score:g} of {one.name[:80]}", f"above 0, {1 / WIDEST:g} to {WIDEST:g}"
        )
    return score if one.unit == "1/s" else 1 / score
