#!/usr/bin/env bash
# scripts/deps.sh [build] [test] [bench] [demo] [fuzz] [vm] [deb] [test-deb] [case] [static]
# Installs the Debian packages of the named groups that are missing, and says which. With nothing
# missing it does nothing, and needs neither root nor a network. --list first: prints them instead.
set -euo pipefail

build="gcc make pkg-config clang bpftool libbpf-dev libelf-dev zlib1g-dev libzstd-dev libmsgpack-dev
libxxhash-dev libcurl4-openssl-dev libmicrohttpd-dev libgnutls28-dev nettle-dev libjansson-dev libyaml-dev libsqlite3-dev
libncurses-dev libcap-dev libseccomp-dev libopenblas-dev liblapacke-dev libgsl-dev libpq-dev libxml2-dev libblkid-dev"
demo="fio util-linux graphviz jq"
test="$demo ceph-mon ceph-osd radosgw ceph-common postgresql xfsprogs haproxy libfaketime blktrace python3-jsonschema python3-yaml sqlite3 openssh-server openssh-client zstd locales perl procps strace libopenmpi-dev openmpi-bin curl openssl python3 chromium nodejs npm prometheus prometheus-node-exporter man-db tmux
bpftool clang-format-14 e2fsprogs"
bench="libbpf-tools bpftool r-base-core r-cran-earth r-cran-rpart"
deb="debhelper dpkg-dev libopenmpi-dev"
test_deb="lintian debootstrap"
static="dpkg-dev xz-utils debian-archive-keyring"
case="dbench postmark postgresql rocksdb-tools e2fsprogs xfsprogs fio jq python3 util-linux nbdkit nbdkit-plugin-dev libnbd-bin git sqlite3
redis-server zip mariadb-server sysbench qemu-utils rsync restic lmdb-utils squashfs-tools pv etcd-server influxdb
nginx-light apache2-utils rrdtool slapd ldap-utils curl beanstalkd borgbackup
notmuch subversion par2 firebird3.0-server-core firebird3.0-utils ostree mercurial p7zip-full db5.3-util rdiff-backup
postfix xorriso kyotocabinet-utils samba smbclient ccache python3-plyvel fossil hdf5-tools
bind9 bind9-dnsutils dovecot-imapd bup python3-tdb aria2
python3-gdbm rsyslog dar unison sox bogofilter-bdb cvs squid samtools sphinxsearch
victoria-metrics casync docker-registry python3-xapian"
fuzz="clang libclang-rt-14-dev valgrind"
vm="qemu-system-x86 qemu-system-misc qemu-user-static binutils cpio kmod xz-utils zstd debian-archive-keyring jq
gcc-s390x-linux-gnu libc6-dev-s390x-cross"

list=""
if [ "${1:-}" = --list ]; then
	list=1
	shift
fi
packages=""
for group in "${@:-build}"; do
	case "$group" in
	build | demo | test | bench | fuzz | vm | deb | test-deb | case | static)
		group=${group/-/_}
		packages="$packages ${!group}"
		;;
	*)
		echo "deps.sh: unknown group '$group': expected build, test, bench, demo, fuzz, vm, deb, test-deb, case or static" >&2
		exit 2
		;;
	esac
done

if [ -n "$list" ]; then
	printf '%s\n' $packages
	exit 0
fi

missing=""
for p in $packages; do
	# A nodejs that is not Debian's own brings npm, and Debian's npm cannot be installed beside it.
	if [ "$p" = npm ] && command -v npm >/dev/null; then continue; fi
	dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed ||
		missing="$missing $p"
done
missing=$(echo $missing | tr ' ' '\n' | sort -u | tr '\n' ' ')
[ -n "${missing// /}" ] || exit 0

echo "installing: $missing" >&2
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
export DEBIAN_FRONTEND=noninteractive
# Services that come with test tools (a metrics server, an exporter) must not be started.
policy=/usr/sbin/policy-rc.d
made=""
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null
	$sudo chmod 755 $policy
	made=1
fi
status=0
{
	$sudo apt-get update -qq
	# shellcheck disable=SC2086
	$sudo apt-get install -y -qq --no-install-recommends $missing
} >&2 || status=$?
[ -z "$made" ] || $sudo rm -f $policy
exit $status
