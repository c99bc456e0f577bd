# vm.sh: guests for the tests of the sources; source it after tap.sh. They are booted by scripts/vm.sh.
#
#	need_vm [s390x]		QEMU and a kernel can be had (and the agent is built for s390x)
#	vm_bundle		the agent goes into guests as its bundle (make bundle), without libraries there
#	vm_trace NAME MOUNTS LAUNCHER "HOST=SOURCE..." VM-OPTION...
#				runs tests/vm/guest/trace.sh in a guest, one agent for each HOST; the
#				trace of HOST is then in the store as host NAME-HOST
#	vm_auto NAME SOURCE	what --doctor says that auto would choose, and the agent did
#	vm_calls NAME SOURCE...	runs tests/vm/guest/seccomp.sh in a guest: each source works under
#				--seccomp log, and no call is logged
#				and but for a sanitizer's, where the agent is built with one
#	vm_static NAME SOURCE CALLS
#				the static agent streams over TLS from a guest without libraries, confined
#				to so many calls
#	vm_exact NAME HOST	counts, bytes, sizes, mix and sequential ratio against the load's own
#	vm_refuses NAME SOURCE REGEX
#				--doctor says that the source does not work, and why
#	vm_rates NAME HOST	the same for a source of counters only
#	vm_agree NAME HOST HOST	two sources saw the same requests: counts, means, sequential ratio
#	vm_monitor COMMAND...	says them to QEMU's monitor
#	vm_reached STAGE	waits until the guest of process $vm says so on its console

vm_server="" vm_arch=amd64
vm_stop() { [ -z "$vm_server" ] || kill "$vm_server" 2>/dev/null; }
at_exit vm_stop

need_vm() {
	need vm "QEMU is not installed: make test-vm installs it" \
		have qemu-system-x86_64 qemu-system-s390x cpio depmod jq
	vm_kernel=${2:-6.1}
	[ "${1:-}" != s390x ] || vm_arch=s390x
	need vm "the kernel $vm_kernel for $vm_arch cannot be fetched" \
		scripts/debs.sh $vm_arch "linux-image-$vm_kernel" busybox-static
	vm_build=$BUILD
	# A sanitizer's tables, and what it keeps of freed memory, are in each of the agents of a guest.
	vm_memory=512M
	! sanitized || vm_memory=2G
	if [ $vm_arch = s390x ]; then
		vm_build=$BUILD/s390x
		need vm "the agent is not built for s390x: make test-vm builds it" test -x "$vm_build/blkcast-agent"
		vm_libs=$(scripts/sysroot.sh s390x)
	fi
}

vm_bundle() {
	exits 0 "the agent is bundled" scripts/bundle.sh "$vm_build/blkcast-agent" "${vm_libs:-}" "$T/bundle.tar.gz"
	vm_agent=$T/bundle.tar.gz:/bundle.tar.gz
}

# vm_serve OPTION...: the analyzer that the agents in the guests stream to
vm_serve() {
	"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 "$@" >"$T/serve.out" 2>"$T/serve.err" &
	vm_server=$!
	vm_port=$(serve_port "$T/serve.err" $vm_server) && return
	fail "serve starts" "$(cat "$T/serve.err")"
	done_testing
}

vm_trace() {
	local name=$1 mounts=$2 launcher=$3 agents="" a
	for a in $4; do agents="$agents $name-$a"; done
	shift 4
	[ -n "$vm_server" ] || vm_serve
	# shellcheck disable=SC2086
	exits 0 "$name: the agents run and end" scripts/vm.sh --arch $vm_arch --kernel "$vm_kernel" \
		--libs "${vm_libs:-}" --add "${vm_agent:-$vm_build/blkcast-agent}" --add "$vm_build/tests/vm/known_load" \
		--add "$vm_build/tests/vm/refuse_bpf" --disk 64M:5ms --memory $vm_memory --time 300 --out "$T/$name" "$@" \
		--run tests/vm/guest/trace.sh "$vm_port" "$mounts" "$launcher" $agents
	vm_no_report "$name" "$T/$name"/*
	[ $tap_failed = 0 ] || note_files "$T/err" "$T/$name"/*
	"$BUILD/blkcast" characterize --json --quiet --store "$T/store" >"$T/$name.json" 2>"$T/characterize.err" ||
		fail "$name: what came is characterized" "$(cat "$T/characterize.err")"
}
# vm_no_report NAME FILE...: where the programs are built with a sanitizer, it has written into none of these
vm_no_report() {
	local name=$1
	shift
	! sanitized || is "$(grep -lE 'runtime error|Sanitizer' "$@")" "" "$name: no sanitizer has reported anything"
}
note_files() {
	local f
	for f in "$@"; do
		[ ! -f "$f" ] || while IFS= read -r line; do note "${f##*/}: $line"; done < <(tail -n 12 "$f")
	done
}

