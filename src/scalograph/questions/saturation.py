"""State the bottleneck of a load: what is saturated as a document, and its words."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from scalograph.findings.bottleneck import WAITED, Bottleneck, Kind, Utilization
from scalograph.protocol.plain import AnswerCase, Model, Text
from scalograph.text.load_words import small_percent, used_of_granted
from scalograph.text.short_names import join_names
from scalograph.text.units import format_duration

MOST_PARTS = 16
# Of a claim: the cases of a bottleneck.
FORMS = {
    "bottleneck": "The bottleneck is the {part}[[ ({use})]][[, e.g. {cause}]][[, shared with the {driver}]].",
    "generator first": "The load generator saturates first, so the service may reach more.",
    "low load": "The load does not saturate the service; test a higher one.",
    "elsewhere": "No CPU is saturated, so requests wait elsewhere, e.g. for {what}.",
    "either": "Inconclusive: the bottleneck is {parts:or}.",
    "holders": "Inconclusive: the bottleneck is the {part} ({use}), or the CPUs that its holders wait for.",
    "unknown": "Inconclusive: the bottleneck is unknown; no CPU is saturated[[, yet tasks wait for {what}]].",
}
KINDS = {
    "cpu": "CPU", "quota": "CPU quota", "tasks": "tasks", "io": "I/O", "memory": "memory", "pool": "pool",
    "driver": "load generator", "clients": "load", "wrong": "failed requests", "backlog": "dropped connections",
}  # fmt: skip
# Kind of bottleneck -> case; the others are parts that are used up.
CASES = {"driver": "generator first", "clients": "low load", "inside": "elsewhere"}
CAUSES = {"connect": "refused connections", "closed": "lost connections", "timeout": "timeouts"}


class PartUse(Model):
    """How full one part was: CPUs of some processes, a quota, a device, the driver, the load itself."""

    kind: Literal["cpu", "quota", "tasks", "io", "memory", "driver", "clients", "pool", "backlog", "wrong"]
    names: list[Text] = Field(max_length=MOST_PARTS)
    share: float = Field(description="of what it could do")
    used: float | None = Field(default=None, description="CPUs in use; of a pool, how many of it")
    granted: float | None = Field(default=None, description="of so many")
    of_driver: float = Field(default=0.0, description="CPUs in use that the driver had")
    wait_s: float | None = Field(default=None, description="of a pool: mean time that was waited for one of it")

    def find_alike(self, parts: Sequence["PartUse"]) -> "PartUse | None":
        """Find the same part among those of another load."""
        alike = [x for x in parts if x.kind == self.kind != "driver" and {*x.names} & {*self.names}]
        return max(
            alike, key=lambda x: (x.granted == self.granted, len({*x.names} & {*self.names})), default=None
        )  # fmt: skip


class Saturation(Model):
    """What ends a load, by the parts of its runs that are saturated."""

    ends: Kind = "not known"
    ended_by: list[PartUse] = Field(default=[], max_length=MOST_PARTS)
    ruled_out: list[PartUse] = Field(default=[], max_length=MOST_PARTS)
    grows: float | None = Field(default=None, description="response time there over that of the lowest level")
    waited: float | None = Field(default=None, description="share of ready time without a CPU, of services")


def saturation_fields(bottleneck: Bottleneck) -> dict[str, object]:
    """Return a bottleneck as the fields of a `Saturation`."""
    fields: dict[str, object] = {"ends": bottleneck.kind, "grows": bottleneck.grows, "waited": bottleneck.waited}
    return fields | {"ended_by": part_uses(bottleneck.parts), "ruled_out": part_uses(bottleneck.others)}


def part_uses(parts: Sequence[Utilization]) -> list[PartUse]:
    names = ("kind", "share", "used", "granted", "of_driver", "wait_s")
    values = [{name: getattr(part, name) for name in names} for part in parts[:MOST_PARTS]]
    return [PartUse(**own, names=[*part.names[:MOST_PARTS]]) for own, part in zip(values, parts, strict=False)]


def bottleneck_case(end: Saturation, uses: Sequence[str], is_rising: bool = False) -> Iterator[AnswerCase]:
    """Yield the case of the bottleneck; none where nothing was measured that could show it.

    `uses`: how full each part is that ends the load, as text; `is_rising`: more load adds throughput.
    """
    parts = end.ended_by
    values = [{"part": part_name(end, part), "use": use} for part, use in zip(parts, uses, strict=True)]
    own: dict[str, Any] = values[0] if values else {}
    if end.ends != "inconclusive":
        if end.ends == "inside":
            own["what"] = "a lock" if any(part.kind == "pool" for part in end.ruled_out) else "a lock or a pool"
        elif end.ends == "wrong":
            own["cause"] = CAUSES.get(parts[0].names[0], "wrong answers")
        elif parts and parts[0].of_driver:
            own["driver"] = KINDS["driver"]
        if end.ends != "not known":
            yield AnswerCase(case=CASES.get(end.ends, "bottleneck"), values=own)
    elif len(parts) > 1:
        named = [f"{x['part']} ({x['use']})" if x["use"] else x["part"] for x in values]
        yield AnswerCase(case="either", values={"parts": named})
    elif not is_rising:
        waits = end.waited is not None and end.waited >= WAITED
        yield AnswerCase(case="holders" if parts else "unknown", values={**own, "what": "one" if waits else ""})


def part_name(end: Saturation, part: PartUse) -> str:
    """Name a part: "database CPU"; by its kind alone where there is one service."""
    services = {name for p in (*end.ended_by, *end.ruled_out) if p.kind == "cpu" for name in p.names}
    has_owner = len(services) > 1 and part.kind in ("cpu", "quota", "tasks", "io", "memory")
    return f"{join_names(part.names)} " * has_owner + KINDS[part.kind]


def part_use(part: PartUse | None) -> str:
    """State how full a part is: "1.95 of 2 used"; empty where this has no number."""
    if part is None or part.kind == "driver":
        return ""
    if part.kind in ("backlog", "wrong"):
        return request_share(part.share)
    if part.used is None:
        return f"waited for {small_percent(part.share)} of the time"
    wait = f"; wait {format_duration(part.wait_s)}" if part.wait_s else ""
    return f"{used_of_granted(part.used, part.granted or 0.0)} used{wait}"


def request_share(share: float | None) -> str:
    return "" if share is None else f"{small_percent(share)} of requests"
