"""What tests share: studies, records, findings, machines, commands and refusals that a test makes up.

`studies.a_study` writes a study, `records.recorded` a run, `findings.findings_of` answers it; `command.in_process` is
the command as a user has it; `simulated.run` carries a study on a machine that is a function of the run.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "recorded"
EXAMPLES = ROOT / "protocol" / "examples"
