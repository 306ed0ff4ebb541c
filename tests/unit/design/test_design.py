import re
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.cli.command_line_study.option_texts import AskedFactors
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, expected_seconds, seconds_per_configuration
from scalograph.design.resolve import assumed_host, design
from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.study.levels import Run
from scalograph.study.load import parse
from scalograph.study.workload import Parameter, Requirement, Workload, refusals
from tests.kit import ROOT
from tests.kit.findings import CONFIGURATIONS
from tests.kit.refusals import refuses
from tests.kit.studies import VALID, facts_of

HOST = facts_of(4)
PAGE = ROOT / "docs/howto/cpu-surface.md"
CPUS = tuple(CpuFact(cpu=n, core=n) for n in range(2))


def runs_of(made: Design) -> list[Run]:
    planner, runs = GridPlanner(made), []
    while run := planner.ask():
        runs.append(run)
        planner.tell(run, {}, "clean")
    return runs


def test_each_block_holds_every_configuration_once_and_baselines_more_often() -> None:
    made = design(parse(VALID.replace('"1,2,4"', '"1,2,4,8,16"')), HOST)
    for block in range(3):
        counts = Counter(tuple(run.configuration.values()) for run in runs_of(made) if run.block == block)
        assert len(counts) == 10
        assert {key: n for key, n in counts.items() if n > 1} == {(1, "none"): 2, (1, "cas"): 2}
    assert len(runs_of(made)) == made.n_runs == 36


def test_the_order_is_the_seeds_and_names_and_replicates_count_up() -> None:
    first, again = runs_of(design(parse(VALID), HOST)), runs_of(design(parse(VALID), HOST))
    other = runs_of(design(parse(VALID.replace("seed = 0", "seed = 1")), HOST))
    assert first == again and first != other
    orders = [tuple(str(r.configuration) for r in first if r.block == block) for block in range(3)]
    assert len(set(orders)) > 1
    runs = runs_of(design(parse(VALID), HOST))
    assert len({run.run for run in runs}) == len(runs)
    replicates = [run.replicate for run in runs if run.configuration == {"threads": 2, "lock": "cas"}]
    assert replicates == [0, 1, 2]
    made = design(
        parse(VALID.replace("runs = 3", 'runs = 3\norder = "declared"').replace("[baseline]\nthreads = 1", "")), HOST
    )
    assert [run.configuration["threads"] for run in runs_of(made)][:6] == [1, 1, 2, 2, 4, 4]
    made = design(parse(VALID.replace("runs = 3", "runs = 3\nwarmup_runs = 2")), HOST)
    runs = runs_of(made)
    assert [run.warmup for run in runs[:3]] == [True, True, False] and len(runs) == made.n_runs + 2


def test_a_block_has_the_runs_of_a_kernel_that_is_booted_beside_each_other() -> None:
    far = HOST.model_copy(update={"reached": "ssh", "offered_kernels": ("6.1-far", "6.12-far")})
    kernels = '[factors.kernel]\nlevels = ["all"]\ncontrol = "kernel"\n\n[protocol]'
    made = design(parse(VALID.replace("[protocol]", kernels).replace("runs = 3", "runs = 8")), far)
    blocks = [[run.configuration for run in runs_of(made) if run.block == block] for block in range(8)]
    firsts = [[level for level, _ in groupby(one["kernel"] for one in block)] for block in blocks]
    assert {tuple(first) for first in firsts} == {("6.1-far", "6.12-far"), ("6.12-far", "6.1-far")}
    assert len({str(block) for block in blocks}) == 8 and len({str(sorted(map(str, block))) for block in blocks}) == 1


def test_kernels_are_planned_or_refused_without_a_look_at_a_machine() -> None:
    kernels = '[factors.kernel]\nlevels = LEVELS\ncontrol = "kernel"\n\n[protocol]'
    for levels in (["6.1.0-27-amd64", "6.12.9+deb13-amd64"], ["6.1-cloud", "rt@sid"]):
        study = parse(VALID.replace("[protocol]", kernels.replace("LEVELS", str(levels))))
        assert {one["kernel"] for one in design(study, assumed_host(study, 4)).configurations} == set(levels)
    study = parse(VALID.replace("[protocol]", kernels.replace("LEVELS", '["clod"]')))
    refuses(StudyError, "'clod', expected generic, cloud, rt", design, study, assumed_host(study, 4))


