"""A study's curves under the machine's ceiling: which point is compared, what is said, what is shown."""

from scalograph.machine.ceiling.compare_ceiling import (
    MAX_SENTENCES,
    add_ceiling,
    compare_ceiling,
    reach,
    speedups_by_cpus,
)
from scalograph.protocol.findings import Claim, Curve, Findings
from scalograph.protocol.machine_ceiling import Ceiling
from tests.unit.machine.ceiling.made import KINDS, ceiling, curve, findings


def said(reached: float, kinds: dict[str, float] | None = None) -> str:
    """The sentence about a program that reaches this with two threads on two CPUs."""
    made = compare_ceiling(findings(curve({1: (1.0, 2), 2: (reached, 2)})), ceiling(kinds or KINDS))
    assert len(made.answer) == 2
    return made.answer[1]


def test_the_box_is_told_first() -> None:
    made = compare_ceiling(findings(curve({1: (1.0, 2), 2: (1.25, 2)})), ceiling())
    assert made.answer[0].startswith("On 2 CPUs this box scales arithmetic to 1.98x [")
    assert "one lock that is taken all the time to 0.400x [" in made.answer[0]
    claim = Claim(sentences=["So.", "Thus.", "And."])
    told = add_ceiling(
        findings(curve({1: (1.0, 2), 2: (1.25, 2)})).model_copy(update={"claim": claim}), ceiling()
    ).claim
    assert told and told.sentences == ["So.", "Thus.", made.answer[0]]


def test_what_the_box_gives() -> None:
    text = said(1.25)
    assert text.startswith(
        "Your program: 1.25x [1.23, 1.27] on 2 CPUs, which is what this box gives to memory bandwidth"
    )
    assert "page faults" not in text and "arithmetic" not in text


def test_it_is_the_program() -> None:
    text = said(1.0)
    assert "below every ceiling of this box (the lowest: memory bandwidth 1.30x" in text
    assert text.endswith("it is the program.")


def test_a_program_that_scales_like_a_lock_is_told_so() -> None:
    text = said(0.4)
    assert "it is the program; one lock that is taken all the time 0.400x" in text and text.endswith("look for that.")


def test_the_box_ends() -> None:
    assert "as far as this box scales anything (arithmetic 1.98x" in said(1.95)


def test_between_two_ceilings_neither_is_blamed() -> None:
    text = said(1.45, {"arithmetic": 1.98, "memory": 1.2})
    assert "below arithmetic 1.98x" in text and "; above memory bandwidth 1.20x" in text
    assert "it is the" not in text


def test_above_all_of_them_the_baseline_is_suspected() -> None:
    assert "more than any ceiling of this box" in said(2.6)


def test_more_workers_than_cpus_use_the_cpus_that_there_are() -> None:
    made = curve({1: (1.0, 2), 2: (1.6, 2), 8: (1.9, 2)})
    assert {n: estimate.value for n, estimate in speedups_by_cpus(findings(made), made).items()} == {1: 1.0, 2: 1.6}


def test_without_a_level_for_each_cpu_the_next_one_stands_for_it() -> None:
    made = curve({1: (1.0, 2), 8: (1.9, 2)})
    found = reach(findings(made), made, ceiling())
    assert found and (found.n_cpus, found.speedup.value) == (2, 1.9)


def test_a_curve_of_cpus_has_its_levels() -> None:
    made = curve({1: (1.0, 1), 2: (1.9, 2)}, "cpus")
    found = reach(findings(made, control="cpus"), made, ceiling())
    assert found and (found.baseline, found.n_cpus) == (1, 2)


def test_the_most_cpus_that_both_have() -> None:
    made = curve({1: (1.0, 8), 2: (1.9, 8), 8: (3.0, 8)})
    found = reach(findings(made), made, ceiling())
    assert found and (found.n_cpus, found.speedup.value) == (2, 1.9)


def nothing(made: Curve, found: Findings) -> None:
    assert reach(found, made, ceiling()) is None
    answer = compare_ceiling(found, ceiling()).answer
    assert len(answer) == 2 and answer[1].startswith("No curve of this study can be held against it")


def test_no_baseline_one_cpu_or_no_count_is_no_comparison() -> None:
    made = curve({1: (1.0, 2), 2: (1.9, 2)})
    nothing(made, findings(made, baseline=None))
    nothing(one := curve({1: (1.0, 1), 2: (1.0, 1)}), findings(one))
    nothing(odd := curve({3: (1.0, 8), 5: (1.5, 8)}), findings(odd, baseline=3))


def test_of_many_curves_the_furthest_behind_are_told_and_all_are_shown() -> None:
    many = [curve({1: (1.0, 2), 2: (0.5 + n / 10, 2)}, group={"kind": n}) for n in range(12)]
    made = compare_ceiling(findings(*many), ceiling())
    assert len(made.answer) == 1 + MAX_SENTENCES and made.answer[1].startswith("kind 0: 0.500x")
    assert len(made.tables[1].rows) == 12


def test_the_tables_fit_their_columns() -> None:
    made = compare_ceiling(findings(curve({1: (1.0, 2), 2: (1.25, 2)})), ceiling())
    assert [table.id for table in made.tables] == ["ceilings", "against-ceilings"]
    assert all(len(row) == len(table.columns) for table in made.tables for row in table.rows)
    (row,) = made.tables[1].rows
    cells = dict(zip([column.name for column in made.tables[1].columns], row, strict=True))
    assert (cells["memory bandwidth"], cells["arithmetic"]) == ("alike", "below")
    assert cells["one lock that is taken all the time"] == "above"


def test_the_document_has_each_point() -> None:
    one, two = compare_ceiling(findings(), ceiling()).document["memory"]
    assert (one.n_cpus, one.speedup and one.speedup.value, two.n) == (1, 1.0, 5)
    assert two.speedup and two.speedup.contains(1.3)


def test_joined_keeps_what_was_there_and_warns() -> None:
    found = add_ceiling(findings(), ceiling().model_copy(update={"warnings": ("not kept",)}))
    assert found.answer[0] == "first" and found.answer[-1] == "not kept" and found.tables[0].id == "ceilings"
    assert Findings.model_validate_json(found.model_dump_json()) == found


def test_a_machine_of_one_cpu_has_no_sentence_of_it() -> None:
    lone = Ceiling(kinds={kind: parts[:1] for kind, parts in ceiling().kinds.items()})
    assert compare_ceiling(findings(), lone).answer == []
