"""The study of `scalograph load`: a server, the load generator, and the levels."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from scalograph.cli.command_line_study.declaration import (
    HEAD,
    MAX_COMMAND,
    count_levels,
    key_lines,
    map_error,
    quote_keys,
    study_name,
    toml_table,
)  # fmt: skip
from scalograph.cli.command_line_study.option_texts import (
    CPU_QUOTA,
    MEMORY_LIMIT,
    folder_text,
    limit_factors,
    limit_keys,
    split,
    unique,
    variables,
)  # fmt: skip
from scalograph.cli.overrides import parse_option
from scalograph.cli.sweep_options import LoadOptions
from scalograph.errors import Problem, ScalographError, StudyError
from scalograph.questions.asked import amount_levels, is_range, spread_range
from scalograph.study.processes import HOST, LOOPBACK
from scalograph.study.scalars import unknown_name_error
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.text.units import parse_duration, parse_percent

# The workloads of our own driver, and of the others.
OWN, OTHERS = "load", "http-drivers"
# What our own driver alone can do.
_OWN_OPTIONS = (
    "cycle", "down", "status", "contains", "pool", "post", "body", "header", "mix", "arrivals", "insecure", "ca",
)  # fmt: skip
_FIX = "leave it out, or use --driver load"
# What --mix takes the place of, and the longest body that a study holds.
_OF_ONE_REQUEST = ("post", "body", "header", "contains")
_MOST_BODY = 1000
REQUEST_S = 10  # until our driver says that a request had no answer

Parameters = dict[str, str | int | float]


def driver_use(options: LoadOptions, factors: Container[str]) -> tuple[str, Parameters]:
    """Return the load generator's workload and its parameters, without the target; `factors` are varied."""
    parameters: Parameters = {f"{key}_s": parse_option(f"--{key}", getattr(options, key)) for key in ("ramp", "steady")}
    parameters |= {"warmup": options.warmup}
    parameters |= {"loop": "open", "connections": options.connections} if "rate" in factors else {}
    parameters |= {"remote": "{elsewhere}" if options.on else "yes"} if options.remote or options.on else {}
    if options.driver != OWN:
        _refuse(options, factors)
        return OTHERS, {"tool": options.driver, **parameters}
    # A run must not end before a request that is never answered is said to be late.
    timeout_s = parse_option("--timeout", options.timeout)
    parameters |= {"timeout_ms": round(500 * timeout_s)} if timeout_s < 2 * REQUEST_S else {}
    parameters |= {"down_s": parse_option("--down", options.down), "cycle": options.cycle, "status": options.status}
    parameters |= {"arrivals": options.arrivals} if "rate" in factors else {}
    texts = {key: getattr(options, key) for key in ("contains", "pool")} | _request_parameters(options)
    return OWN, parameters | {key: escape_braces(text) for key, text in texts.items() if text}


def _request_parameters(options: LoadOptions) -> dict[str, str]:
    """Return what is sent beside the path. Raises StudyError for options that contradict each other."""
    if options.mix is not None:
        if given := next((f"--{name}" for name in _OF_ONE_REQUEST if getattr(options, name)), ""):
            raise StudyError.one("", f"{given} and --mix exclude each other", "", "leave one out")
        if not options.mix.is_file():
            raise StudyError.one("--mix", f'"{options.mix}" is no file', "a file of operations (TOML)")
        return {"mix": str(options.mix.absolute())}
    if options.body is not None and options.post is None:
        raise StudyError.one("--body", "--get sends none", "", "use --post URL")
    for header in options.header or ():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*", header):
            raise StudyError.one(
                "--header", f"{header[:60]!r}", "NAME: VALUE", "such as 'Content-Type: application/json'"
            )
    return {
        "method": "POST" if options.post else "", "headers": "\n".join(options.header or ()),
        "body": _read_body(options.body or ""),
    }  # fmt: skip


