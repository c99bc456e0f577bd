#!/usr/bin/env bash
# scripts/static-libs.sh ARCH [SYSROOT]
# Prints a folder (include, lib) with the static libraries of ARCH (amd64, s390x) that the agent as one
# file needs and Debian's packages cannot give: its libcurl.a wants Kerberos, LDAP, RTMP and SSH, its
# libmicrohttpd.a GnuTLS with p11-kit, and of those there is no archive. Here both are built from
# Debian's own source packages, security patches included, with HTTP, TLS by OpenSSL (libssl-dev's
# archive) and nothing else. apt holds what it fetches against Debian's signature. SYSROOT: headers and
# libraries of a foreign ARCH (scripts/sysroot.sh). Built once into the cache of scripts/debs.sh, again
# when Debian has newer sources.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
arch=${1:?usage: scripts/static-libs.sh ARCH [SYSROOT]} sysroot=${2:-}
cache=${BLKCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/blkcast}
cc=cc host=()
case "$arch" in
amd64) triplet=x86_64-linux-gnu ;;
s390x) triplet=s390x-linux-gnu ;;
*) echo "static-libs.sh: architecture '$arch': expected amd64 or s390x" >&2 && exit 2 ;;
esac
if [ -n "$sysroot" ]; then
	cc="$triplet-gcc --sysroot=$sysroot" host=(--host="$triplet")
fi

sources=$("$here/debs.sh" --source "$arch" curl libmicrohttpd)
ssl=$("$here/debs.sh" "$arch" libssl-dev)
prefix=$cache/static-$arch-$({ echo "$sources $ssl"; cat "$0"; } | sha256sum | cut -c 1-16)
if [ -e "$prefix/done" ]; then
	echo "$prefix"
	exit 0
fi

echo "building $(basename -a -s .dsc $sources | xargs) for $arch" >&2
work=$(mktemp -d "${TMPDIR:-/tmp}/blkcast-static.XXXXXX")
new=$(mktemp -d "$cache/static.XXXXXX")
trap 'rm -rf "$work" "$new"' EXIT
mkdir -p "$new/lib" "$new/include"
dpkg-deb --fsys-tarfile "$ssl" | tar -x -C "$work"
cp "$work/usr/lib/$triplet"/lib{ssl,crypto}.a "$new/lib/"
cp -r "$work/usr/include/openssl" "$work/usr/include/$triplet/openssl" "$new/include/"

# build SOURCE FOLDER OPTION...: configures it and installs the library of FOLDER, quietly unless it fails
build() {
	local dsc=$1 folder=$2 dir=$work/$(basename "$1" .dsc)
	shift 2
	# The hash of the source was checked at its download; the keys of its uploader need not be here.
	dpkg-source -q --no-check -x "$dsc" "$dir" >"$work/log" 2>&1 &&
		(cd "$dir" && ./configure --quiet --prefix="$new" --disable-shared --enable-static "${host[@]}" "$@" \
			CC="$cc" CFLAGS="-O2 -g -fPIE" CPPFLAGS="-I$new/include" LDFLAGS="-L$new/lib" &&
			make -s -j2 -C "$folder" install && for d in include src/include; do
			[ ! -e $d/Makefile ] || make -s -C $d install || exit 1
		done) >>"$work/log" 2>&1 && return
	tail -n 20 "$work/log" >&2
	echo "static-libs.sh: $(basename "$dsc") cannot be built for $arch" >&2
	exit 1
}
curl=$(printf '%s\n' $sources | grep /curl_)
microhttpd=$(printf '%s\n' $sources | grep /libmicrohttpd_)
build "$curl" lib --with-openssl="$new" --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --without-ca-path \
	--disable-{dict,file,ftp,gopher,imap,ldap,ldaps,mqtt,pop3,rtsp,smb,smtp,telnet,tftp} \
	--disable-{ares,threaded-resolver,manual,cookies,hsts,alt-svc,unix-sockets,ntlm} \
	--without-{zlib,brotli,zstd,nghttp2,libidn2,libpsl,librtmp,libssh2,gssapi,libgsasl}
build "$microhttpd" src/microhttpd --disable-{https,doc,examples,curl,bauth,dauth,postprocessor}
touch "$new/done"
mv -T "$new" "$prefix" 2>/dev/null || [ -e "$prefix/done" ]
echo "$prefix"
