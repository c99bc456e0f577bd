#!/usr/bin/env bash
# scripts/certs.sh DIR SERVER-NAME [HOST]...
# Makes certificates for `blkcast serve` and its agents in DIR: ca.crt and ca.key, server.crt for
# SERVER-NAME (a DNS name or an address), and HOST.crt for each agent. They are valid for 825 days.
# Files that exist already stay. The CA's key signs who may write: keep it off the analyzer.
set -euo pipefail
[ $# -ge 2 ] || {
	sed -n '2,5s/^# //p' "$0" >&2
	exit 2
}

# A name becomes the name of a file, a subject and a line of openssl's configuration: a comma there would
# certify further names, and a slash would leave the folder. So nothing but the letters of host names is
# let through, in labels of at most 63 of them; "ca" and "server" are this script's own files.
refuse() {
	printf 'certs.sh: %q: expected %s\n' "$1" "$2" >&2
	exit 2
}
label='[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
is_name() { [ ${#1} -le 64 ] && [[ $1 =~ ^$label(\.$label)*$ ]]; }
is_address() {
	[[ $1 =~ ^([0-9]{1,3})(\.([0-9]{1,3})){3}$ ]] || [[ $1 =~ ^[0-9A-Fa-f:]*:[0-9A-Fa-f:]*(:[0-9.]+)?$ ]]
}
is_name "$2" || is_address "$2" || refuse "$2" "the server's DNS name or address, nothing else"
for host in "${@:3}"; do
	is_name "$host" || refuse "$host" "a host name of letters, digits, dots and dashes"
	case "$host" in
	ca | server) refuse "$host" "another name: $host.crt is not an agent's" ;;
	esac
done

mkdir -p -- "$1"
cd -- "$1"
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
