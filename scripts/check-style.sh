#!/usr/bin/env bash
# Checks those rules of docs/style.md that a script can see: layout by clang-format, lengths, calls that hide errors.
# The output is TAP.
cd "$(dirname "$0")/.." || exit 2
n=0 bad=0
say() { # NAME FINDINGS
	n=$((n + 1))
	if [ -z "$2" ]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'
	fi
}
files=$(git ls-files '*.c' '*.h')
tracked=$(git ls-files)
if command -v clang-format-14 >/dev/null 2>&1; then fmt=clang-format-14; else fmt=clang-format; fi
if $fmt --version 2>/dev/null | grep -q 'version 14'; then
	# shellcheck disable=SC2086
	say "every C file is laid out by clang-format 14" \
		"$($fmt --dry-run $files 2>&1 | grep -E 'warning:' | cut -d: -f1 | sort | uniq -c)"
else
	n=$((n + 1))
	echo "ok $n - every C file is laid out by clang-format 14 # SKIP clang-format 14 is not installed"
fi
say "no file is over 600 lines" \
	"$(for f in $files; do l=$(wc -l <"$f"); [ "$l" -gt 600 ] && echo "$f: $l"; done)"
say "no function is over 60 lines" \
	"$(for f in $files; do awk -v f="$f" '/^{/{s=NR} /^}/{if(s&&NR-s>61)print f ":" s ": " NR-s-1; s=0}' "$f"; done)"
# A line may be wider if a string needs the width. The blanks before the backslash of a macro do not count.
say "no line is wider than 100 columns where a tab is 8 wide" \
	"$(for f in $files; do expand -t 8 "$f" |
		awk -v f="$f" '{sub(/ *\\$/, "")} length > 100 && !/"/ {print f ":" NR ": " length}'; done)"
say "no call that hides errors or overflows" \
	"$(grep -nE '\b(atoi|atol|atof|sprintf|strcpy|strcat|gets)\(' $files)"
say "no leftovers" "$(grep -nE '\b(TODO|FIXME|XXX)\b' $tracked 2>/dev/null | grep -v -e '^docs/style.md' -e '^scripts/check-style.sh' -e '^tests/data' -e '^tests/golden')"
say "file names are unique" "$(printf '%s\n' $files | grep -v '/main\.c$' | sed 's|.*/||' | sort | uniq -d)"
echo "1..$n"
exit $bad
