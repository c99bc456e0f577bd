# tap.sh: the Test Anything Protocol for shell tests; source it. See tests/tap.h.
#
#	. tests/tap.sh
#	need loop "losetup finds no free device" losetup -f
#	is "$(cmd)" "expected" "it says what it should"
#	done_testing
#
# need FEATURE WHY COMMAND... skips the whole file where the command fails, or fails it where
# BLKCAST_REQUIRE names the feature. BUILD is the build folder. $T is a fresh folder, removed at
# exit; functions added with at_exit run before that, last first.

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

need() {
	local feature=$1 why=$2
	shift 2
	"$@" >/dev/null 2>&1 && return
	case ",${BLKCAST_REQUIRE:-}," in
	*",$feature,"*)
		fail "BLKCAST_REQUIRE names $feature: $why"
		printf '1..%d\n' $tap_count
		exit 1
		;;
	esac
	printf '1..0 # SKIP %s\n' "$why"
	exit 0
}

done_testing() {
	printf '1..%d\n' $tap_count
	[ $tap_failed = 0 ] || exit 1
	exit 0
}
