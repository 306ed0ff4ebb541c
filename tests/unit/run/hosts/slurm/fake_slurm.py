"""Slurm in tests: its commands as shell scripts over a folder; jobs run here at once, and faults are files in it."""

import os
from pathlib import Path

import pytest

from scalograph.design import ladder
from scalograph.run.hosts.slurm import job_queue
from tests.kit.processes import write_program

# Every command first tells that the controller is away, as often as the number in `away` says.
_FIRST = """\
#!/bin/sh
here=$PWD
cd {state} || exit 1
echo "$(basename "$0") $*" >>calls
if [ "${{0##*/}}" != srun ] && [ -s away ] && [ "$(cat away)" -gt 0 ]; then
  echo $(($(cat away) - 1)) >away
  echo "${{0##*/}}: error: Unable to contact slurm controller (connect failure)" >&2
  exit 1
fi
"""
# `refused` is why no job is taken; `lost` how jobs end at once, a line for each; `unanswered`: taken without a word.
_SBATCH = """\
if [ -s refused ]; then cat refused >&2; exit 1; fi
for word; do case $word in
  --job-name=*) name=${word#*=} ;; --nodes=*) nodes=${word#*=} ;; --output=*) output=${word#*=} ;;
  --*) ;; *) break ;;
esac; shift; done
id=$(($(ls jobs | wc -l) + 101))
mkdir "jobs/$id"; echo "$name" >"jobs/$id/name"
export SLURM_JOB_ID=$id SLURM_JOB_NODELIST=$(seq -s, -f n%g "$nodes") SLURM_JOB_NUM_NODES=$nodes
if [ -s lost ]; then
  head -n 1 lost >"jobs/$id/state"; sed -i 1d lost
else
  state=$PWD/jobs/$id
  setsid sh -c '"$@" && end=COMPLETED || end="FAILED NonZeroExitCode"
    [ -e "$0/state" ] || echo "$end" >"$0/state"' "$state" "$@" >>"$output" 2>&1 </dev/null &
  echo $! >"jobs/$id/pid"
fi
if [ -e unanswered ]; then rm unanswered; echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1; fi
echo "$id"
"""
_SQUEUE = """\
for word; do case $word in
  --steps) exit 0 ;;
  --name=*) grep -lx -- "${word#*=}" jobs/*/name | cut -d/ -f2; exit 0 ;;
  --jobs=*) id=${word#*=} ;;
esac; done
[ -d "jobs/$id" ] || { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }
if [ -e "jobs/$id/state" ]; then sed 's/ /|/; s/^[A-Z_]*$/&|None/' "jobs/$id/state"
elif [ -e held ]; then echo 'PENDING|Resources'; else echo 'RUNNING|None'; fi
"""
_SCONTROL = """\
case "$*" in
'show hostnames '*) echo "$3" | tr , '\\n' ;;
'show job '*)
  read -r state reason <"jobs/$3/state"
  echo "JobId=$3 JobState=$state Reason=${reason:-None} Dependency=(null)" ;;
esac
"""
_SCANCEL = """\
for id; do :; done
[ -e "jobs/$id/state" ] || { echo CANCELLED >"jobs/$id/state"; kill -- "-$(cat "jobs/$id/pid")" 2>/dev/null; }
:
"""
_SRUN = """\
while :; do case $1 in --) shift; break ;; --*) shift ;; *) break ;; esac; done
cd "$here" && exec "$@"
"""
_SINFO = """\
cat nodes
"""
NODES = "try*|try|4|4|1024|idle|1:00:00\nbig|big|64|8|4096+|mixed|infinite\nbig|big|1|8|4096|down*|infinite\n"
_COMMANDS = {
    "sbatch": _SBATCH, "squeue": _SQUEUE, "scontrol": _SCONTROL, "scancel": _SCANCEL, "srun": _SRUN, "sinfo": _SINFO,
    "sacct": "echo 'Slurm accounting storage is disabled' >&2; exit 1\n",
}  # fmt: skip


def stand_in(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Put the commands on PATH, and return the folder of their state."""
    programs, state = folder / "slurm-programs", folder / "slurm-state"
    (state / "jobs").mkdir(parents=True)
    (state / "nodes").write_text(NODES)
    for name, text in _COMMANDS.items():
        write_program(programs / name, _FIRST.format(state=state) + text)
    patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return state


def hasten(patch: pytest.MonkeyPatch) -> None:
    """Let a host look often, and wait for little: the stand-in is on this machine."""
    patch.setattr(ladder, "REFERENCE_S", 0)
    patch.delenv("SLURM_JOB_ID", raising=False)
    for name, value in {"SETTLE_S": 0.1, "LOOK_S": 0.02, "MAX_LOOK_S": 0.02, "TICK_S": 0.01}.items():
        patch.setattr(job_queue, name, value)


def calls(state: Path, program: str) -> list[str]:
    """Return the calls of a command so far."""
    lines = (state / "calls").read_text().splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith(f"{program} ")]
