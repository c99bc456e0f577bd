#!/usr/bin/env bash
# The same load seen by an agent that hides names and places and by one that does not: what blkcast
# redact makes of the open trace is what the other sent; and what goes over HTTP is what
# --show-what-leaves lists.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf

b=$BUILD/blkcast
loop_new 64M
printf '0123456789abcdef0123456789abcdef\n' >"$T/key"
chmod 600 "$T/key"
# The other end: says which header lines and paths came, and keeps the bodies.
cat >"$T/server.py" <<'E2'
import http.server, json, sys
t = sys.argv[1]
n = 0
class Take(http.server.BaseHTTPRequestHandler):
	protocol_version = "HTTP/1.1"
	def note(self):
		with open(t + "/heads", "a") as f:
			print(self.command, self.path, file=f)
			for k in self.headers:
				print("header", k, file=f)
	def answer(self, status, text):
		self.send_response(status)
		self.send_header("Content-Length", str(len(text)))
		self.end_headers()
		self.wfile.write(text.encode())
	def do_GET(self):
		self.note()
		self.answer(200, '{"streams":[]}')
	def do_PUT(self):
		global n
		self.note()
		body = self.rfile.read(int(self.headers["Content-Length"]))
		open(t + "/body.%d" % n, "wb").write(body)
		n += 1
		host, boot, epoch, sequence = self.path.split("/")[3:]
		self.answer(201, json.dumps({"host": host, "boot_id": boot, "epoch": int(epoch),
			"sequence": int(sequence), "hash": self.headers["Blkcast-Hash"]}))
	def log_message(self, *a):
		pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Take)
open(t + "/port", "w").write(str(s.server_port))
s.serve_forever()
E2
python3 "$T/server.py" "$T" &
server=$!
stop_server() { kill $server; }
at_exit stop_server
wait_until 60 test -s "$T/port"
url=http://127.0.0.1:$(cat "$T/port")

agent() { # NAME ARGS...
	"$BUILD/blkcast-agent" --device "$loop_name" --host web1.example --verbose "${@:2}" >"$T/$1.log" 2>&1 &
	pids="$pids $!"
	for _ in $(seq 400); do
		grep -q 'tracing source=bpf' "$T/$1.log" && return
		sleep 0.05
	done
	fail "the agent starts" "$(tail -n 3 "$T/$1.log")"
}
pids=""
agent open --sink "file:$T/open"
agent hidden --sink "file:$T/hidden" --sink "$url" --spool "$T/spool" --anonymize "$T/key"
sleep 0.3
# A few at a time, so that both agents see them in one order.
fio_run --rw=randrw --bs=4k --iodepth=1 --size=64M --number_ios=800
fio_run --rw=write --bs=64k --iodepth=1 --size=16M
dd if="$loop_dev" of=/dev/null bs=1M count=1 skip=40 iflag=direct status=none
sleep 0.5
kill -INT $pids
wait $pids

"$b" redact --quiet --key "$T/key" "$T/open" "$T/redacted"
columns() { "$b" dump --format csv --operation read,write "$@" | sed 1d | cut -d, -f4,6-8,11-13; }
note "$("$b" dump --format csv -n 1 "$T/redacted" | head -n 1 | cut -d, -f4,6-8,11-13)"
number "$(columns --store "$T/hidden" | wc -l) >= 1050" "the load is in the trace"
is "$(columns --store "$T/hidden" | md5sum)" "$(columns "$T/redacted" | md5sum)" \
	"operation, place, length, thread, process, cgroup: as redact makes them of the open trace"
holds "which are not those of the open trace" \
	[ "$(columns --store "$T/open" | md5sum)" != "$(columns "$T/redacted" | md5sum)" ]
hosts() { "$b" dump --profiles "$@" | jq -r .host | sort -u; }
is "$(hosts --store "$T/hidden")" "$(hosts "$T/redacted")" "both give the host the same name"
like "$(hosts --store "$T/hidden")" '^host-[0-9a-f]{16}$' "a pseudonym"
is "$(cat "$T"/body.* "$T/heads" "$T/hidden"/segments/*/*/*/*.seg | grep -acE 'web1|example|"fio"|/dev/loop')" 0 \
	"no name went out, to a file or over HTTP"
profile() { "$b" characterize --json -q "$@" | jq -Sc '.[0] | del(.begin_s, .end_s, .duration_s)
	| [.requests, .request_size, .access_pattern, .locality.footprint_bytes, .locality.miss_ratio_curve]'; }
is "$(profile --store "$T/hidden")" "$(profile "$T/redacted")" "sizes, pattern and reuse of both are the same"
is "$(profile --store "$T/hidden" | jq -c '.[0,1,3,4]')" "$(profile --store "$T/open" | jq -c '.[0,1,3,4]')" \
	"and sizes and reuse those of the open trace"

# Every header line and path that went is in the list.
"$BUILD/blkcast-agent" --show-what-leaves --sink "$url" --host web1.example --anonymize "$T/key" >"$T/list"
unlisted=""
for h in $(sed -n 's/^header //p' "$T/heads" | sort -u); do
	grep -q "^  $h " "$T/list" || unlisted="$unlisted $h"
done
is "$unlisted" "" "every header line that went is listed"
sed -n 's/^  request line *\(PUT\|GET\) \([^ ]*\).*/\1 \2/p' "$T/list" |
	sed 's/EPOCH\|SEQUENCE/[0-9]+/g; s/?/[?]/' >"$T/patterns"
is "$(grep -v ^header "$T/heads" | grep -cvxEf "$T/patterns")" 0 "every path that went is listed"

chmod 644 "$T/key"
exits 2 "a key that others may read: exit 2" "$BUILD/blkcast-agent" --anonymize "$T/key" --sink stdout: --duration 1s
like "$(cat "$T/err")" "^blkcast-agent: anonymize: key: $T/key: others may use it: expected mode 0600 or 0400$" "and says so"
exits 2 "no key: exit 2" "$BUILD/blkcast-agent" --anonymize "$T/none" --sink stdout: --duration 1s
done_testing
