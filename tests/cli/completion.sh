#!/usr/bin/env bash
# The shell's completion offers every command, verb and option that the programs have, and no other.
. tests/support/tap.sh
need jq "jq is not installed" command -v jq
. scripts/package/completion/blkcast

# offered FUNCTION WORD...: what is offered for the last word, in one line
offered() {
	COMP_WORDS=("${@:2}")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	"$1"
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd' '
}
sorted() { tr ' ' '\n' | sed '/^$/d' | sort -u | paste -sd' '; }

# The commands and options as the sources name them.
commands=$(sed -n 's/^\tX(\([a-z]*\)).*/\1/p' analyzer/cmd/cli/commands.h)
# Keys of the agent's file are options of the same name; "trace" has --no-trace.
agent=$({
	jq -r '.properties | keys[] | select(. != "trace")' docs/agent.schema.json
	sed -n '/option own_options/,/};/s/^\t{ "\([a-z-]*\)".*/\1/p' agent/config_flags.c
} | sed 's/^/--/')
number "$(printf '%s\n' $commands | wc -l) > 10 && $(printf '%s\n' $agent | wc -l) > 15" \
	"the sources name commands and options"
is "$(offered _blkcast "$BUILD/blkcast" "")" "$(echo $commands --help --version | sorted)" \
	"every command is offered"
is "$(offered _blkcast_agent "$BUILD/blkcast-agent" --)" "$(echo $agent | sorted)" \
	"every option of the agent is offered"
# What stands in a file before the description of a command, and after that of the command before it, is of the command.
option='CLI_(FLAG|STRING|WORD|LIST|UINT|U64|DOUBLE|SIZE|DURATION|TIME)\("[a-z0-9-]+"'
command='^const struct command command_[a-z]+'
for c in $commands; do
	got=$(offered _blkcast "$BUILD/blkcast" "$c" --)
	for v in $(_blkcast_verbs "$BUILD/blkcast" "$c"); do
		got=$(echo "$got" "$(offered _blkcast "$BUILD/blkcast" "$c" "$v" --)" | sorted)
	done
	want=$(grep -hoE "$option|$command" analyzer/cmd/*/cmd_*.c |
		awk -v c="$c" '/^CLI_/ { all = all $0 "\n"; next } $NF == "command_" c { printf "%s", all } { all = "" }' |
		sed 's/.*("/--/; s/"//' | sort -u)
	missing=""
	for o in $want --help --json --quiet; do
		case " $got " in *" $o "*) ;; *) missing="$missing $o" ;; esac
	done
	is "$missing" "" "every option of $c is offered"
done
is "$(offered _blkcast "$BUILD/blkcast" qpn "s")" "solve" "verbs are offered"
is "$(offered _blkcast_agent "$BUILD/blkcast-agent" --source bl)" "blktrace" "values are offered"
is "$(offered _blkcast "$BUILD/blkcast" dump tests/golden/segment-v1.b)" "tests/golden/segment-v1.bin" \
	"files are offered"
done_testing
