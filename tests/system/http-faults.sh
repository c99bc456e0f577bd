#!/usr/bin/env bash
# The agent's sender and `blkcast serve` with a faulty network between them: nothing lost, nothing
# stored twice, whatever is cut, late, garbled, repeated or answered by somebody else.
. tests/support/tap.sh
need python3 "no python3" command -v python3
b=$BUILD/blkcast sender=$BUILD/tests/system/agent_sender
server="" proxy=""
stop_all() { for p in $server $proxy; do kill -9 "$p" 2>/dev/null; done; wait 2>/dev/null; }
at_exit stop_all
: >"$T/err" >"$T/proxy"
"$b" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --connections-per-address 200 >"$T/out" 2>"$T/err" &
server=$!
port=$(serve_port "$T/err" $server)
python3 tests/system/http_faults.py "$port" "$T/faults" >"$T/proxy" 2>"$T/proxy.err" &
proxy=$!
proxy_said() { read -r pport nr <"$T/proxy"; }
wait_until 60 proxy_said

stored() { "$b" ls --store "$T/store" --json | jq "[.hosts[] | select(.host==\"$1\")][0] | .$2"; }
timeout 200 "$sender" "http://127.0.0.1:$pport" "$T/spool" net $((nr + 20)) 40 120 log=1 >"$T/sent" 2>"$T/log"
is "$(cat "$T/sent")" "captured $(((nr + 20) * 40)) lost 0 left 0" "$nr faults: all segments are acknowledged"
is "$(sort -u "$T/faults" | wc -l)" "$nr" "each fault was done"
is "$(stored net segments)" $((nr + 20)) "each segment is in the store once"
is "$(find "$T/store/segments/net" -name '*.seg' | wc -l)" $((nr + 20)) "so say the files"
is "$("$b" dump --help >/dev/null; stored net requests)" $(((nr + 20) * 40)) "with all its requests"
is "$(find "$T/spool" -name '*.bad' | wc -l)" 0 "nothing was set aside"
note "$(grep -c upload_failed "$T/log") failures told"

# An analyzer that asks for a year's pause gets ten minutes, and has no say in what the agent does meanwhile.
python3 -c 'import http.server
class Year(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(503)
        self.send_header("Retry-After", "31536000")
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_PUT = do_GET = answer
s = http.server.HTTPServer(("127.0.0.1", 0), Year)
print(s.server_port, flush=True)
s.serve_forever()' >"$T/year" 2>"$T/year.err" &
proxy="$proxy $!"
wait_until 60 test -s "$T/year"
timeout 60 "$sender" "http://127.0.0.1:$(cat "$T/year")" "$T/spool3" net 1 40 1 log=1 >"$T/sent" 2>"$T/log"
is "$(cat "$T/sent")" "captured 40 lost 0 left 1" "a segment that nobody takes stays in the spool"
like "$(cat "$T/log")" 'status 503.* retry_in_s=60[01]\.' "a pause of a year is one of ten minutes"

# The high mark: what is there is not sent again after a restart that lost the spool's position
timeout 60 "$sender" "http://127.0.0.1:$port" "$T/spool2" net 20 40 20 >"$T/sent"
is "$(cat "$T/sent")" "captured 800 lost 0 left 0" "what is there is acknowledged again"
is "$(stored net segments)" $((nr + 20)) "and stored once"

# A store put back from a backup has less than it acknowledged
ask() { curl -sm 5 "http://127.0.0.1:$port/v1/streams/net$1" | jq -c "$2"; }
IFS=$'\t' read -r boot epoch < <(ask "" '.streams[0]' | jq -r '[.boot_id, .epoch] | @tsv')
is "$(ask "?boot_id=$boot&epoch=$epoch" '[.streams[].highest_sequence]')" "[$((nr + 19))]" "a stream by its epoch"
is "$(ask "?boot_id=$boot&epoch=1" .streams)" "[]" "no stream has another epoch"
is "$(ask "?epoch=1" '.streams, .error')" \
	$'null\n"query: expected boot_id, boot_id and epoch, or from_boot_id and from_epoch"' "an epoch is one of a boot"
done_testing
