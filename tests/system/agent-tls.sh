#!/usr/bin/env bash
# What goes wrong with TLS is said in sentences that differ and name the file or the name concerned.
. tests/support/tap.sh
. tests/loop.sh
need_loop
need_bpf
need certificates "no openssl" command -v openssl
c=$T/certs
scripts/certs.sh "$c" 127.0.0.1 web1
scripts/certs.sh "$T/other" other.example web1
loop_new 16M
serve_owns "$c"
"$BUILD/blkcast" serve $serve_user --store "$T/store" --listen 127.0.0.1:0 --tls-cert "$c/server.crt" \
	--tls-key "$c/server.key" --client-ca "$c/ca.crt" >"$T/serve.out" 2>"$T/serve" &
server=$! agents=""
stop_all() { kill -9 $server $agents 2>/dev/null; wait 2>/dev/null; }
at_exit stop_all
port=$(serve_port "$T/serve" "$server")
cp "$c/web1.crt" "$c/web1.key" "$c/ca.crt" "$T/"
[ "$(id -u)" != 0 ] || chown 0 "$T/web1.crt" "$T/web1.key" "$T/ca.crt"
url=https://127.0.0.1:$port
begin() { # NAME ARG...: an agent in the background
	local name=$1
	shift
	"$BUILD/blkcast-agent" --device "$loop_name" --host web1 --spool "$T/spool.$name" --segment-interval 100ms \
		--window 100ms "$@" >"$T/$name.out" 2>"$T/$name.err" &
	agents="$agents $!"
}
said() { # NAME REGEX TEXT
	for _ in $(seq 750); do grep -q upload_failed "$T/$1.err" && break; sleep 0.02; done
	like "$(grep upload_failed "$T/$1.err")" "$2" "$3"
}
cp "$T/web1.key" "$T/gone.key"
begin key --sink "$url" --tls-ca "$T/ca.crt" --tls-cert "$T/web1.crt" --tls-key "$T/gone.key"
for _ in $(seq 500); do grep -q recording "$T/key.err" && break; sleep 0.02; done
rm "$T/gone.key"
for _ in $(seq 100); do # each load makes a segment
	grep -q upload_failed "$T/key.err" && break
	dd if="$loop_dev" of=/dev/null bs=4k count=10 iflag=direct status=none
	sleep 0.05
done
said key "tls-key: $T/gone.key: the agent cannot read this file: No such file" "a key that cannot be read is named"
cp "$T/other/web1.key" "$T/wrong.key"
begin pair --sink "$url" --tls-ca "$T/ca.crt" --tls-cert "$T/web1.crt" --tls-key "$T/wrong.key"
begin ca --sink "$url" --tls-ca "$T/other/ca.crt" --tls-cert "$T/web1.crt" --tls-key "$T/web1.key"
begin name --sink "https://localhost:$port" --tls-ca "$T/ca.crt" --tls-cert "$T/web1.crt" --tls-key "$T/web1.key"
for _ in $(seq 100); do
	[ "$(cat "$T"/{pair,ca,name}.err | grep -c 'upload_failed')" -ge 3 ] && break
	dd if="$loop_dev" of=/dev/null bs=4k count=10 iflag=direct status=none
	sleep 0.05
done
said pair "tls-cert $T/web1.crt, tls-key $T/wrong.key: not a certificate and its key" "a key of another certificate is named"
said ca "tls-ca: $T/other/ca.crt: the certificate of $url is not signed by this authority" "a wrong authority is named"
said name "sink: https://localhost:$port: the analyzer's certificate does not have this name" "a wrong name is named"
# What is mended is said, too
cp "$c/web1.key" "$T/gone.key"
for _ in $(seq 200); do
	grep -q upload_works_again "$T/key.err" && break
	dd if="$loop_dev" of=/dev/null bs=4k count=10 iflag=direct status=none
	sleep 0.05
done
like "$(cat "$T/key.err")" "upload_works_again after_failures=[1-9]" "after failures the first success is said"
done_testing
