#!/usr/bin/env bash
# scripts/certs.sh: names that would certify others, leave the folder or replace its own files are refused.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
need certificates "openssl is not installed" command -v openssl

refused() { # NAME ARGS...
	local name=$1
	shift
	exits 2 "$name is refused" scripts/certs.sh "$T/bad" "$@"
	like "$(cat "$T/err")" "^certs.sh: .*: expected (the server's DNS name or address|a host name|another name)" "$name is named"
	holds "$name makes nothing" test ! -e "$T/bad"
}
refused "a second name" srv guest1,DNS:good1
refused "a path" srv ../x
refused "an option" srv -x
refused "two lines" srv $'a\nb'
refused "a blank" srv 'a b'
refused "no name" srv ''
refused "the authority's own file" srv ca
refused "the server's own file" srv server
refused "a name too long" srv "$(printf 'a%.0s' {1..65})"
refused "a server of two names" 127.0.0.1,DNS:other guest1
refused "a server that is a path" ../srv guest1
refused "the second of two" srv guest1 guest2/x
exits 0 "host names and addresses" scripts/certs.sh "$T/good" 10.0.0.1 guest1 vm-2.example.org under_score
is "$(cd "$T/good" && echo *.crt)" "ca.crt guest1.crt server.crt under_score.crt vm-2.example.org.crt" "have a certificate each"
is "$(openssl x509 -in "$T/good/guest1.crt" -noout -ext subjectAltName | tail -n 1 | xargs)" DNS:guest1 "of that name alone"
exits 0 "an address of version 6" scripts/certs.sh "$T/six" ::1 guest1
like "$(openssl x509 -in "$T/six/server.crt" -noout -ext subjectAltName)" "IP Address:0:0:0:0:0:0:0:1" "is one"
done_testing