# The doctor runs before the agent gives anything up; what the agent then chooses is in its log.
vm_auto() {
	is "$(sed -n 's/^auto would choose \([a-z]*\).*/\1/p' "$T/$1/doctor")" "$2" \
		"$1: auto chooses $2"
	is "$(sed -n 's/.* tracing source=\([a-z]*\).*/\1/p' "$T/$1/$1-auto.log")" "$2" \
		"$1: the agent that was to choose traces by $2"
}

# Of the calls that the filters refuse on purpose one is tried by the C library, which then does with
# less: sockets of other families (of the name service's daemon, of the routes).
vm_calls() {
	# socket(AF_UNIX), and what agent/confine/syscall_filter.c leaves out: getsockname, socketpair,
	# uname, ioctl(FIONREAD), mremap, getpid
	local name=$1 source nr refused="41 51 53 63 16 25 39"
	[ $vm_arch != s390x ] || refused="359 367 360 122 54 163 20"
	shift
	vm_serve
	exits 0 "$name: the agents run and end" scripts/vm.sh --arch $vm_arch --kernel "$vm_kernel" \
		--libs "${vm_libs:-}" --add "${vm_agent:-$vm_build/blkcast-agent}" --add "$vm_build/tests/vm/log_call" \
		--add /lib/terminfo/v/vt100:/lib/terminfo/v/vt100 --disk 64M --memory $vm_memory --time 300 --out "$T/$name" --console "$T/console" \
		--run tests/vm/guest/seccomp.sh "$vm_port" "$@"
	[ $tap_failed = 0 ] || note_files "$T/err" "$T/$name"/*
	like "$(tr -d '\033' <"$T/console")" "q quits" "$name: the screen is shown"
	number "$(cat "$T/$name/control") >= 1" "$name: a call that a filter logs is seen"
	for source in "$@"; do
		is "$(sed -n 's/.* tracing source=//p' "$T/$name/$source.log")" "$source" \
			"$name: $source traces under --seccomp log"
		# A sanitizer makes calls of its own, at any time.
		sanitized || is "$(sed -n "s/^$source //p" "$T/$name/missing" | grep -vxF "${refused// /$'\n'}" | xargs)" "" \
			"$name: $source makes no call that its filter lacks"
		holds "$name: $source tells its metrics" grep -q '^blkcast_' "$T/$name/$source.metrics"
		nr=$(find "$T/store/segments/$source" -name '*.seg' 2>/dev/null | wc -l)
		holds "$name: $source has its segments taken" [ "$nr" -gt 0 ]
	done
	vm_no_report "$name" "$T/$name"/* "$T/console"
}

vm_static() {
	local name=$1 source=$2 calls=$3 c=$T/certs
	scripts/certs.sh "$c" analyzer.test web1
	cp "$c/web1.crt" "$c/web1.key" "$c/ca.crt" "$T/"
	serve_owns "$c"
	vm_serve --tls-cert "$c/server.crt" --tls-key "$c/server.key" --client-ca "$c/ca.crt"
	exits 0 "$name: the agent runs and ends" scripts/vm.sh --arch $vm_arch --kernel "$vm_kernel" \
		--add "$vm_build/static/blkcast-agent" --add "$T/ca.crt:/etc/certs/ca-certificates.crt" \
		--add "$T/web1.crt:/etc/web1.crt" --add "$T/web1.key:/etc/web1.key" --disk 64M --time 300 \
		--out "$T/$name" --run tests/vm/guest/static.sh "$vm_port" "$source"
	is "$(cat "$T/$name/libraries")" "" "$name: the guest has no library"
	like "$(cat "$T/$name/agent.log")" " tracing source=$source" "$name: the agent traces by $source"
	like "$(cat "$T/$name/agent.log")" " phase=run calls=$calls" "$name: both filters hold"
	is "$(grep -c upload_failed "$T/$name/agent.log")" 0 "$name: every upload is taken"
	holds "$name: it tells its metrics" grep -q '^blkcast_build_info' "$T/$name/metrics"
	is "$("$BUILD/blkcast" characterize --json --quiet --store "$T/store" 2>/dev/null |
		jq -r '.[] | select(.host == "web1") | "\(.requests.read) \(.lost)"')" "300 0" \
		"$name: every request is with the analyzer, none is lost"
	[ $tap_failed = 0 ] || note_files "$T/err" "$T/$name"/*.log
}

vm_refuses() {
	like "$(grep "^source $2 " "$T/$1/doctor")" "^source $2 +no +.*$3" "$1: $2 is refused, with the reason"
}

# of HOST JQ: a value of the profile of a host's disk
of() { jq -r ".[] | select(.host == \"$1\") | $2" "$T/${1%-*}.json"; }
load() { jq -r "$2" "$T/$1/load.json"; }

vm_exact() {
	local h=$1-$2 sequential
	is "$(of "$h" '.requests | "\(.read) \(.write) \(.discard) \(.other)"') $(of "$h" .lost)" \
		"$(load "$1" '"\(.read) \(.write) 0 0"') 0" "$h: reads and writes are the load's own, nothing is lost"
	is "$(of "$h" '.request_size.read.histogram | map("\(.[0]):\(.[1])") | join(" ")')" \
		"$(load "$1" '"4096:\(.random * 0.4) 16384:\(.random * 0.3) 65536:\(.sequential)"')" \
		"$h: reads of every size are the load's own"
	is "$(of "$h" '.request_size.write.histogram | map("\(.[0]):\(.[1])") | join(" ")')" \
		"4096:$(load "$1" .write)" "$h: so are the writes"
	number "$(of "$h" .request_mix.read) == $(load "$1" '.read / (.read + .write)')" "$h: the mix is the load's"
	sequential=$(load "$1" '.sequential / .read')
	number "($(of "$h" .access_pattern.read.sequential_ratio) - $sequential)^2 <= 1e-4" \
		"$h: the sequential ratio of reads is within 0.01 of $sequential"
	is "$(of "$h" .access_pattern.write.sequential_ratio)" 0 "$h: no write is sequential"
	vm_times "$1" "$2"
}

# The device takes 5 ms; what the load itself saw is more by the system calls.
vm_times() {
	local h=$1-$2 side mean
	for side in read write; do
		mean=$(of "$h" ".response_time.$side.total.mean_s")
		number "0.005 <= $mean && $mean <= $(load "$1" ".${side}_mean_s")" \
			"$h: a $side takes the disk's 5 ms or more, and less than the load saw"
	done
}

vm_rates() {
	local h=$1-$2
	is "$(of "$h" '.requests | "\(.read) \(.write)"')" "$(load "$1" '"\(.read) \(.write)"')" \
		"$h: reads and writes are the load's own"
	vm_times "$1" "$2"
	is "$(of "$h" '.access_pattern.read.sequential_ratio')" null "$h: the sequential ratio is not known"
}

# vm_requests HOST SIDE FILE: "SECTOR TOTAL DEVICE" of each of its reads or writes; the load does no
# place twice.
vm_requests() {
	"$BUILD/blkcast" export --quiet --store "$T/store" --host "$1" --operation "$2" --format csv 2>"$T/export.err" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ printf "%s %.9f %.9f\n", $at["sector"], $at["queue_s"] + $at["device_s"], $at["device_s"] }' |
		sort >"$3"
}

# Each source reads the clock at a place of its own, and the host may stop the emulated processor for
# many milliseconds between two of them: the time of that one request then differs by as much, and on
# a busy host it is enough to move the mean. So all means are of all requests but the twentieth whose
# times differ most; the whole means are in the notes.
vm_alike() { # HOST HOST SIDE STAGE NAME
	local column=2
	[ "$4" = total ] || column=3
	vm_requests "$1" "$3" "$T/a"
	vm_requests "$2" "$3" "$T/b"
	note "$5: whole means $(of "$1" ".response_time.$3.$4.mean_s") and $(of "$2" ".response_time.$3.$4.mean_s")"
	join "$T/a" "$T/b" | awk -v c=$column '{ d = $c - $(c + 2); print (d < 0 ? -d : d), $c, $(c + 2) }' | sort -g |
		awk '{ a[NR] = $2; b[NR] = $3 } END {
			nr = int(0.95 * NR)
			for (i = 1; i <= nr; i++) { sum_a += a[i]; sum_b += b[i] }
			printf "%d %.9f %.9f\n", NR, sum_a / nr, sum_b / nr }' >"$T/means"
	read -r nr mean_a mean_b <"$T/means"
	is "$nr" "$(of "$1" ".requests.$3")" "$5: both saw every one"
	number "($mean_a - $mean_b)^2 <= (0.01 * $mean_b)^2" "$5: the means of 95 of 100 are within 1 % ($mean_a, $mean_b)"
}

# The kernel's counters take a request's time from the same start to the end of its bios, which is
# behind the event of its completion and whatever traces that: never less than a tracer's, but for
# the last millisecond, in which they count. That they are not too long is seen from the load's side.
vm_not_before() {
	local tracer counters
	tracer=$(of "$1" ".response_time.$3.total.mean_s") counters=$(of "$2" ".response_time.$3.total.mean_s")
	note "counters / tracer = $(awk "BEGIN { print $counters / $tracer }")"
	number "$tracer <= $counters + 0.001 / $(of "$2" ".requests.$3")" \
		"$4: the counters end no request before the tracer does ($tracer, $counters)"
}

vm_agree() {
	local a=$1-$2 b=$1-$3 side stage
	is "$(of "$a" '.requests | "\(.read) \(.write)"')" "$(of "$b" '.requests | "\(.read) \(.write)"')" "$1: $2 and $3 count the same requests"
	for side in read write; do
		for stage in total device; do
			[ "$(of "$b" ".response_time.$side.$stage.mean_s")" != null ] || continue
			if [ "$3" = diskstats ]; then
				vm_not_before "$a" "$b" "$side" "$1: $2 and $3: mean of ${side}s"
				continue
			fi
			vm_alike "$a" "$b" "$side" "$stage" "$1: $2 and $3: ${side}s, $stage"
		done
	done
	[ "$(of "$b" .access_pattern.all.sequential_ratio)" != null ] || return 0
	number "($(of "$a" .access_pattern.all.sequential_ratio) - $(of "$b" .access_pattern.all.sequential_ratio))^2 <= 1e-4" \
		"$1: $2 and $3: sequential ratio within 0.01"
}

# vm_monitor COMMAND...: says them to QEMU's monitor, one after the other, each done before the next
vm_monitor() {
	timeout 100 python3 - "$T/monitor" "$@" <<'E2'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
def until_prompt():
	got = b""
	while not got.endswith(b"(qemu) "):
		more = s.recv(4096)
		if not more:
			break
		got += more
	return got
until_prompt()
for c in sys.argv[2:]:
	s.sendall(c.encode() + b"\n")
	answer = until_prompt().decode(errors="replace")
	print(answer.replace("\r", "").splitlines()[1:-1])
E2
}
# vm_reached STAGE: waits until the guest, of process $vm, says so on its console
vm_reached() {
	for _ in $(seq 1200); do
		grep -q "stage: $1" "$T/console" && return
		kill -0 $vm 2>/dev/null || break
		sleep 0.1
	done
	fail "the guest reaches: $1" "$(tail -n 3 "$T/vm.err")"
	return 1
}
