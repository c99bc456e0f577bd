#!/usr/bin/env bash
# scripts/test-deb.sh tests the packages of `make deb` in a chroot with a fresh Debian 12: they are checked by
# lintian, made twice, installed, started, upgraded and purged. The script needs root and a
# mirror ($BLKCAST_DEBIAN); the fresh system is kept in the cache ($BLKCAST_CACHE). No services are
# started there: policy-rc.d notes what would have been, the units are judged by systemd-analyze, and
# the programs are started by hand as their users.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/support/tap.sh
BUILD=$(realpath "$BUILD")
VERSION=${VERSION:?}
cache=${BLKCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/blkcast}
mirror=${BLKCAST_DEBIAN:-http://deb.debian.org}/debian
arch=$(dpkg --print-architecture)
root=$T/root
set +e

need root "root is needed" [ "$(id -u)" = 0 ]
debs=("$BUILD/blkcast_${VERSION}_$arch.deb" "$BUILD/blkcast-agent_${VERSION}_$arch.deb")
is "$(lintian --fail-on error,warning --allow-root "${debs[@]}" 2>&1)" "" "lintian finds nothing"
before=$(sha256sum "${debs[@]}")
VERSION=$VERSION BUILD=$BUILD scripts/mkdeb.sh >/dev/null
is "$(sha256sum "${debs[@]}")" "$before" "made again, the packages are the same bytes"
exposure() { systemd-analyze security --offline=true --no-pager "$1" | sed -n 's/.*exposure level.*: \([0-9.]*\).*/\1/p'; }
agent_exposure=$(exposure scripts/package/blkcast-agent.service)
serve_exposure=$(exposure scripts/package/blkcast-serve.service)
note "exposure: agent $agent_exposure, serve $serve_exposure"
number "$agent_exposure <= 1.8" "the agent's unit is exposed by 1.8 at most"
number "$serve_exposure <= 1.3" "serve's unit by 1.3 at most"

mkdir -p "$cache"
[ -e "$cache/bookworm.tar" ] || {
	debootstrap --variant=minbase bookworm "$T/fresh" "$mirror" >"$T/log" 2>&1 &&
		tar -C "$T/fresh" -cf "$cache/bookworm.tar.new" . && mv "$cache/bookworm.tar.new" "$cache/bookworm.tar"
	rm -rf "$T/fresh"
}
mkdir "$root"
tar -C "$root" -xf "$cache/bookworm.tar" || { fail "a fresh Debian is there"; done_testing; }
cp /etc/resolv.conf "$root/etc/" 2>/dev/null
# The mirrors that this machine is set up with.
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null
printf '#!/bin/sh\necho "$@" >>/policy.log\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mount -t proc proc "$root/proc"
stop() { [ -z "$serve" ] || kill -KILL "$serve" 2>/dev/null; }
serve=""
at_exit stop
unmount() { umount -l "$root/proc" 2>/dev/null; }
at_exit unmount
in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
state() { in_root dpkg-query -W -f '${db:Status-Abbrev} ${Version}\n' blkcast blkcast-agent 2>/dev/null | sort -u | paste -sd' '; }

cp "${debs[@]}" "$root/root/"
in_root apt-get update -qq >"$T/log" 2>&1
in_root find / -xdev -not -path '/root/*' -not -path '/var/cache/*' -not -path '/var/log/*' -not -path '/var/lib/apt/*' 2>/dev/null | sort >"$T/files.before"
in_root sh -c 'apt-get install -y --no-install-recommends /root/*.deb' >"$T/log" 2>&1
is "$(state)" "ii  $VERSION" "they install, with what they depend on" || tail -n 5 "$T/log"
is "$(in_root sh -c 'for u in _blkcast _blkcast-agent; do getent passwd $u | cut -d: -f1,6,7; done' | paste -sd' ')" \
	"_blkcast:/nonexistent:/usr/sbin/nologin _blkcast-agent:/nonexistent:/usr/sbin/nologin" "users without a home or shell are made"
is "$(in_root blkcast-agent --version) $(in_root blkcast --version)" "blkcast-agent $VERSION blkcast $VERSION" "the programs start"
exits 0 "the configuration is read" in_root blkcast-agent --config /etc/blkcast/agent.yaml --source diskstats --duration 1s
like "$(in_root sh -c 'cd /etc/systemd/system/multi-user.target.wants && ls | paste -sd" "')" \
	'blkcast-agent.service blkcast-serve.service' "both services are enabled"
cp "$root"/lib/systemd/system/blkcast-*.service "$T/"
is "$(cmp "$T/blkcast-agent.service" scripts/package/blkcast-agent.service 2>&1)" "" "the unit is the one judged above"

# The programs run as their users: one segment lies in the spool, and serve acknowledges another one.
in_root install -d -o _blkcast -g _blkcast -m 700 /var/lib/blkcast/store
in_root install -d -o _blkcast-agent -g _blkcast-agent -m 700 /var/lib/blkcast/spool
user=$(in_root id -u _blkcast)
chroot "$root" /usr/bin/setpriv --reuid="$user" --regid="$user" --clear-groups /usr/bin/blkcast serve \
	--store /var/lib/blkcast/store --listen 127.0.0.1:0 2>"$T/serve" &
serve=$!
sleep 1
like "$(cat "$T/serve")" "blkcast serve: port [0-9]+" "serve starts as its user"
kill -TERM $serve
wait $serve
in_root setpriv --reuid=_blkcast-agent --regid=_blkcast-agent --clear-groups blkcast-agent \
	--source diskstats --sink http://127.0.0.1:1 --duration 2s --window 500ms >"$T/log" 2>&1
spooled=$(cd "$root/var/lib/blkcast/spool" && find . -type f -exec sha256sum {} + | sort)
number "$(printf '%s\n' "$spooled" | wc -l) >= 1" "the agent spools as its user, with no capability"

echo '# mine' >>"$root/etc/blkcast/agent.yaml"
next=$VERSION+next
VERSION=$next BUILD=$BUILD scripts/mkdeb.sh >"$T/next"
rm -f "$root"/root/*.deb
# shellcheck disable=SC2046
mv $(cat "$T/next") "$root/root/"
in_root sh -c 'apt-get install -y --no-install-recommends /root/*.deb' >"$T/log" 2>&1
is "$(state)" "ii  $next" "they upgrade"
is "$(cd "$root/var/lib/blkcast/spool" && find . -type f -exec sha256sum {} + | sort)" "$spooled" \
	"the spool is what it was"
is "$(tail -n 1 "$root/etc/blkcast/agent.yaml")" "# mine" "so is the changed configuration"
in_root apt-get remove -y blkcast blkcast-agent >"$T/log" 2>&1
is "$(cd "$root/var/lib/blkcast/spool" && find . -type f | wc -l)" "$(printf '%s\n' "$spooled" | wc -l)" \
	"removed, they leave spool and configuration"
in_root sh -c 'apt-get purge -y blkcast blkcast-agent' >"$T/log" 2>&1
is "$(state)" "" "purged, they are unknown"
in_root find / -xdev -not -path '/root/*' -not -path '/var/cache/*' -not -path '/var/log/*' -not -path '/var/lib/apt/*' 2>/dev/null | sort >"$T/files.after"
is "$(comm -13 "$T/files.before" "$T/files.after" | grep blkcast)" "" "and nothing of theirs is left"
done_testing
