#!/usr/bin/env bash
# Predicts five applications that no model, constant or interval was made with, and really runs them. As root, on a
# machine on which nothing else runs, once for a state of the code:
#
#	scripts/study-new-cases.sh [OUT]		after make programs build/tests/system/fileops
#
# It is scripts/study-applications.sh with other applications: each is recorded on the old volume, predicted for the new
# one by blkcast study migrate --storage, and run there, two pairs of 12 s (SET=1 to 5: 5 s); from SET=12 on, two more of
# an application whose means differ by more than 10 % from run to run. A page of docs/studies/new-cases gets the tables,
# whatever they say; causes.md beside it, which is written by hand, explains them. An application whose program is not
# installed is left out, and named there. Eight to sixteen minutes (SET=1 to 5: six). OUT
# (default build/study-new-cases-SET) gets everything else; what is there already is not measured again.
#
# SET=N is scripts/study-cases/set-N.sh, which says what its applications do; the last one is the default. A set is new
# until errors of answers were mended or intervals made with it. Then its first round moves to first-N.md, and later
# rounds write known-N.md. Runs of the sets from 6 on are longer (12 s), so that what the kernel writes back 5 s later is
# in all of them.
#
# SECONDS_EACH=, REPEATS=, INTERVAL=, EVERY=, LIMIT_S= as there. RESULTS= names another page.
set -euo pipefail
cd "$(dirname "$0")/.."
last=$(printf '%s\n' scripts/study-cases/set-*.sh | sed 's/.*set-//; s/\.sh//' | sort -n | tail -n 1)
SET=${SET:-$last}
[ -r "scripts/study-cases/set-$SET.sh" ] || { echo "SET: expected 1 to $last, got '$SET'" >&2 && exit 2; }
OUT=${1:-build/study-new-cases-$SET}
[ "$SET" -lt 12 ] || REPEATS=${REPEATS:-4} EVERY=${EVERY:-1}
[ "$SET" -lt 6 ] || SECONDS_EACH=${SECONDS_EACH:-12} LIMIT_S=${LIMIT_S:-900}
export SECONDS_EACH=${SECONDS_EACH:-5} REPEATS=${REPEATS:-2} INTERVAL=${INTERVAL:-700ms} EVERY=${EVERY:-2}
export LIMIT_S=${LIMIT_S:-325} SHORT=1
title="Known cases: five applications that were new"
pages=docs/studies/new-cases
if [ "$SET" = 1 ]; then
	RESULTS=${RESULTS:-$pages/known.md}
elif [ "$SET" -lt "$last" ]; then
	RESULTS=${RESULTS:-$pages/known-$SET.md}
else
	RESULTS=${RESULTS:-$pages/results.md}
	title="New cases: five applications that nothing was made with"
fi
. "scripts/study-cases/set-$SET.sh"
declare -n set=set_$SET # each an application, a colon, and the program that it needs
# installed PROGRAM, or python3-MODULE for a module of the system's Python
installed() {
	case $1 in
	python3-*) /usr/bin/python3 -c "import ${1#python3-}" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}
apps=() missing=()
for app in "${set[@]}"; do
	if installed "${app#*:}"; then apps+=("${app%:*}"); else missing+=("${app%:*}"); fi
done
scripts/study-applications.sh "$OUT" "${apps[@]}" >&2

mkdir -p "$(dirname "$RESULTS")"
{
	echo "# $title"
	echo
	echo "\`SET=$SET scripts/study-new-cases.sh\` wrote this page on $(date -u +%F)."
	"about_$SET"
	echo
	[ ${#missing[@]} = 0 ] || printf '%s\n\n' "Left out, because the program is not installed: ${missing[*]}."
	share="one in $EVERY configurations"
	[ "$EVERY" != 1 ] || share="all configurations"
	echo "$SECONDS_EACH s of each run, at most $REPEATS pairs, $share of the campaign with an interval of $INTERVAL."
	echo "[applications](../applications/results.md) says how volumes and answers are made, and what the columns are."
	echo "[causes](causes.md) says why some answers were far off."
	echo
	sed -n 's/^interval of .*\(The machine had\)/\1/p' "$OUT/results.md"
	echo
	sed -n '/^## /,$p' "$OUT/results.md"
} >"$RESULTS.part"
mv "$RESULTS.part" "$RESULTS"
cat "$RESULTS"
