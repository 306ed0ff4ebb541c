"""The grid that a command line names."""

import pytest

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.errors import StudyError
from scalograph.questions.best.find import BestOptions
from scalograph.study.load import parse
from scalograph.study.shapes import Shape


def test_options_become_a_study_with_its_default_and_its_shapes() -> None:
    options = BestOptions(
        factor=["threads=1:8", "ranks=1:4"], option=["-O2,-O3"], env=["OMP_SCHEDULE=static,dynamic", "HOME"],
        shape=["ranks*threads=8"], default="threads=2,ranks=4", margin="3%",
    )  # fmt: skip
    asked = options.factors()
    study = parse(study_text(CommandStudy(("./p", "{threads}", "{ranks}", "{arguments}"), asked, question="best")))
    assert [*study.factors] == ["threads", "ranks", "o3", "omp_schedule"]
    assert study.factors["omp_schedule"].control == "env:OMP_SCHEDULE"
    assert (study.baseline, study.shape) == ({"threads": 2, "ranks": 4}, ["ranks*threads=8"])
    assert (asked.precision, asked.fills) == ("3%", "arguments")


@pytest.mark.parametrize(("options", "message"), [
    (BestOptions(), "find best: nothing to vary"),
    (BestOptions(factor=["1:8"]), "--factor: '1:8', expected NAME=LEVELS"),
    (BestOptions(factor=["a=1,2", "a=3"]), "a is given twice"),
    (BestOptions(factor=["a=1,2"], default="b=1"), '--default: "b" is not varied, expected one of a'),
    (BestOptions(factor=["a=1,2"], default="a"), "--default: 'a', expected NAME=LEVEL"),
    (BestOptions(factor=["a=1,2"], margin="0%"), "--margin: '0%', expected a share between 0 and 100%"),
    (BestOptions(option=["-O2,,-O3"]), "--option: found an empty item"),
])  # fmt: skip
def test_what_names_no_grid_is_one_message(options: BestOptions, message: str) -> None:
    with pytest.raises(StudyError) as error:
        options.factors()
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["", "a", "a=", "a*=4", "a=b", "a=4=4", "a==4", "a=1e3", "A=4", "4=a", "a=-4"])
def test_other_texts_are_no_shape(text: str) -> None:
    assert Shape.parse(text) is None


def test_a_level_that_is_no_count_meets_no_shape() -> None:
    shape = Shape.parse(" ranks * threads <= cores ")
    assert shape == Shape(("ranks", "threads"), "<=", None)
    assert shape.holds({"ranks": 2, "threads": 2}, 4) and not shape.holds({"ranks": 2, "threads": 3}, 4)
    assert not shape.holds({"ranks": 2}, 4) and not shape.holds({"ranks": 2.0, "threads": 1}, 4)