def test_exclusions_and_refused_configurations_are_dropped_by_name() -> None:
    made = design(parse(VALID + '[[exclude]]\nthreads = [2, 4]\nlock = ["cas"]\n'), HOST)
    assert [tuple(t.values()) for t in made.configurations] == [(1, "none"), (1, "cas"), (2, "none"), (4, "none")]
    made = design(parse(VALID), HOST, lambda t: "cas needs more" if t["lock"] == "cas" else None)
    assert len(made.configurations) == 3 and made.dropped == ("3 configurations not planned: cas needs more",)
    refuses(StudyError, "no configuration is left", design, parse(VALID), HOST, lambda t: "nothing works")
    made = design(parse(VALID + "[[exclude]]\nthreads = [1]\n"), HOST)
    assert made.dropped == ("no configuration with the baseline threads = 1 is planned: no speedups",)


def test_all_is_spelled_out_for_the_host_and_what_is_beyond_is_refused() -> None:
    text = VALID.replace('levels = "1,2,4"', 'levels = "1,2,4"\n[factors.cpus]\ncontrol = "cpus"\nlevels = "LEVELS"')
    assert design(parse(text.replace("LEVELS", "1:all")), HOST).study.factors["cpus"].levels == [1, 2, 3, 4]
    with pytest.raises(StudyError, match=r'factors\.cpus: "1,5" needs 5 CPUs; this host has 4'):
        design(parse(text.replace("LEVELS", "1,5")), HOST)
    text = VALID.replace("[factors.lock]", '[factors.cpus]\ncontrol = "cpus"\nlevels = "1:all"\n[factors.lock]')
    with pytest.raises(StudyError, match=r"baseline.cpus: level 7 is not among the levels of cpus on this host, .* 4;"):
        design(parse(text.replace("threads = 1", "cpus = 7")), HOST)
    assert design(parse(text.replace("threads = 1", "cpus = 4")), HOST).configurations


@given(st.lists(st.integers(0, 20), max_size=21, unique=True))
def test_told_in_any_order_it_asks_for_what_is_left_in_order(done: list[int]) -> None:
    made = Design(parse(VALID), tuple(CONFIGURATIONS), (), {0: 2})
    runs = runs_of(made)
    planner = GridPlanner(made)
    for index in done:
        planner.tell(runs[index], {}, "clean")
    left = [run for index, run in enumerate(runs) if index not in done]
    assert planner.n_left == len(left) and planner.ask() == (left[0] if left else None)


def test_time_is_unknown_until_something_was_timed() -> None:
    made = design(parse(VALID), HOST)
    assert expected_seconds(made, {}) is None
    known = seconds_per_configuration([({"threads": 1, "lock": "none"}, 2.0), ({"lock": "none", "threads": 1}, 4.0)])
    assert expected_seconds(made, known) == pytest.approx(3.0 * made.n_runs)


def placed(levels: str, more: str = "", baseline: str = "threads = 1") -> str:
    """A study with a factor of placements; no host here has SMT."""
    where = f'[factors.where]\ncontrol = "placement"\nlevels = {levels}\n{more}\n[factors.lock]'
    return VALID.replace("[factors.lock]", where).replace("threads = 1", baseline)


def test_levels_that_a_host_need_not_grant_are_left_out_by_name() -> None:
    text = placed('["compact", "siblings"]', "OPTIONAL")
    made = design(parse(text.replace("OPTIONAL", 'if_granted = ["siblings"]')), HOST)
    assert made.study.factors["where"].levels == ["compact"]
    assert len(made.dropped) == 1 and made.dropped[0].startswith("where: excluded, placement siblings")
    refuses(StudyError, "siblings", design, parse(text.replace("OPTIONAL", "")), HOST)
    refuses(StudyError, "is not among the levels of where", parse, text.replace("OPTIONAL", 'if_granted = ["sibling"]'))


