#!/usr/bin/env bash
# The tests that look at the clock of the machine pass soon after a boot, and after twenty years without one:
# they run in time namespaces whose CLOCK_MONOTONIC and CLOCK_BOOTTIME begin accordingly.
. tests/support/tap.sh
need timens "no time namespace can be made" unshare --time --monotonic 10 true

uptime_s=$(cut -d. -f1 /proc/uptime)
at_uptime() { unshare --time --monotonic $(($1 - uptime_s)) --boottime $(($1 - uptime_s)) "${@:2}"; }
number "$(at_uptime 120 cut -d. -f1 /proc/uptime) < 240" "a namespace has a young clock"
# All at once, since they mostly wait.
tests="test_lookup test_many_windows test_pauses test_pipeline test_server_guard test_sink_http test_source_blktrace
test_stop_wait"
for test in $tests; do
	for age in 20:young 630720000:old; do
		at_uptime "${age%:*}" "$BUILD"/tests/unit/*/"$test" >"$T/$test.${age#*:}" 2>&1 &
		echo $! >"$T/$test.${age#*:}.pid"
	done
done
for test in $tests; do
	for age in young old; do
		wait "$(cat "$T/$test.$age.pid")" && pass "$test under a clock that is $age" && continue
		fail "$test under a clock that is $age" "$(grep -vE '^(ok|1\.\.)' "$T/$test.$age")"
	done
done
done_testing
