"""The page as a file: size, sameness, escaping, and what it must say without a script."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.kit import samples

import scalograph.report
from scalograph.analysis.estimate import Estimate
from scalograph.errors import HostError
from scalograph.protocol.findings import Column, Findings, TableDoc
from scalograph.report.cells import table_layout
from scalograph.report.html import page, write
from scalograph.report.machine_facts import facts
from scalograph.report.payload import payload
from scalograph.report.rows import body

Made = Callable[[str], str]
MB = 1_000_000
ROOM = Path(scalograph.report.__file__).parent
SAMPLES = ["small", "bare", "one_point", "all_failed", "many_points", "wide_machine", "hostile"]


class Elements(HTMLParser):
    """Every element, attribute and visible text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def made() -> Made:
    """The page of a sample, by its name, for all who read it."""
    return cache(lambda name: page(getattr(samples, name)()))


def unpacked(html: str) -> dict[str, Any]:
    found = re.search(r'id="data">([^<]*)<', html)
    assert found is not None
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def test_a_whole_study_is_under_3_mb_with_3000_configurations_or_64_timelines_of_64_cpus(made: Made) -> None:
    findings = samples.full(levels=range(1, 109))
    assert sum(len(table.rows) for table in findings.tables) > 3000
    assert all(len(html.encode()) < 3 * MB for html in (made("full"), page(findings), made("wide_machine")))


def test_cells_rest_on_a_list_hold_no_markup_and_set_back_what_repeats() -> None:
    html = page(samples.small())
    assert html.count("Student t on log scores") < html.count("<td ")
    assert all("runs" in hint for hint in json.loads(hinted(html)))
    assert "<img" not in str(body(table_layout(samples.hostile().tables[0])))
    columns = [Column(name="kind", kind="label"), Column(name="change", kind="estimate")]
    rows = [["a-1", Estimate(value=-1.5, low=-2.5, high=-0.5, n=3)], ["a-1", Estimate(1.0, 0.5, 1.5, n=3)]]
    html = str(body(table_layout(TableDoc(id="t", title="t", columns=columns, rows=rows))))
    assert html.count("\N{MINUS SIGN}") == 3 and html.count("a-1") == 2 and html.count("again") == 1


