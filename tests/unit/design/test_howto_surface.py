"""What the page on surfaces gives people to write is a study, with a quota added to it too."""

import re

from scalograph.design.resolve import design
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.load import parse
from tests.kit import ROOT

PAGE = ROOT / "docs/howto/cpu-surface.md"
CPUS = tuple(CpuFact(cpu=n, core=n) for n in range(2))


def test_the_study_of_the_page_and_its_quota_where_it_is_granted_and_where_not() -> None:
    whole, quota = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(design(parse(whole), HostFacts(cpus=CPUS)).configurations) == 6 * 2
    study = parse(whole + quota)
    levels = {t["quota"] for t in design(study, HostFacts(cpus=CPUS)).configurations}
    assert levels == {0.5, 1, 1.5, "none"}
    refused = HostFacts(cpus=CPUS, refused={"quota": "EACCES: no permission to make a cgroup"})
    assert {t["quota"] for t in design(study, refused).configurations} == {"none"}
