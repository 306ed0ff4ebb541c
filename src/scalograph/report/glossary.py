"""The words of the page, one for each thing, as docs/concepts.md has them."""

GLOSSARY = (
    ("run", "One launch of the program under one configuration."),
    ("configuration", "One level for each factor."),
    ("factor, level", "A variable that was set on purpose, and one of its values."),
    ("block", "A stretch of time in which every configuration runs once, in an order drawn anew."),
    ("clean", "No measured cause disturbed the run."),
    ("disturbed", "A measured cause, such as another guest on the same CPU, took more than a run can bear."),
    (
        "unverified",
        "Counted, though nothing could show that the run was clean. Drawn as a ring, like a disturbed run that counts.",
    ),
    ("counted", "The estimates rest on this run. Drawn as a dot."),
    ("left out", "The estimates do not rest on this run. Drawn as an x."),
    ("interval", "Covers the true value in 95 of 100 studies whose runs do not drift. In figures: the bars."),
    ("band", "An interval that holds for all levels of a curve at once. In figures: the shading around a line."),
    ("not resolved", "The interval is too wide to say which is larger."),
    ("holds", "Of a published claim: the whole interval of each of its figures lies in the range that bears it out."),
    ("does not hold", "The whole interval of one of its figures lies outside that range."),
    ("published", "In figures: dotted with hollow marks, in the color of the line that was measured here."),
    ("baseline", "The level that a speedup is taken over."),
    ("cliff", "A place along a factor where the time jumps by a fifth or more."),
    ("break-even", "The levels at which two versions take as long as each other."),
    ("speedup", "Time at the baseline over time at this level; of work per worker, the ratio of the rates."),
    ("ideal", "A speedup that grows with the CPUs in use. In figures: the dashed gray line."),
    ("efficiency", "Speedup over the growth of the CPUs in use."),
    ("serial fraction", "The share of the work that one worker does alone, as Karp and Flatt read it from a speedup."),
    (
        "scaling law",
        "A thin line fitted to a speedup; dotted beyond the data. The diamond N* is the size at which it is largest.",
    ),
)
