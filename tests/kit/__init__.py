"""What tests share: studies, records, findings, machines, commands and refusals that a test makes up.

`studies.a_study` writes a study, `records.recorded` a run, `findings.findings_of` answers it; `command.in_process` is
the command as a user has it; `simulated.run` carries a study on a machine that is a function of the run.
`pages.Visit` is a page in a browser, `workloads.said` what a workload says, `servers.write_served` a server and driver.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "recorded"
EXAMPLES = ROOT / "protocol" / "examples"
