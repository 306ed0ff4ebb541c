"""A comparison as JUnit XML, which most CI services show: a test case for each configuration, and one for the whole."""

import xml.etree.ElementTree as ET

from scalograph.protocol.compared_results import (
    ConfigurationRatio,
    LostConfiguration,
    ResultComparison,
    ResultComparisons,
)
from scalograph.protocol.watched_series import Watch
from scalograph.study.scalars import format_value
from scalograph.text.escape import one_line
from scalograph.text.format import estimate
from scalograph.text.scale import Scale
from scalograph.text.summaries import point_name, size_text

_PLAIN = Scale(1.0, "")


def junit(comparisons: ResultComparisons, passes: bool, sentence: str) -> str:
    """Return the XML document.

    The whole fails unless `passes`, with the `sentence` of the answer. A configuration fails if it is slower, is an
    error if it failed or is missing, and is skipped if it is inconclusive or allowed to be missing.
    """
    suites = ET.Element("testsuites")
    for result in comparisons.results:
        cases = [
            _whole(result, passes, sentence),
            *map(_configuration_case, result.configurations),
            *map(_lost_case, result.lost),
        ]
        counted = {name: str(sum(case.find(tag) is not None for case in cases)) for name, tag in _COUNTS.items()}
        named = {"name": one_line(f"{result.other} vs. {result.reference}"), "tests": str(len(cases))}
        ET.SubElement(suites, "testsuite", {**named, **counted}).extend(cases)
    return _document(suites)


_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _whole(result: ResultComparison, passes: bool, sentence: str) -> ET.Element:
    case = ET.Element("testcase", name="gate", classname=one_line(result.other))
    if not passes:
        ET.SubElement(case, "failure", message=one_line(sentence))
    return case


def _configuration_case(row: ConfigurationRatio) -> ET.Element:
    case = ET.Element("testcase", name=_name(row), classname="configuration")
    text = f"{row.shown}: ratio {estimate(row.ratio, _PLAIN)}"
    if row.shown == "slower":
        ET.SubElement(case, "failure", message=one_line(text))
    elif row.shown == "inconclusive":
        ET.SubElement(case, "skipped", message=one_line(f"{text}{f' ({row.doubt})' if row.doubt else ''}"))
    return case


def _lost_case(row: LostConfiguration) -> ET.Element:
    case = ET.Element("testcase", name=one_line(row.name), classname="configuration")
    texts = {"failed": f"failed in {row.n_failed} of {row.n_runs} runs", "unread": "cannot be read"}
    text = texts.get(row.why, row.why)
    ET.SubElement(case, "skipped" if row.allowed else "error", message=text)
    return case


def _name(row: ConfigurationRatio) -> str:
    return one_line(" ".join(f"{name}={format_value(level)}" for name, level in row.levels.items()))


def watch_junit(watched: Watch) -> str:
    """Return JUnit XML of all series: one fails that became worse; one that was not tested is skipped."""
    suite = ET.Element("testsuite", name="watch", tests=str(len(watched.series)))
    for series in watched.series:
        name = one_line(f"{series.figure}, {series.lane}")
        case = ET.SubElement(suite, "testcase", name=name, classname=one_line(series.study))
        if change := series.alarm:
            text = f"{size_text(series, change)} from {point_name(change)} on"
            ET.SubElement(case, "failure", message=one_line(text))
        elif not series.is_tested:
            ET.SubElement(case, "skipped", message="too few results, or none within the time")
    for name, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in suite)))
    suites = ET.Element("testsuites")
    suites.append(suite)
    return _document(suites)


def _document(suites: ET.Element) -> str:
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'