def test_where_nothing_is_granted_or_a_baseline_is_left_alone_nothing_is_measured() -> None:
    granted, compact = 'if_granted = ["siblings"]', 'where = "compact"'
    alone, beside = placed('["siblings"]', granted), placed('["compact", "siblings"]', granted, compact)
    for text, ending in ((alone, "; use"), (beside, " to compare compact with; use")):
        said = f"factors.where: placement siblings on a host without SMT, expected a level of where{ending}"
        refuses(HostError, said, design, parse(text), HOST)
    # A factor of one level was declared so: nothing is refused.
    assert design(parse(placed('["compact"]', "", compact)), HOST).configurations
    assert design(parse(placed('["compact", "siblings", "scatter"]', granted, compact)), HOST).dropped


def test_an_assumed_host_shares_cores_where_that_is_the_question() -> None:
    levels = '["compact", "siblings"]'
    assert [cpu.core for cpu in assumed_host(parse(placed(levels)), 4).cpus] == [0, 1, 2, 3]
    asked = parse(placed(levels, "", 'where = "compact"'))
    assert [cpu.core for cpu in assumed_host(asked, 4).cpus] == [0, 0, 1, 1]
    assert design(asked, assumed_host(asked, 4)).study.factors["where"].levels == ["compact", "siblings"]


@pytest.mark.parametrize("name", ["jvm", "which_java"])
@pytest.mark.parametrize("old", ['"17"', '"/j/17/bin/java"'])
def test_a_jvm_that_is_too_old_is_found_whatever_the_factor_is_called(name: str, old: str) -> None:
    jvms = tuple(Jvm(name=str(r), java=f"/j/{r}/bin/java", release=r, build=f"{r}.0.1") for r in (17, 21))
    factor = f'[factors.{name}]\ncontrol = "jvm"\nlevels = [{old}, "21"]\n[factors.lock]'
    study = parse(VALID.replace("[factors.lock]", factor))
    parameters = {"lock": Parameter(type="text", default="none")}
    requires = [Requirement(when={"lock": ["cas"]}, java_release=21)]
    workload = Workload(name="w", title="t", argv=["{java}"], parameters=parameters, requires=requires)
    host = HOST.model_copy(update={"jvms": jvms})
    made = design(study, host, refusals(workload, {}, host))
    assert made.dropped == ("3 configurations not planned: lock = cas needs Java 21 or later, the JVM 17 is 17",)
    without = design(parse(VALID), host, refusals(workload, {}, host))
    assert len(without.configurations) == 3, "the default JVM is the first"


def test_an_assumed_host_obeys_and_has_the_jvms_of_the_study() -> None:
    factor = '[factors.which]\ncontrol = "jvm"\nlevels = [17, "21-temurin", "default", "/opt/java"]\n'
    factor += '[factors.policy]\ncontrol = "policy"\nlevels = ["fifo:99"]\n'
    factor += '[factors.n]\ncontrol = "cpus"\nlevels = "1:all"\n'
    study = parse(VALID.replace("[factors.lock]", factor + "[factors.lock]"))
    host = assumed_host(study, 3)
    assert [(jvm.name, jvm.release) for jvm in host.jvms[1:3]] == [("17", 17), ("21-temurin", 21)]
    made = design(study, host)
    assert made.study.factors["which"].levels == [17, "21-temurin", "assumed", "/opt/java"]
    assert made.study.factors["n"].levels == [1, 2, 3] and not made.dropped


def test_the_study_of_the_page_and_its_quota_where_it_is_granted_and_where_not() -> None:
    (quota,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    command = CommandStudy(("./prog",), AskedFactors({"copies": "1,2,3,4,6,8", "cpus": "1:all"}, per_worker=True))
    whole = study_text(command)
    assert len(design(parse(whole), HostFacts(cpus=CPUS)).configurations) == 6 * 2
    study = parse(f"{whole}\n{quota}")
    levels = {t["quota"] for t in design(study, HostFacts(cpus=CPUS)).configurations}
    assert levels == {0.5, 1, 1.5, "none"}
    refused = HostFacts(cpus=CPUS, refused={"quota": "EACCES: no permission to make a cgroup"})
    assert {t["quota"] for t in design(study, refused).configurations} == {"none"}