def _read_body(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        content = Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError.one("--body", f'"{text[1:][:60]}" cannot be read as text', "a text file") from error
    if len(content) > _MOST_BODY:
        raise StudyError.one("--body", f"{len(content)} characters", f"at most {_MOST_BODY}", "send less, or use --mix")
    return content


def escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _refuse(options: LoadOptions, factors: Container[str]) -> None:
    name = options.driver
    drivers = [OWN, *map(str, load_workload(shipped_workload(OTHERS)).parameters["tool"].choices or [])]
    if name not in drivers:
        raise unknown_name_error("--driver", f"{name[:40]!r}", name, drivers)
    for option in _OWN_OPTIONS:
        if getattr(options, option) != getattr(LoadOptions, option):
            raise StudyError.one(f"--{option}", f"{name} has no such option", "", _FIX)
    if "copies" in factors:
        raise StudyError.one("--copies", f"{name} sends to one server only", "", _FIX)


QUESTION, LIMITED, SIZED = "throughput", "within-limit", "size"
SERVER, DRIVER = "server", "driver"
# What counts the load comes first: it is what the curve is drawn along.
VARIED = ("clients", "rate", "copies", "cpus")
# Titles of the study, by what it asks.
_TITLES = {
    QUESTION: "What is the maximum throughput of `{}`?", LIMITED: "How much load does `{}` carry within its limits?",
    SIZED: "What does `{}` need at least, to keep its limits?",
}  # fmt: skip
# Of the server alone: keys of its process, which the factors of the same names fill.
_PROCESS_LIMITS = (CPU_QUOTA, MEMORY_LIMIT)
_URL = re.compile(r"(https?)://([^/:\[\]{}?#]+|\[[0-9a-fA-F:.]+\])(?::([0-9]{1,5}|\{port\}))?(/[!-~]*)?")
_LOOPBACK = re.compile(HOST)
_EXPECTED = "http://127.0.0.1:PORT/PATH or https://..., or {port} for PORT"
_PORTS = {"http": "80", "https": "443"}
# Response, where it is read, unit, direction, title.
_RESPONSES = (
    ("rate", "value.rate", "1/s", "higher", "requests"),
    ("p50", "value.p50_ns", "ns", "lower", "response time, median"),
    ("p90", "value.p90_ns", "ns", "lower", "response time, 90%"),
    ("p99", "value.p99_ns", "ns", "lower", "response time, 99%"),
    ("errors", "value.errors", "", "lower", "errors"),
    ("driver_cpu", f"process.{DRIVER}.cpu_percent", "%", "none", "CPU usage, driver"),
    ("server_cpu", f"process.{SERVER}.cpu_percent", "%", "none", "CPU usage, server"),
)
_ERROR_SHARE = ("error_share", "value.error_percent", "%", "lower", "errors")
# A level lies within 1% of the one that is wanted.
_MOST_LEVELS = 1000
_WHERE = re.compile(r"^study\.toml(:\d+)?(: )?")
# Keys of the study, and the options that they come from.
_OPTIONS = (
    (r"workload", "--serve"),
    (r"factors", "levels"),
    (r"workload\.process\[[01]\]\.parameters\.(\w+?)(_s|_ms)?", r"--\1"),
    (r"workload\.process\[0\]\.ready_timeout", "--ready-timeout"),
    (r"workload\.process\[0\]\.ready.*", "--ready"),
    (r"workload\.process\[0\]\.(copies)", r"--\1"),
    (r"workload\.process\[0\]\.pid|workload\.process server", "--pid"),
    (r"workload\.process\[0\].*", "--serve"),
    (r"workload\.env.*", "--env"),
    (r"(?:factors|protocol)\.(\w+).*", r"--\1"),
)


def load_study(options: LoadOptions) -> str:
    serve = split("--serve", options.serve, shell=False) if options.serve else ()
    if options.pid is not None and (beside := _server_option(options)):
        raise StudyError.one("", f"{beside} starts a server, and --pid names a running one", "", "leave one out")
    if options.keep and not options.serve:
        raise StudyError.one("--keep", "there is no server to keep running", "", "add --serve COMMAND, or leave it out")
    scheme, host, port, path = _address(options)
    factors = _factors(options)
    driver, parameters = driver_use(options, factors)
    # All copies answer at the address that `ready` names; without copies there is one, whatever `ready` is.
    is_named = host != LOOPBACK and "copies" not in factors
    target = f"{host}:{port}" if not serve else f"{host}:{{{SERVER}_port}}" if is_named else f"{{{SERVER}_targets}}"
    called = serve[0] if serve else host if options.pid is None else f"process {options.pid}"
    text = " ".join(serve) or called
    shown = text if len(text) <= MAX_COMMAND and text.isprintable() else called.rpartition("/")[2][:MAX_COMMAND]
    limits = _limits(options.limit)
    factors = _load_range(factors) if limits else factors
    asked = _TITLES[_question(factors) if limits else QUESTION]
    head = {
        "version": 1,
        "name": study_name((called,), "load"),
        "title": asked.format(shown),
        "question": _question(factors) if limits else QUESTION,
        "work": "total",
        "seed": 1,
    }
    sent = {"targets": target, "path": escape_braces(path), **_tls(options, scheme), **parameters}
    protocol = {key: getattr(options, key) for key in ("runs", "max_reruns", "budget", "timeout")}
    if limits:
        del protocol["runs"]
    lines = [
        HEAD.format("load"), *key_lines(head), *_server(options, serve, f"{host}:{port}", factors),
        *toml_table("[[workload.process]]", {"name": DRIVER, "role": "driver", "use": driver, "parameters": sent}),
        *_levels(factors, not limits), *_responses(bool(serve) or options.pid is not None, limits),
        *toml_table("[protocol]", protocol),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def map_load_error(error: ScalographError) -> ScalographError:
    """Map errors in the generated study, or of this host, to the options of `load`."""
    return map_error(error, _map_problem)


def _map_problem(problem: Problem) -> Problem:
    fix = problem.fix.replace("workload.command", "--serve")
    return Problem(_option(problem.where), problem.found, problem.expected, fix)


def _option(where: str) -> str:
    key = _WHERE.sub("", where)
    for pattern, option in _OPTIONS:
        if match := re.fullmatch(pattern, key):
            return match.expand(option).replace("_", "-")
    return key


def _server_option(options: LoadOptions) -> str:
    """Return the first option given that needs a server started here; empty if none."""
    given = (f"--{name}" for name in ("serve", "keep", "ready", "copies", "cpus", "remote") if getattr(options, name))
    return next(given, "")


def _address(options: LoadOptions) -> tuple[str, str, str, str]:
    """Return scheme, host, port and path of --get."""
    if (options.get is None) == (options.post is None):
        given = "both are given" if options.get else "neither is given"
        raise StudyError.one("", f"--get and --post: {given}", "", "give one of them: --get http://127.0.0.1:{port}/")
    asked = options.get or options.post or ""
    match = _URL.fullmatch(asked)
    if match is None:
        raise StudyError.one("--post" if options.post else "--get", f"{asked[:80]!r}", _EXPECTED)
    scheme, host, path = match[1], match[2], match[4] or "/"
    port = match[3] or _PORTS[scheme]
    if port == "{port}" and not options.serve:
        raise StudyError.one("--get", "no server fills {port}", "", "add --serve COMMAND, or write a number")
    if port != "{port}" and not 1 <= int(port) <= 65_535:
        raise StudyError.one("--get", f"port {port} is out of range", "", "use 1 to 65535")
    if not _LOOPBACK.fullmatch(host) and (options.serve or not options.remote):
        fix = "leave out --serve, or use 127.0.0.1" if options.serve else "add --remote if that machine may be loaded"
        raise StudyError.one("--get", f"{host} is another machine", "", fix)
    return scheme, host, port, path


def _tls(options: LoadOptions, scheme: str) -> dict[str, str]:
    """Return the parameters of TLS. Raises StudyError for options that have nothing to do."""
    given = next((name for name in ("insecure", "ca") if getattr(options, name)), "")
    if scheme == "http":
        if given:
            raise StudyError.one(f"--{given}", "the URL is not https", "", "use an https:// URL, or leave it out")
        return {}
    if options.driver != OWN:
        raise StudyError.one("--driver", f"{options.driver} is run without TLS here", "", "use --driver load")
    if options.insecure and options.ca:
        raise StudyError.one("", "--insecure and --ca exclude each other", "", "leave one out")
    if options.ca and not options.ca.is_file():
        raise StudyError.one("--ca", f'"{options.ca}" is no file', "a file of certificates (PEM)")
    ca = {"ca": escape_braces(str(options.ca.absolute()))} if options.ca else {}
    return {"tls": "insecure" if options.insecure else "yes", **ca}


def _factors(options: LoadOptions) -> dict[str, str]:
    given = {factor: levels for factor in VARIED if (levels := getattr(options, factor)) is not None}
    if "clients" in given and "rate" in given:
        raise StudyError.one("", "--rate and --clients exclude each other", "", "leave one out")
    texts = {name: getattr(options, name) for name in _PROCESS_LIMITS if options.limit}
    amounts = {name: amount_levels(text, name) for name, text in texts.items() if text and ":" in text}
    limits = limit_factors(options, amounts)
    limits.levels.update({name: ",".join(f"{x:g}" for x in levels) for name, levels in amounts.items()})
    for factor in ("copies", "cpus", *limits.levels):
        if factor in {**given, **limits.levels} and not options.serve:
            raise StudyError.one(
                f"--{factor}", "there is no server to set it for", "", "add --serve COMMAND, or leave it out"
            )
    if CPU_QUOTA in limits.levels and "all" in (options.cpus or "all"):
        what, fix = "the load generator would share the CPUs of the server", "add --cpus 1, so that it has its own"
        raise StudyError.one("--quota", what, "", fix)
    given |= limits.levels
    return given if {"clients", "rate"} & given.keys() else {"clients": "1", **given}


def _ready(text: str) -> dict[str, str | int]:
    form, colon, rest = text.partition(":")
    if form == "line" and colon:
        return {"line": rest}
    return {"http": text} if form == "http" else {"port": int(text) if text.isdecimal() else text}


def _server(options: LoadOptions, serve: Sequence[str], address: str, factors: Mapping[str, str]) -> Iterator[str]:
    keep = "block" if options.keep else None
    yield from toml_table(
        "[workload]", {"cwd": folder_text(options.cwd), "keep": keep, "env": quote_keys(variables(options.env))}
    )
    server = {"name": SERVER, "role": "service"}
    if serve:
        host, _, port = address.rpartition(":")
        ports = 1 if port == "{port}" else [int(port)]
        ready = options.ready or (port if host == LOOPBACK else address)
        started = {"argv": serve, "ports": ports, "ready": _ready(ready)}
        limits = {name: f"{{{name}}}" for name in _PROCESS_LIMITS if name in factors}
        times = {
            "ready_timeout": options.ready_timeout,
            "copies": "{copies}" if "copies" in factors else None,
            **limits,
        }
        yield from toml_table("[[workload.process]]", {**server, **started, **times})
    if options.pid is not None:
        yield from toml_table("[[workload.process]]", {**server, "pid": options.pid})


def _levels(factors: Mapping[str, str], has_baseline: bool) -> Iterator[str]:
    more = {
        "cpus": {"control": "cpus", "title": "CPUs"}, "rate": {"title": "offered requests", "unit": "1/s"},
        "placement": {"control": "placement"}, **{name: limit_keys(name) for name in _PROCESS_LIMITS},
    }  # fmt: skip
    for factor, levels in factors.items():
        yield from toml_table(f"[factors.{factor}]", {"levels": levels, **more.get(factor, {})})
    counted = {factor: min(counts) for factor, text in factors.items() if len(counts := count_levels(text)) > 1}
    if counted and has_baseline:
        yield from toml_table("[baseline]", dict([next(iter(counted.items()))]))


def _responses(has_server: bool, limits: Mapping[str, float]) -> Iterator[str]:
    """Yield the responses; with limits those first, and no other has a direction."""
    every = [*_RESPONSES, *([_ERROR_SHARE] if _ERROR_SHARE[0] in limits else [])]
    for response, source, unit, better, title in sorted(every, key=lambda row: bool(limits) and row[0] not in limits):
        if has_server or not source.startswith("process."):
            better = "none" if limits and response not in limits else better
            title = response if response in limits and source.endswith("_ns") else title
            keys = {"from": source, "unit": unit, "better": better, "title": title, "limit": limits.get(response)}
            yield from toml_table(f"[responses.{response}]", keys)


_LIMIT = re.compile(r"\s*(p50|p90|p99|errors)\s*<=?\s*([0-9.]+\s*[a-zµ%]+)\s*")


def _limits(texts: Sequence[str] | None) -> dict[str, float]:
    """Return the limits by response, in its unit: ns, or percent of requests. Raises StudyError for another form."""
    return unique("--limit", [_read_limit(text) for text in texts or ()])


def _read_limit(text: str) -> tuple[str, float]:
    match = _LIMIT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        if match[1] == "errors":
            return _ERROR_SHARE[0], 100 * _positive(parse_percent(match[2]))
        return match[1], 1e9 * _positive(parse_duration(match[2]))
    except ValueError:
        expected = "p50, p90 or p99 < a time, or errors < a share"
        raise StudyError.one("--limit", f"{text[:60]!r}", expected, "such as 'p99<50ms', 'errors<0.1%'") from None


def _positive(value: float) -> float:
    if value <= 0:
        raise ValueError
    return value


def _question(factors: Mapping[str, str]) -> str:
    """Return what is asked of a server with limits: the least that it needs, or the highest load that it carries."""
    return SIZED if any("," in factors.get(name, "") for name in _PROCESS_LIMITS) else LIMITED


def _load_range(factors: Mapping[str, str]) -> dict[str, str]:
    """Return the factors with counts for the range of the load. Raises StudyError without one range."""
    load = next(name for name in ("rate", "clients") if name in factors)
    if _question(factors) == SIZED:
        return dict(factors)
    if not is_range(factors[load]):
        option = f"--{load}"
        raise StudyError.one(option, f"{factors[load][:40]!r}", "a range to search", f"such as {option} 10:10000")
    return {**factors, load: spread_range(factors[load], _MOST_LEVELS, f"--{load}")}
