#!/usr/bin/env bash
# Requests to the object store are signed as AWS says (Signature Version 4). tests/support/sigv4.py computes signatures
# by itself; it is held against the vectors that AWS publishes, and then blkcast's requests against it.
. tests/support/tap.sh
need python3 "python3 is missing" have python3
exits 0 "the judge of signatures agrees with the vectors of AWS" python3 tests/support/sigv4.py --vectors
is "$(grep -c '^ok' "$T/out")" 4 "with all of them"

python3 tests/support/sigv4.py "$T/port" "$T/requests" 2>"$T/server" &
server=$!
end_server() { kill $server 2>/dev/null; }
at_exit end_server
wait_until 10 test -s "$T/port"
url=http://127.0.0.1:$(cat "$T/port")/bucket
key=AKIAIOSFODNN7EXAMPLE secret=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
client=$BUILD/tests/system/object_client
exits 0 "put, ranged get, list and delete are signed" "$client" "$url" $key $secret
is "$(cat "$T/out")" "the object store. More o
bundles/20260101/0-1.seg 1 old
bundles/20260101/0-2.seg 1 old" "and do what they say, by the clock of the object store"
is "$(awk '{ print $1, $NF }' "$T/requests" | tr '\n' ' ')" "PUT 200 PUT 200 GET 206 GET 200 GET 200 DELETE 204 DELETE 204 " \
	"nothing was refused or asked twice"
like "$(cat "$T/requests")" "continuation-token=a%2Bb%2F%20%3Dbundles" "a token with other characters is coded and signed"
exits 0 "also with a prefix in the bucket" "$client" "$url/below/here" $key $secret
exits 1 "another secret key is refused" "$client" "$url" $key ${secret}x
like "$(cat "$T/err")" "^$url/.*: the object store refuses the keys \(HTTP 403, SignatureDoesNotMatch\)" "and the line says so"
exits 1 "so is an unknown access key" "$client" "$url" ${key}x $secret
like "$(cat "$T/err")" "InvalidAccessKeyId" "and the line says so"
is "$(wc -l <"$T/err")" 1 "in one line"
done_testing
