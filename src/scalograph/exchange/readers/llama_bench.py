"""Output of llama-bench (`-o json`, jsonl, csv, or md): tokens per second of each repetition, or only their mean."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import (
    MEAN_ONLY,
    ForeignFile,
    ForeignPart,
    PartError,
    ReadValue,
    Text,
    check_part,
)

_TOKENS = ("n_prompt", "n_gen", "n_depth")
_RESULTS = {"model_type", "n_threads", *_TOKENS, "test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts"}
# Columns of the drawn table that have other names elsewhere.
_SHORT = {"model": "model_type", "threads": "n_threads", "ngl": "n_gpu_layers", "size": "model_size",
          "params": "model_n_params", "backend": "backends", "fa": "flash_attn"}  # fmt: skip
# By the names that readers share.
_SHARED = {"cpu_info": "CPU", "gpu_info": "GPU", "build_commit": "commit"}
_TEST = re.compile(r"(?:pp ?([0-9]{1,9}))?\+?(?:tg ?([0-9]{1,9}))?(?: @ d([0-9]{1,9}))?")
_RATE = re.compile(r"([0-9]{1,30}\.[0-9]{1,30}) ± [0-9.]+")

_Count = Annotated[int, Field(ge=0, le=1 << 53, strict=False)]


class _Measured(ForeignPart):
    model_type: Text
    n_threads: _Count | None = None
    n_prompt: _Count
    n_gen: _Count
    n_depth: _Count = 0
    mean: Annotated[ReadValue, Field(strict=False)] = Field(alias="avg_ts")
    samples: Annotated[list[ReadValue], FailFast()] = Field(default=[], alias="samples_ts")


_ENTRY, _ANY = TypeAdapter(_Measured), TypeAdapter(dict[str, Any])


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the tests of an output in order: prompt processing (pp), text generation (tg), or both."""
    head = file.head.lstrip()
    if head.startswith("["):
        rows: Iterator[tuple[str, Any]] = file.entries(_ANY)
    elif head.startswith("{"):
        rows = file.json_lines()
    elif "avg_ts" in head or "| model" in head:
        rows = file.table_rows()
    else:
        raise file.refusal("", "no avg_ts and no table of models")
    return file.each(file.limit(rows, "tests"), lambda _, row: _benchmark(row))


def _plain(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the drawn table by the names of the other outputs."""
    test, rate = _TEST.fullmatch(row.get("test", "")), _RATE.fullmatch(row["t/s"])
    if not test or not rate or not (test[1] or test[2]):
        raise PartError(f'test "{row.get("test", "")[:40]}" of {row["t/s"][:40]} t/s')
    named = {_SHORT.get(name, name): text for name, text in row.items() if name not in ("test", "t/s")}
    return {**named, **dict(zip(_TOKENS, (n or "0" for n in test.groups()), strict=True)), "avg_ts": rate[1]}


def _benchmark(part: Any) -> Benchmark:
    row = check_part(part, _ANY)
    row = _plain(row) if "t/s" in row else row
    test = check_part(row, _ENTRY)
    kind = "+".join(["pp"] * (test.n_prompt > 0) + ["tg"] * (test.n_gen > 0))
    counts = {name: getattr(test, name) for name in ("n_threads", *_TOKENS)}
    facts = {_SHARED.get(name, name): str(value)[:200] for name, value in row.items()
             if name not in _RESULTS and isinstance(value, str | int | float) and value != ""}  # fmt: skip
    return Benchmark(
        f"{test.model_type} {kind}", "tokens", {name: str(n) for name, n in counts.items() if n}, "1/s",
        (fork(test.samples or [test.mean]),), facts=facts, warnings=() if test.samples else (MEAN_ONLY,),
    )  # fmt: skip
