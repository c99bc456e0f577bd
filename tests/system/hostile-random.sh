#!/usr/bin/env bash
# Twenty random valid segments with extreme values through every command that reads segments, with limits on
# processor and memory; `make fuzz FUZZ=hostile` runs more of them.
. tests/support/tap.sh
exits 0 "twenty segments: every command ends by itself within its limits" \
	env HOSTILE_RUNS=20 HOSTILE_FIRST=1 TMPDIR="$T" bash scripts/fuzz-hostile.sh
like "$(cat "$T/out")" 'hostile: 20 segments .* nothing found' "and nothing is found"
note "$(cat "$T/out")"
if sanitized; then
	# It takes memory of its own, so that none is limited.
	skip_one unsanitized "a sanitizer is in the programs" "a limit that no command keeps is a finding"
	done_testing
fi
exits 1 "a limit that no command keeps is a finding" \
	env HOSTILE_RUNS=1 HOSTILE_KIB=1024 TMPDIR="$T" bash scripts/fuzz-hostile.sh
like "$(cat "$T/out")" 'HOSTILE_FIRST=1 HOSTILE_RUNS=1 .* repeats it' "with the number that repeats it"
done_testing