def test_a_disk_that_refuses_is_said_and_a_report_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.mkdir()
    with pytest.raises(HostError, match=r"report\.html: cannot be written"):
        write(samples.bare(), [], path)
    other = tmp_path / "other.html"
    other.write_text("kept", encoding="utf-8")
    path.rmdir()
    path.symlink_to(other)
    write(samples.bare(), [], path)
    assert other.read_text(encoding="utf-8") == "kept"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_same_findings_same_bytes_and_their_policy_lets_in_nothing_from_outside(made: Made, name: str) -> None:
    assert made(name) == page(getattr(samples, name)())
    found = Elements(made(name))
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy") or ""
    assert policy.startswith("default-src 'none'; script-src 'nonce-")
    assert not any(word in policy for word in ("unsafe-eval", "unsafe-inline", "http"))
    for tag, attributes in found.tags:
        assert tag not in ("link", "img", "iframe", "object", "base", "form")
        assert not {"src", "style"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")


def test_hostile_text_shows_literally_and_null_is_a_dash_with_the_reason(made: Made) -> None:
    html = made("hostile")
    found = Elements(html)
    assert not any(text in html for text in ("<img src=x", "\u2028", "\x1b"))
    assert sum("<img src=x onerror=alert(1)>" in text for text in found.texts) >= 4
    assert not any("49" in text for text in found.texts if "{{" not in text and "7*7" in text)
    html = made("all_failed")
    assert json.loads(hinted(html))[0] == (hint := "need >= 1 run for a value, have 0")
    assert "data-h=0>–" in html and f"</sup> {hint}".replace(">=", "&gt;=") in html


def test_the_page_steps_down_from_the_verdict_and_the_answer(made: Made) -> None:
    words = " ".join(Elements(made("full")).texts)
    order = [
        "On two CPUs",
        "60 of 2,240 runs",
        "56 runs: another program",
        "Charts",
        "Tables",
        "Data quality",
        "Machine",
    ]
    start = words.index("On two CPUs")
    places = [words.index(text, start if text != "Machine" else words.rindex("Data quality")) for text in order]
    assert places == sorted(places)
    levels = [int(tag[1]) for tag, _ in Elements(made("full")).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in pairwise(levels))


def test_a_page_without_script_still_tells_all_and_leads_to_its_warnings(made: Made) -> None:
    found = Elements(made("small"))
    words = " ".join(" ".join(found.texts).split())
    assert "switched off here" in words
    for text in ("1.93", "[1.88, 1.97]", "43.1763", "performance", "perf_event_paranoid", "scalograph study thread"):
        assert text in words
    assert sum(tag == "caption" for tag, _ in found.tags) == 3
    html = made("small")
    assert '<a href="#warnings">Warnings (1)</a>' in html and 'id="warnings"' in html
    assert "#warnings" not in made("bare")
    nonces = [re.search(r"'nonce-([^']+)'", made(f))[1] for f in ("small", "bare")]  # type: ignore[index]
    assert nonces[0] != nonces[1]


def test_facts_of_the_machine_are_named_in_words_and_those_of_alike_records_by_fields() -> None:
    topology = [{"cpu": n, "core": n // 2, "package": 0} for n in range(64)]
    assert facts({"topology": topology}) == [("topology", "cpu: 0 to 63; core: 0 to 31; package: 0")]
    assert facts({"topology": [{"cpu": 0}, {"cpu": 1}], "flags": []}) == [("topology", "cpu: 0, 1"), ("flags", "none")]
    caches = {"L1d_bytes": 49152, "L2_bytes": 1310720}
    assert facts({"caches": caches, "clock_mhz": 2793.436, "disk_rotational": False}) == [
        ("clock when it was read (MHz)", "2,793.44"), ("caches of a CPU", "L1d: 48 KiB; L2: 1.25 MiB"),
        ("disk of / rotates (as the kernel has it)", "no"),
    ]  # fmt: skip


def hinted(html: str) -> str:
    """The texts that cells of the first table with any point into."""
    return next(a["data-hints"] or "" for _, a in Elements(html).tags if "data-hints" in a)


def test_samples_keep_every_score_of_every_run_once() -> None:
    findings: Findings = samples.small()
    drawn = payload(findings)["samples"]
    responses = [point.responses["wall"] for curve in findings.curves for point in curve.points]
    expected = {pair for one in responses for pair in zip(one.runs, one.scores, strict=True)}
    assert set(zip(drawn["run"], drawn["scores"]["wall"], strict=True)) == expected
    assert drawn["digits"] is None
    findings: Findings = samples.one_point()
    again = findings.curves[0].model_copy(deep=True)
    again.factor, again.group = "cpus", {"threads": 1, "lock": "none", "quantum": "small"}
    again.points[0].level = 2
    findings.curves.append(again)
    data = payload(findings)
    assert len(data["samples"]["run"]) == 1 and len(data["families"]) == 2


def test_what_a_curve_or_a_timeline_lacks_is_not_drawn() -> None:
    findings: Findings = samples.small()
    points = findings.curves[0].points
    points[1].speedup = Estimate(value=0.0, low=0.0, high=0.0)
    points[2].speedup = Estimate(warnings=("need runs of the baseline",))
    drawn = payload(findings)["families"][0]["curves"][0]["points"]
    assert drawn[1]["values"]["speedup"][0] == 0.0 and "speedup" not in drawn[2]["values"]
    findings: Findings = samples.small()
    good = findings.timelines[0]
    breaks: list[dict[str, Any]] = [{}, {**good.timeline, "busy_ns": [[1]]}, {**good.timeline, "bin_ns": 0}]
    breaks += [{**good.timeline, "waiting_ns": ["x"]}, {**good.timeline, "cpus": None}]
    findings.timelines += [good.model_copy(update={"timeline": broken}) for broken in breaks]
    (timelines,) = payload(findings)["after"]
    assert len(timelines.views) == 1
    findings: Findings = samples.small()
    findings.timelines[0].timeline["tasks"] = None
    (timelines,) = payload(findings)["after"]
    (plot,) = timelines.views[0].plots
    assert [details.summary for details in plot.details] == ["This timeline as a table"]


def test_the_vendored_library_is_the_one_that_its_readme_names() -> None:
    readme = (ROOM / "vendor" / "README.md").read_text(encoding="utf-8")
    library = gzip.decompress((ROOM / "vendor" / "plotly-small.min.js.gz").read_bytes())
    assert hashlib.sha256(library).hexdigest() in readme
    assert (ROOM / "vendor" / "LICENSE.plotly").read_text(encoding="utf-8").startswith("MIT License")


@pytest.mark.parametrize("scheme", [0, 1])
def test_lines_stand_out_from_the_paper_in_both_schemes(scheme: int) -> None:
    css = (ROOM / "page" / "css" / "base.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"--([\w-]+): (#\w{6});", css.split("@media screen")[scheme]))
    for name, color in colors.items():
        needed = 3.0 if name.startswith("line") or name == "wait" else 4.5
        if name not in ("paper", "raised", "rule"):
            assert contrast(color, colors["paper"]) >= needed, name


def contrast(*colors: str) -> float:
    """Contrast of two colors as the accessibility guidelines define it."""
    dark, light = sorted(map(luminance, colors))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_sections_have_their_standard_names(made: Made) -> None:
    html = made("full")
    titles = dict(re.findall(r'<h2 id="([\w-]+)-title"[^>]*>([^<]+)<', html))
    assert {name: titles[name] for name in ("noise", "glossary", "figures")} == {
        "noise": "Data quality", "glossary": "Glossary", "figures": "Charts",
    }  # fmt: skip
    assert set(re.findall(r'<a href="#([\w-]+)"', html.split("<nav")[1].split("</nav")[0])) <= {*titles}
    marks = re.findall(r'id="word-([\w-]+)"', html)
    assert {"counted", "inconclusive", "disturbed", "excluded"} <= {*marks}
