#!/usr/bin/env bash
# tests/cluster/have.sh: whether the engines of tests/cluster/up.sh are installed and can be started here.
[ "$(id -u)" = 0 ] || exit 1
for p in ceph ceph-mon ceph-osd radosgw radosgw-admin monmaptool setpriv curl; do
	command -v "$p" >/dev/null || exit 1
done
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && id postgres >/dev/null 2>&1
