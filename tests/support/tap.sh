# tap.sh: the Test Anything Protocol for shell tests; source it. See tests/support/tap.h.
#
#	. tests/support/tap.sh
#	need loop "losetup finds no free device" losetup -f
#	is "$(cmd)" "expected" "it says what it should"
#	done_testing
#
# need KIND WHY COMMAND... skips the whole file where the command fails, or fails it where
# BLKCAST_REQUIRE names the kind; tests/support/features.h lists the kinds, and another one fails the file.
# BUILD is the build folder. $T is a fresh folder, removed at exit; functions added with at_exit run
# before that, last first.

BUILD=${BUILD:-build}
export LC_ALL=C TZ=UTC
tap_count=0
tap_failed=0
tap_exits=""
T=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-test.XXXXXX")

tap_cleanup() {
	local status=$? f
	for f in $tap_exits; do $f; done
	rm -rf "$T"
	exit $status
}
# `blkcast serve` never runs as root: who starts it gives it $serve_user too, and what it is to read.
serve_user=""
serve_owns() { :; }
if [ "$(id -u)" = 0 ]; then
	serve_user="--user nobody"
	serve_owns() { chown -R nobody "$@"; }
	chmod 755 "$T"
fi
trap tap_cleanup EXIT
trap 'exit 130' INT TERM

at_exit() { tap_exits="$1 $tap_exits"; }

note() { printf '# %s\n' "$*"; }

pass() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' $tap_count "$1"
}
fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' $tap_count "$1"
	shift
	for line in "$@"; do note "$line"; done
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:      $1" "expected: $2"; fi
}
# like GOT EXTENDED-REGEX NAME
like() {
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then pass "$3"; else
		fail "$3" "got:            $1" "does not match: $2"
	fi
}
# holds NAME COMMAND...
holds() {
	local name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name" "failed: $*"; fi
}
# exits STATUS NAME COMMAND...: the command's standard error goes to $T/err, output to $T/out
exits() {
	local want=$1 name=$2 got=0
	shift 2
	"$@" >"$T/out" 2>"$T/err" || got=$?
	if [ "$got" = "$want" ]; then pass "$name"; else
		fail "$name" "exit status $got, expected $want: $*" "$(head -c 300 "$T/err")"
	fi
}
# number EXPRESSION NAME: true arithmetic, as awk reads it
number() {
	if awk "BEGIN { exit !($1) }" </dev/null; then pass "$2"; else fail "$2" "not so: $1"; fi
}

# Every PROGRAM can be found; `command -v` with several names is content with one of them.
have() {
	local program
	for program in "$@"; do command -v "$program" >/dev/null || return 1; done
}

# Whether the programs carry a sanitizer. Such a program needs memory of its own, and runs without system call filters.
sanitized() { ldd "$BUILD/blkcast-agent" 2>/dev/null | grep -qE 'lib[at]san'; }

tap_features=$(sed -n 's/^FEATURE(\([a-z0-9]*\),.*/ \1 /p' "${BASH_SOURCE[0]%/*}/features.h" | tr -d '\n')
# stops the file where the kind is not one of tests/support/features.h
tap_known() {
	case "$tap_features" in *" $1 "*) return ;; esac
	fail "tests/support/features.h lists the kind \"$1\""
	printf '1..%d\n' $tap_count
	exit 1
}
tap_required() {
	case ",${BLKCAST_REQUIRE:-}," in *",$1,"*) return 0 ;; esac
	return 1
}
need() {
	local kind=$1 why=$2
	tap_known "$kind"
	shift 2
	"$@" >/dev/null 2>&1 && return
	if tap_required "$kind"; then
		fail "BLKCAST_REQUIRE names $kind: $why"
		printf '1..%d\n' $tap_count
		exit 1
	fi
	printf '1..0 # SKIP %s\n' "$why"
	exit 0
}
# skip_one KIND WHY NAME: one test of the file is skipped, or fails where BLKCAST_REQUIRE names the kind.
skip_one() {
	tap_known "$1"
	if tap_required "$1"; then fail "$3" "BLKCAST_REQUIRE names $1: $2"; else pass "$3 # SKIP $2"; fi
}

# wait_until SECONDS COMMAND...: repeats the command until it succeeds; fails where it never does. Limits
# are generous, since on a busy machine a program may wait for seconds until it first runs.
wait_until() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}
# serve_port FILE [PID]: waits until `blkcast serve`, whose standard error goes to FILE, says its port there,
# and prints it. Whoever starts serve again empties FILE first: the new process may be slow to do so, and
# the old one's port would be read. The comma behind the port says that all of the number has been written.
serve_port() {
	local port="" end=$((SECONDS + 60))
	while [ $SECONDS -lt $end ]; do
		port=$(sed -n 's/^blkcast serve: port \([0-9]*\),.*/\1/p' "$1" 2>/dev/null)
		[ -z "$port" ] || break
		[ -z "${2:-}" ] || kill -0 "$2" 2>/dev/null || break
		sleep 0.02
	done
	printf '%s\n' "$port"
	[ -n "$port" ]
}
# free_port: a TCP port that nobody listens at, below those that the kernel gives to connections: one of
# those could be taken by a client while the server of the test is not running.
free_port() {
	local port
	while :; do
		port=$((10000 + SRANDOM % 20000))
		grep -qi ":$(printf %04x $port) [0-9a-f]*:[0-9a-f]* 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null || break
	done
	printf '%s\n' $port
}

done_testing() {
	printf '1..%d\n' $tap_count
	[ $tap_failed = 0 ] || exit 1
	exit 0
}
