#!/usr/bin/env bash
# The agent as one file (make static), in a folder that holds no library, with the kernel's folders and a
# network of its own: it traces by bpf, looks the analyzer up, knows it by the system's certificates,
# and streams to it under both filters.
. tests/support/tap.sh
. tests/loop.sh
agent=$BUILD/static/blkcast-agent blkcast=$(realpath "$BUILD/blkcast")
need static "the static agent is not built: make test-static builds it" test -x "$agent"
need_loop
need_bpf
need loop "no namespace of mounts and networks can be made" unshare -mn true
need certificates "openssl is not installed" command -v openssl
need python3 "python3 is not installed" command -v python3

like "$(ldd "$agent" 2>&1)" 'statically linked|not a dynamic executable' "ldd finds nothing to load"
is "$(readelf -dlW "$agent" | grep -c -e NEEDED -e INTERP)" 0 "it asks for no library and no loader"
like "$(readelf -hW "$agent")" 'Type: *DYN' "it can be loaded anywhere"
is "$("$agent" --version)" "$("$BUILD/blkcast-agent" --version)" "its version is that of the other"

loop_new 64M
dev=$loop_name path=$loop_dev
r=$T/root c=$T/certs
mkdir -p "$r"/{proc,sys,etc/ssl/certs,spool}
cp "$agent" "$r/blkcast-agent"
scripts/certs.sh "$c" analyzer.test web1 db1
scripts/certs.sh "$T/other" analyzer.test
cp "$c"/{web1,db1}.{crt,key} "$r/etc/"
cp "$c/ca.crt" "$r/etc/ssl/certs/ca-certificates.crt"
echo "127.0.0.1 localhost" >"$r/etc/hosts"
echo "nameserver 127.0.0.1" >"$r/etc/resolv.conf"
# Of these only two are within the C library.
echo "hosts: resolve mymachines mdns4_minimal [NOTFOUND=return] files dns" >"$r/etc/nsswitch.conf"

pids=""
stop_all() { for p in $pids; do kill -KILL "$p" 2>/dev/null; done; }
at_exit stop_all
# until_said REGEX FILE: waits for a line
until_said() {
	for _ in $(seq 1200); do
		grep -Eq "$1" "$2" 2>/dev/null && return 0
		sleep 0.05
	done
	return 1
}
unshare -mn --propagation private tests/system/name_server.py analyzer.test 127.0.0.1 >"$T/names" 2>&1 &
ns=$!
pids="$pids $ns"
until_said '^listening$' "$T/names" || fail "the name server starts" "$(cat "$T/names")"
inside=(nsenter -t "$ns" -m -n)
"${inside[@]}" mount --rbind /proc "$r/proc"
"${inside[@]}" mount --rbind /sys "$r/sys"

serve_owns "$c"
"${inside[@]}" "$blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --tls-cert "$c/server.crt" \
	--tls-key "$c/server.key" --client-ca "$c/ca.crt" >"$T/serve.out" 2>"$T/serve.err" &
pids="$pids $!"
port=$(serve_port "$T/serve.err") || fail "serve starts" "$(cat "$T/serve.err")"

# start LOG HOST SINK OPTION...: an agent, once it says that it traces
start() {
	local log=$1 host=$2 sink=$3
	shift 3
	"${inside[@]}" chroot "$r" /blkcast-agent --source bpf --device "$dev" --host "$host" --sink "$sink" \
		--tls-cert "/etc/$host.crt" --tls-key "/etc/$host.key" --spool "/spool/$host" --window 200ms \
		--segment-interval 1s --verbose "$@" >"$log" 2>&1 &
	pid=$!
	pids="$pids $pid"
	until_said ' phase=run |^blkcast-agent: ' "$log"
}
stored() {
	"$blkcast" ls --store "$T/store" --json 2>/dev/null |
		jq --arg host "$1" '[.. | objects | select(.host? == $host) | .requests? // empty | if type == "object" then add else . end] | max // 0'
}

start "$T/web1.log" web1 "https://analyzer.test:$port" --listen 127.0.0.1:0
like "$(cat "$T/web1.log")" 'phase=run calls=41' "both filters hold, of 41 calls the last"
is "$(sed -n 's/^Seccomp_filters:[[:space:]]*//p' /proc/"$pid"/task/*/status | sort -u)" 2 "for each of its threads"
dd if="$path" of=/dev/null bs=4k count=500 iflag=direct status=none
metrics=$(sed -n 's/.* listening .*port=\([0-9]*\).*/\1/p' "$T/web1.log")
like "$("${inside[@]}" curl -s "http://127.0.0.1:$metrics/metrics")" '^blkcast_build_info' "its metrics are served"
sleep 1.5
kill -INT "$pid"
wait "$pid"
is $? 0 "it ends well"
is "$(grep -c 'upload_failed' "$T/web1.log")" 0 "every upload was taken"
[ $tap_failed = 0 ] || while IFS= read -r line; do note "$line"; done <"$T/web1.log"
is "$(stored web1)" 500 "and every request is with the analyzer"
like "$(cat "$T/names")" '^analyzer.test 1$' "whose name was looked up"

# Who the analyzer is, is checked; a name that nobody knows is told.
start "$T/db1.log" db1 "https://localhost:$port" --sink https://nobody.test:1
dd if="$path" of=/dev/null bs=4k count=100 iflag=direct status=none
holds "a certificate of another name is refused" until_said 'upload_failed why="sink: .*certificate does not' "$T/db1.log"
holds "and a name that nobody has is told" until_said 'upload_failed why="nobody.test: ' "$T/db1.log"
kill -INT "$pid"
wait "$pid"
cp "$T/other/ca.crt" "$r/etc/ssl/certs/ca-certificates.crt"
start "$T/db1.log" db1 "https://analyzer.test:$port"
holds "and one that another authority signed" until_said 'upload_failed why="tls-ca: .*not signed' "$T/db1.log"
kill -INT "$pid"
wait "$pid"
is "$(stored db1)" 0 "nothing was sent to either"
done_testing
