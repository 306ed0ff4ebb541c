"""What every search takes from the command line, and the wish that it becomes."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scalograph.cli.adhoc.command_study import Wish


class Asked(NamedTuple):
    """What every search takes."""

    command: list[str]
    max_reruns: int
    budget: str
    max_runs: int | None
    timeout: str
    shell: bool
    setup: str | None
    prepare: str | None
    cleanup: str | None
    env: list[str] | None
    response: list[str] | None


def wish_of(
    question: str,
    asked: Asked,
    factors: dict[str, str],
    *,
    per_worker: bool = False,
    roles: dict[str, str] | None = None,
    baseline: tuple[str, str] | None = None,
    precision: str | None = None,
) -> "Wish":
    """The wish of a search over levels of factors."""
    from scalograph.cli.adhoc.argv import (
        argv,
        responses,
        steps,
        variables,
    )
    from scalograph.cli.adhoc.command_study import Wish

    protocol: dict[str, str | int] = {
        "max_reruns": asked.max_reruns, "budget": asked.budget, "timeout": asked.timeout,
    }  # fmt: skip
    protocol |= {"budget_runs": asked.max_runs} if asked.max_runs else {}
    return Wish(
        command=argv(asked.command, asked.shell),
        factors=factors,
        per_worker=per_worker,
        responses=responses(asked.response),
        steps=steps(asked.shell, setup=asked.setup, prepare=asked.prepare, cleanup=asked.cleanup),
        env=variables(asked.env),
        protocol=protocol | ({"precision": precision} if precision else {}),
        roles=roles or {},
        baseline=baseline,
        question=question,
        asked=f"find {question}",
    )
