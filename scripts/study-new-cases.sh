#!/usr/bin/env bash
# Predicts five applications that no model, constant or interval was made with, and really runs them. As root, on a
# machine on which nothing else runs, once for a state of the code:
#
#	scripts/study-new-cases.sh [OUT]		after make programs build/tests/system/fileops
#
# It is scripts/study-applications.sh with other applications: each is recorded on the old volume, predicted for the new
# one by blkcast study migrate --storage, and run there, two pairs of 5 s. docs/studies/new-cases/results.md gets the
# tables, whatever they say; causes.md beside it, which is written by hand, explains them. An application whose program
# is not installed is left out, and named there. Six minutes at most. OUT (default build/study-new-cases) gets everything
# else; what is there already is not measured again.
#
#	wal	sqlite with a write-ahead log, each transaction made durable
#	git	a repository is cloned and another commit checked out
#	tar	an archive of small files is unpacked and made durable
#	tree	a tree of small and large files is copied
#	scan	dd past the page cache beside grep
#
# SECONDS_EACH=, REPEATS=, INTERVAL=, EVERY=, LIMIT_S= as there. RESULTS= names another page.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/study-new-cases}
RESULTS=${RESULTS:-docs/studies/new-cases/results.md}
export SECONDS_EACH=${SECONDS_EACH:-5} REPEATS=${REPEATS:-2} INTERVAL=${INTERVAL:-700ms} EVERY=${EVERY:-2}
export LIMIT_S=${LIMIT_S:-325} SHORT=1
apps=() missing=()
for app in wal:sqlite3 git:git tar:tar tree:cp scan:grep; do
	if command -v "${app#*:}" >/dev/null; then apps+=("${app%:*}"); else missing+=("${app%:*}"); fi
done
scripts/study-applications.sh "$OUT" "${apps[@]}" >&2

mkdir -p "$(dirname "$RESULTS")"
{
	echo "# New cases: five applications that nothing was made with"
	echo
	echo "\`scripts/study-new-cases.sh\` wrote this page on $(date -u +%F) at commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)."
	echo "No model, constant or interval was made with these applications."
	echo
	echo "- **wal**: sqlite with a write-ahead log; each transaction reads two rows, changes one and is made durable"
	echo "- **git**: a repository of small files is cloned, and another commit checked out, again and again"
	echo "- **tar**: an archive of small files is unpacked and made durable, again and again"
	echo "- **tree**: a tree of small and large files is copied on the same volume"
	echo "- **scan**: dd past the page cache, reading and writing, beside grep through a tree"
	echo
	[ ${#missing[@]} = 0 ] || echo "Left out, because the program is not installed: ${missing[*]}."
	echo "$SECONDS_EACH s of each run, $REPEATS pairs, one in $EVERY configurations of the campaign with an interval of $INTERVAL."
	echo "[applications](../applications/results.md) says how volumes and answers are made, and what the columns are."
	echo "[causes](causes.md) says why some of these answers were far off."
	echo
	sed -n 's/^interval of .*\(The machine had\)/\1/p' "$OUT/results.md"
	echo
	sed -n '/^## /,$p' "$OUT/results.md"
} >"$RESULTS.part"
mv "$RESULTS.part" "$RESULTS"
cat "$RESULTS"
