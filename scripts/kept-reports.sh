#!/usr/bin/env bash
# Make a page of each kept journal, studies/*/example: FOLDER/STUDY/report.html, and FOLDER/index.html of all of them.
# PYTHON is one that has what the sources need. Usage: scripts/kept-reports.sh FOLDER [STUDY ...]
set -eu
[ "$#" -gt 0 ] || { echo "usage: scripts/kept-reports.sh FOLDER [STUDY ...]" >&2; exit 2; }
mkdir -p "$1"
pages=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
export PYTHONPATH=$PWD/src

[ "$#" -gt 0 ] || set -- studies/*/example
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/examples"
for example in "$@"; do
    [ -d "$example" ] || example=studies/$example/example
    study=$folder/examples/$(basename "$(dirname "$example")")
    cp -r "$example" "$study"
    "${PYTHON:-python3}" -m scalograph report "$study" >/dev/null
done
cd "$folder/examples"
"${PYTHON:-python3}" -m scalograph report . | sed '$d' # its path is that of another folder
cp --parents index.html -- */report.html "$pages"
