#!/usr/bin/env bash
# scripts/certs.sh DIR SERVER-NAME [HOST]...
# Certificates for `blkcast serve` and its agents in DIR: ca.crt and ca.key (made where missing),
# server.crt for SERVER-NAME (a DNS name or an address), and HOST.crt for each agent, 825 days.
# Those that are there stay. The CA's key signs who may write: keep it off the analyzer.
set -euo pipefail
[ $# -ge 2 ] || {
	sed -n '2,5s/^# //p' "$0" >&2
	exit 2
}
mkdir -p "$1"
cd "$1"
umask 077
name=$2
shift 2
curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

# sign FILE SUBJECT-ALT-NAME USAGE
sign() {
	[ ! -e "$1.crt" ] || return 0
	# shellcheck disable=SC2086
	openssl req $curve -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
	printf 'subjectAltName=%s\nextendedKeyUsage=%s\nbasicConstraints=CA:FALSE\n' "$2" "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 \
		-extfile "$1.ext" -out "$1.crt" 2>/dev/null
	rm -f "$1.csr" "$1.ext"
}

# shellcheck disable=SC2086
[ -e ca.crt ] || openssl req -x509 $curve -days 3650 -keyout ca.key -out ca.crt -subj "/CN=blkcast CA" 2>/dev/null
kind=DNS
[[ $name =~ ^[0-9.]+$|: ]] && kind=IP
sign server "$kind:$name" serverAuth
for host in "$@"; do
	sign "$host" "DNS:$host" clientAuth
done
