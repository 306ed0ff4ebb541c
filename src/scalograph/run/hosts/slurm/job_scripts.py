"""The shell scripts of a job: they make its runs, start each on its nodes, and time a reference on each node alone.

They need a POSIX shell, the tools of Linux, and Slurm's commands; nothing of ours but the probe. All lie in a folder
that the nodes share, `$here` below; a job has a folder of its own in it.
"""

# $1 folder of the job, $2 seconds of its reference runs. `order` names the runs, each with a line for the
# probe, and perhaps one of each step before and after it.
JOB = """\
#!/bin/sh
cd -- "$1" || exit 74
mkdir begun 2>/dev/null || exit 0 # another job makes these runs: this one was submitted twice
umask 077
echo "$SLURM_JOB_ID" >id.new && mv id.new id || exit 74
env | sed -n "s/^\\\\(SLURMD*_[A-Z0-9_]*\\\\)=\\\\([^']*\\\\)$/export \\\\1='\\\\2'/p" >environment || exit 74
scontrol show hostnames "$SLURM_JOB_NODELIST" >nodes || exit 74
n=$(wc -l <nodes)
timeout "$(($2 + 60))" srun --quiet --nodes="$n" --ntasks="$n" --ntasks-per-node=1 --cpus-per-task=1 \\
  ../reference.sh "$1" "$2" </dev/null >reference.output 2>&1

steps() { squeue --noheader --steps --jobs="$SLURM_JOB_ID" --format=%i | grep -Ev '\\.(batch|extern|interactive)$'; }

end_steps() { # what a run that was killed left on other nodes
  for step in $(steps); do scancel --quiet --signal=KILL "$step"; done
  tries=0
  while [ "$tries" -lt 30 ] && [ -n "$(steps)" ]; do sleep 1; tries=$((tries + 1)); done
}

# What the launchers say where the cluster failed, and not the program: then the run has not happened.
not_ours='srun: error: (Unable to (confirm|create|allocate)|Node failure|.*[Ll]aunch )[^"\\]*'
not_ours="$not_ours|lost communication with a remote daemon|ORTE daemon has unexpectedly failed"

make() { # $1 names a line for the probe; sets `status`
  ../probe <"$1.line" >"$1.part" 2>"$1.error"
  echo "$?" >"$1.code" || exit 74
  ! grep -q '"status":"interrupted"' "$1.part" || exit 75 # the job is ended: this run has not happened
  status=ok
  grep -q '"status":"ok"' "$1.part" || { status=failed && end_steps; }
  if [ "$status" = failed ] && grep -Eo "$not_ours" "$1.part" | head -n 1 >lost && [ -s lost ]; then exit 75; fi
  mv "$1.part" "$1.answer" || exit 74
}

while read -r run; do
  [ ! -e "$run.done" ] || continue
  mkdir -p "$run.folder" || exit 74
  status=ok
  [ ! -e "$run.prepare.line" ] || make "$run.prepare"
  [ "$status" != ok ] || make "$run"
  [ ! -e "$run.cleanup.line" ] || make "$run.cleanup"
  rm -rf "$run.folder"
  : >"$run.done" || exit 74
done <order
echo complete >ended
"""

# $1 folder of the job, $2 the run, $3 nodes, $4 the first of them, $5 launcher, $6 tasks a node, $7 CPUs a task (0: as
# mpirun wants); then the command. Its nodes are those from the first one on, around.
STEP = """\
#!/bin/sh
folder=$1 run=$2 n=$3 first=$4 launcher=$5 tasks=$6 cpus=$7
shift 7
. "$folder/environment" || exit 74
rm -f "$folder/$run".task.*
names=$(awk -v n="$n" -v first="$first" '{ name[NR - 1] = $1 }
  END { for (i = 0; i < n; i++) print name[(first + i) % NR] }' "$folder/nodes")
echo "$names" >"$folder/$run.nodes" || exit 74
[ "$launcher" = none ] || set -- "${folder%/*}/task.sh" "$folder/$run" "$@"
case $launcher in
srun | srun:*)
  [ "$launcher" = srun ] || set -- "--mpi=${launcher#srun:}" -- "$@"
  exec srun --quiet --kill-on-bad-exit=1 --nodes="$n" --nodelist="$(echo $names | tr ' ' ,)" \\
    --ntasks="$((n * tasks))" --ntasks-per-node="$tasks" --cpus-per-task="$cpus" "$@"
  ;;
mpirun)
  hosts=
  for name in $names; do hosts=$hosts,$name:$tasks; done
  place="--map-by ppr:$tasks:node:PE=$cpus"
  [ "$cpus" -gt 0 ] || place="--map-by ppr:$tasks:node --bind-to none"
  exec mpirun --quiet --host "${hosts#,}" -np "$((n * tasks))" $place "$@"
  ;;
*) exec "$@" ;;
esac
"""

# $1 folder of the job, $2 seconds. Writes the boot of its node, then the nanoseconds of a fixed piece of work, often.
REFERENCE = """\
#!/bin/sh
file=$1/${SLURMD_NODENAME:-$(hostname)}.reference
{
  cat /proc/sys/kernel/random/boot_id
  now=$(date +%s%N)
  end=$((now + $2 * 1000000000))
  while [ "$now" -lt "$end" ]; do
    then=$now
    awk 'BEGIN { while (n < 300000) n++ }'
    now=$(date +%s%N)
    echo "$((now - then))"
  done
} >"$file.new" && mv "$file.new" "$file"
"""

# $1 prefix of its answer, then the command of one task. A probe of its own starts it, in the environment and on the
# CPUs that the launcher gave it, and it writes to where it would have. The answer is named by the rank and the node.
TASK = r"""#!/bin/sh
here=${0%/*} answer=$1.task.${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-0}}.${SLURMD_NODENAME:-$(hostname)}
shift
[ -z "$PMI_FD" ] || exec "$@" # what it inherits beside cannot be passed on
awk -v output="/proc/$$/fd/1" 'function text(it, i) {
    gsub(/[\\"]/, "\\\\&", it)
    if (it ~ /[[:cntrl:]]/) for (i = 1; i < 32; i++) gsub(sprintf("%c", i), sprintf("\\\\u%04x", i), it)
    return "\"" it "\""
  }
  BEGIN {
    printf "{\"protocol\": 1, \"run\": \"task\", \"commands\": [{\"cwd\": %s, \"argv\": [", text(ARGV[1])
    for (i = 2; i < ARGC; i++) printf "%s%s", (i > 2 ? ", " : ""), text(ARGV[i])
    printf "], \"env\": {"
    for (name in ENVIRON) printf "%s%s: %s", (n++ ? ", " : ""), text(name), text(ENVIRON[name])
    printf "}}], \"stdout\": %s, \"echo\": true, \"timeout_ns\": 1000000000000000", text(output)
    print ", \"backend\": \"plain\", \"namespace\": false, \"timeline\": false}"
  }' "$PWD" "$@" | "$here/probe" >"$answer.part"
case $? in
0) mv "$answer.part" "$answer" ;;
2 | 3) rm -f "$answer.part" && exec "$@" ;; # it has started nothing
*) exit 70 ;;
esac
copy=$(grep -m 1 '"event":"copy"' "$answer")
code=$(echo "$copy" | sed -n 's/.*"exit_code":\([0-9]*\).*/\1/p')
number=$(echo "$copy" | sed -n 's/.*"signal":\([0-9]*\).*/\1/p')
exit "${code:-$((128 + ${number:-1}))}"
"""
SCRIPTS = {"job.sh": JOB, "step.sh": STEP, "reference.sh": REFERENCE, "task.sh": TASK}
