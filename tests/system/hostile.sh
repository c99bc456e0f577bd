#!/usr/bin/env bash
# What the worst upload that is accepted costs: valid segments with extreme values, taken by the shipped
# programs. Processor time and memory are those of the process, which other load hardly changes.
. tests/support/tap.sh
b=$BUILD/blkcast
cat >"$T/cost.py" <<'EOF'
import os, resource, subprocess, sys
p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(p.pid, 0)
print(round((used.ru_utime + used.ru_stime) * 1000), used.ru_maxrss // 1024, os.waitstatus_to_exitcode(status))
EOF
for kind in plain devices sizes times places; do
	"$BUILD/tests/system/make_hostile" $kind h-$kind "$T/$kind.seg" >"$T/hash" || exit 1
	bytes=$(stat -c %s "$T/$kind.seg")
	store=$T/$kind
	read -r ms mib code < <(python3 "$T/cost.py" - "$b" import --store "$store" "$T/$kind.seg")
	is "$code" 0 "$kind, $bytes bytes: it is taken"
	number "$ms <= 1000 && $mib <= 64" "by $ms ms of processor and $mib MiB"
	for command in "characterize --store $store" "ls --store $store" "check --store $store" \
		"dump --store $store" "retain --store $store --retain-requests 1s"; do
		read -r ms mib code < <(timeout 120 python3 "$T/cost.py" - "$b" $command)
		is "$code" 0 "$kind: ${command%% *} ends"
		number "$ms <= 2000 && $mib <= 192" "$kind: ${command%% *} takes $ms ms of processor and $mib MiB"
	done
done
done_testing
