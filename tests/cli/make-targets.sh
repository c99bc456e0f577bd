#!/usr/bin/env bash
# Every target of `make help` is run by .ci/run, by a test of it, or is in the weekly list of docs/measured.md with
# the date of its last run; install and uninstall are run here. Source files that documents name exist.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need tree "the top of the source tree is not here" test -f Makefile

# What .ci/run starts, what that runs by itself, and what this test runs.
by_every_change="make compile_commands.json test check schemas style test-vm install"
targets=$(make --no-print-directory help | awk '$1 == "make" { print $2 == "" || $2 == "build" ? "make" : $2 }' | sort -u)
number "$(wc -w <<<"$targets") >= 15" "make help lists its targets"
weekly=$(sed -n '/^## The weekly list/,/^## [^T]/s/^| `make \([a-z0-9-]*\)[^|]*| *\(20[0-9][0-9]-[01][0-9]-[0-3][0-9]\) |.*/\1/p' docs/measured.md)
unknown=""
for t in $targets; do
	case " $by_every_change $(echo $weekly) " in *" $t "*) ;; *) unknown="$unknown $t" ;; esac
done
# tests/cli/schemas.sh compares what make schemas would write.
is "$unknown" "" "each is run with every change or listed with its last run"
gone=""
for t in $weekly; do grep -qE "^([a-z0-9-]+ )*$t( [a-z0-9-]+)*:" Makefile || gone="$gone $t"; done
is "$gone" "" "the list names no target that is gone"
like "$(tail -n 1 .ci/run)" ' test$' ".ci/run ends with make test"

make --no-print-directory BUILD="$BUILD" -Bn V=1 programs 2>/dev/null | scripts/compile-commands.sh >"$T/commands.json"
is "$(comm -3 <(jq -r '.[] | .file' "$T/commands.json" | sort) \
	<(git ls-files 'agent/*.c' 'analyzer/*.c' 'base/*.c' 'formats/*.c' 'workload/*.c' | sort))" "" \
	"make compile_commands.json names every C file of the programs"

files=$(git ls-files | sed 's,^,/,')
gone=$(git ls-files -z '*.md' ':!docs/studies' ':!CHANGELOG.md' | xargs -0 grep -ohE '`[a-z0-9_/]+\.[ch]`' | tr -d '`' |
	sort -u | while read -r file; do grep -q "/$file\$" <<<"$files" || echo "$file"; done)
is "$gone" "" "the documents name no source file that is gone"

made=$(make --no-print-directory BUILD="$BUILD" -Bn V=1 benches 2>/dev/null)
missing=""
for tool in $(grep -oh 'BUILD/tests/[a-z_/]*' tests/bench/*.sh | sort -u); do
	grep -qF -- "-o $BUILD/${tool#BUILD/} " <<<"$made" || missing="$missing $tool"
done
is "$missing" "" "make benches builds every program that a script of tests/bench starts"

exits 0 "make install" make --no-print-directory BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr install
is "$("$T/root/usr/bin/blkcast" --version | cut -d' ' -f1)" blkcast "the installed program runs"
exits 0 "make uninstall" make --no-print-directory BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr uninstall
is "$(find "$T/root" -type f)" "" "no file is left"
done_testing
