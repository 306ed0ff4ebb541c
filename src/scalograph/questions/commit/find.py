"""`find commit`: its options, and the answer as JSON."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, AskedRevisions, Option, check_share

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings

VERSION = "version"


@dataclass(frozen=True)
class CommitOptions:
    """Which commit made it slower, and by how much? Takes about 120 runs, each commit beside both ends.

    \b
    scalograph find commit --good v1.0 --bad main --build 'make -j2' -- {version}/prog --size 1000
    scalograph find commit --versions 3.11,3.12,3.13 -- python{version} bench.py
    scalograph find commit --jdk 17,21,25 -- {java} -jar app.jar
    """

    good: Annotated[str | None, Option("Revision before the slowdown; the repository is only read")] = None
    bad: Annotated[str, Option("Revision after it")] = "HEAD"
    build: Annotated[str, Option("Command that builds a commit in its folder, {version}; empty builds nothing")] = ""
    versions: Annotated[str | None, Option("Versions in their order, in place of commits")] = None
    jdk: Annotated[str | None, Option("JVMs in their order, in place of commits; the command has {java}")] = None
    even: Annotated[str, Option("Ignore a slowdown smaller than this")] = "2%"

    def factors(self) -> AskedFactors:
        """Make a factor of the versions; commits are listed later. Raises StudyError: none, or several, are named."""
        if sum(given is not None for given in (self.good, self.versions, self.jdk)) != 1:
            expected = "one of --good, --versions, and --jdk"
            raise StudyError.one("find commit", "no versions, or several kinds", expected, "such as --good v1.0")
        revisions = None if self.good is None else AskedRevisions(self.good, self.bad, self.build)
        even = check_share(self.even, "--even", "2%")
        return AskedFactors(
            levels={VERSION: self.versions or self.jdk or ""}, revisions=revisions, precision=even,
            lists={VERSION: [name.strip() for name in self.jdk.split(",")]} if self.jdk else {},
            controls={VERSION: "jvm"} if self.jdk else {},
            # A program moves by some percent with the size of its environment, as it does with a commit.
            vary=("env",), title=f"Which {'commit' if revisions else 'version'} made {{}} slower?",
        )  # fmt: skip


OPTIONS = CommitOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the steps, what stays open, and the versions that failed."""
    from scalograph.questions.commit.document import Commits

    result = findings.document("commit", Commits)
    return result.model_dump(mode="json") if result else {"decided": False, "steps": []}
