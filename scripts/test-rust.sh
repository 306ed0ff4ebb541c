#!/usr/bin/env bash
# Run the tests of the crates that are named; run each of at most two that fail once more, alone, as those of Python.
# Those of how a run ends are guarantees: there a failure is the fault.
set -uo pipefail
output=$(mktemp)
trap 'rm -f "$output"' EXIT
flaky=()
for crate in "$@"; do
	pushd "$crate" >/dev/null || exit 1
	if ! cargo test --locked --quiet --no-fail-fast 2>&1 | tee "$output"; then
		mapfile -t failed < <(sed -nE 's/^    ([a-z_0-9:]+)$/\1/p' "$output" | sort -u)
		[ ${#failed[@]} -gt 0 ] || exit 1
		for name in "${failed[@]}"; do
			flaky+=("$name")
			if grep -qs "fn ${name##*::}()" tests/ends.rs || [ ${#flaky[@]} -gt 2 ] ||
				! cargo test --locked --quiet -- --exact "$name"; then
				echo "FAILED $name" >&2
				exit 1
			fi
		done
	fi
	popd >/dev/null || exit 1
done
for name in "${flaky[@]}"; do echo "FLAKY $name"; done
