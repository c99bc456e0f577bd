#!/usr/bin/env bash
# What every command shares: help, versions, misspellings, exit codes.
. tests/support/tap.sh
b=$BUILD/blkcast

is "$("$b" | head -n 1)" "blkcast: measure, characterize and predict the block I/O of live guests" \
	"without arguments it prints its help"
like "$("$b" --version)" '^blkcast [0-9]+\.[0-9]+' "it names its version"
commands=$("$b" | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
like "$(echo $commands)" 'serve import ls check retain dump export redact characterize compare' "help lists the commands"
bad=""
for c in $commands; do
	"$b" "$c" --help >"$T/help" 2>"$T/err" || bad="$bad $c:exit"
	[ -s "$T/err" ] && bad="$bad $c:stderr"
	grep -q "^usage:" "$T/help" || bad="$bad $c:usage"
	grep -q "^example:" "$T/help" || bad="$bad $c:example"
	grep -q -- "  blkcast $c" "$T/help" || bad="$bad $c:line"
	awk '/^options:/ { said = $2 != "" || (getline > 0 && $0 != "") } END { exit !said }' "$T/help" ||
		bad="$bad $c:options"
	"$b" help "$c" | cmp -s - "$T/help" || bad="$bad $c:help"
done
is "$bad" "" "each command explains itself with usage and an example"

says() { # STATUS LINE NAME COMMAND...
	local status=$1 line=$2 name=$3
	shift 3
	exits "$status" "$name: exit $status" "$@"
	is "$(cat "$T/err")" "$line" "$name"
	is "$(cat "$T/out")" "" "$name: nothing on standard output"
}
says 2 "blkcast: compair: no such command; did you mean compare?" "a misspelt command" "$b" compair
says 2 "blkcast: xyzzy: no such command; --help lists them" "an unknown command" "$b" xyzzy
says 2 "blkcast ls: --stroe: no such option; did you mean --store?" "a misspelt option" \
	"$b" ls --stroe x
says 2 "blkcast ls: -x: no such option; --help lists them" "an unknown letter" "$b" ls -x
says 2 "blkcast ls: --store: expected DIR after it" "an option without its value" "$b" ls --store
says 2 "blkcast dump: --limit: expected a whole number, got '1x'" "a bad number" \
	"$b" dump --limit 1x
says 2 "blkcast ask: --minutes: expected 1 to 1440, got '0'" "a number out of its range" \
	"$b" ask web1 --store x --minutes 0
says 2 "blkcast measure: --response: expected --export with it" "an option without the one it belongs to" \
	"$b" measure plan.yaml --db x --response y
says 2 "blkcast check: expected one of --store and --spool" "neither of two options" "$b" check
says 2 "blkcast ask: expected one HOST, got 2 operands" "an operand too many" "$b" ask a b --store x
like "$("$b" ask --help)" 'before now and after it \(1 to 1440, default 10\)' "the help names range and default"
says 2 "blkcast dump: --begin: expected a time such as 2026-01-31T14:05:00+01:00 or @1769864700, got 'now'" \
	"a bad time" "$b" dump --begin now
says 2 "blkcast ls: /nonexistent: No such file or directory" "a store that is not there" \
	"$b" ls --store /nonexistent
says 2 "blkcast ls: $T: expected a store: it has no folder \`segments\`" "a folder that is no store" \
	"$b" ls --store "$T"
# -o goes through what is no file and leaves it there: by links, so that a mistake takes no device away.
demo=docs/examples/demo.seg
ln -s /dev/stdout "$T/stdout"
ln -s /dev/null "$T/null"
"$b" export --format csv -o "$T/stdout" "$demo" 2>"$T/err" | cat >"$T/through"
"$b" export --format csv "$demo" >"$T/plain"
holds "-o through /dev/stdout is what standard output gets" cmp -s "$T/through" "$T/plain"
exits 0 "redact writes to /dev/null" "$b" redact "$demo" "$T/null"
holds "which is a device still" test -c "$T/null"

if [ -e /dev/full ]; then
	for command in "characterize --json" "mimic --target /dev/vdb" dump "export --format csv"; do
		# shellcheck disable=SC2086
		"$b" $command "$demo" >/dev/full 2>"$T/err"
		is "$? $(grep -c . "$T/err") $(grep -c '^blkcast: standard output: No space' "$T/err")" "1 1 1" \
			"$command on a full disk fails, with one line"
	done
	status=0
	"$b" >/dev/full 2>"$T/err" || status=$?
	is "$status" 1 "a full disk behind standard output is a failure"
fi
done_testing
