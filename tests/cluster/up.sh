#!/usr/bin/env bash
# tests/cluster/up.sh COMMAND [ARGUMENT] : the engines of a cluster on loopback, in the folder $CLUSTER_DIR, without
# systemd, for tests. Root only. No port is fixed: each engine gets a free one, and env says which.
#
#   start            PostgreSQL with STANDBYS standbys (1) whose commits wait for one of them, and Ceph's S3 gateway
#                    over OSDS (1) small OSDs with SIZE (1) copies; about 20 seconds
#   stop             ends all that it started; the data stay
#   env              prints the variables of a shell: STORE (the URL), PG_PORT, S3_URL, keys
#   kill WHAT        SIGKILL at once: pg0, pg1, ..., osd0, ..., rgw
#   run WHAT         starts it again on its data
#   promote N        makes standby N the primary; the other standbys follow it
#   rejoin N M       makes server N, which was killed, a standby of M with a fresh copy of its data
#   power N          cuts the power of server N: what it has not synced is gone. It is left dead, on its data; run
#                    starts it. Only with DISKS=1, which puts each server on a file system of its own
#   psql N SQL       asks server N
#
# A file port.NAME that is there at start is kept; standbys reach server N through port.link<N> where that is there.
# FSYNC=off and SYNC=local start PostgreSQL as nobody should: a test of a test.
set -euo pipefail

D=${CLUSTER_DIR:?the folder of the engines}
STANDBYS=${STANDBYS:-1} OSDS=${OSDS:-1} SIZE=${SIZE:-1} SYNC=${SYNC:-on} FSYNC=${FSYNC:-on} OSD_GB=${OSD_GB:-4}
DISKS=${DISKS:-0}
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
export CEPH_CONF=$D/ceph/ceph.conf LC_ALL=C

die() {
	echo "up.sh: $*" >&2
	exit 1
}
free_port() {
	local port
	while :; do
		port=$((20000 + SRANDOM % 12000))
		grep -qi ":$(printf %04x $port) [0-9a-f]*:[0-9a-f]* 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null || break
	done
	echo $port
}
# ready SECONDS COMMAND...: until it succeeds
ready() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || die "no success in time: $*"
		sleep 0.1
	done
}
# A port that the caller chose stands in the file already.
new_port() { [ -e "$D/port.$1" ] || free_port >"$D/port.$1"; }
port() { cat "$D/port.$1"; }

# PostgreSQL runs as its own user and refuses root.
as() { (cd / && setpriv --reuid postgres --regid postgres --init-groups -- "$@"); }
pg_ctl() { as "$bin/pg_ctl" -s -w -t 60 -D "$D/pg/n$1" -l "$D/pg/n$1.log" "${@:2}"; }
psql() { as "$bin/psql" -X -h 127.0.0.1 -p "$(port "pg$1")" -U postgres -d "${3:-postgres}" -v ON_ERROR_STOP=1 -Atqc "$2"; }
pg_run() { pg_ctl "$1" -o "-p $(port "pg$1")" start; }
pg_names() {
	local n names=""
	[ "$STANDBYS" = 0 ] && return
	for n in $(seq 0 "$STANDBYS"); do names=$names${names:+, }s$n; done
	echo "ANY 1 ($names)"
}
# Each server's data on ext4 in a file on XFS, which can clone the file at the moment of a power cut: the clone has
# what the file system of the server wrote out, and nothing that only its page cache knew.
pg_disks() {
	local n
	mkdir -p "$D/disks"
	truncate -s 16G "$D/disks.img"
	mkfs.xfs -q "$D/disks.img"
	mount -o loop "$D/disks.img" "$D/disks"
	for n in $(seq 0 "$STANDBYS"); do
		truncate -s 4G "$D/disks/pg$n"
		mkfs.ext4 -q -F "$D/disks/pg$n"
		pg_mount "$n"
		mkdir "$D/pg/disk$n/data"
		chown postgres:postgres "$D/pg/disk$n/data"
		chmod 700 "$D/pg/disk$n/data"
		ln -s "disk$n/data" "$D/pg/n$n"
	done
}
pg_mount() {
	mkdir -p "$D/pg/disk$1"
	mount -o loop "$D/disks/pg$1" "$D/pg/disk$1"
}
stands() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null || echo Z) == [TtZX]* ]]; }
# Stops server N, and says its processes. One that its parent forks meanwhile would be missed, and could wait for ever for
# a lock of one that was killed: the parent stands still before its children are looked for.
pg_stop_all() {
	local top pids p
	top=$(head -n 1 "$D/pg/n$1/postmaster.pid")
	kill -STOP "$top"
	ready 60 stands "$top"
	pids="$top $(pgrep -P "$top" || true)"
	kill -STOP $pids 2>/dev/null || true
	for p in $pids; do ready 60 stands "$p"; done
	echo $pids
}
# All processes are stopped first, so that none of them promises anything that the clone does not have.
pg_power() {
	local pids
	pids=$(pg_stop_all "$1")
	cp --reflink=always "$D/disks/pg$1" "$D/disks/cut"
	kill -KILL $pids 2>/dev/null || true
	ready 60 sh -c "! ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -q ' $D/pg/disk$1/data\$'"
	umount "$D/pg/disk$1"
	mv "$D/disks/cut" "$D/disks/pg$1"
	pg_mount "$1"
}
pg_copy() {
	as "$bin/pg_basebackup" -h 127.0.0.1 -p "$(port "pg$2")" -U postgres -D "$D/pg/n$1" -c fast -X stream -N -C -S "s$1"
	cat >>"$D/pg/n$1/postgresql.conf" <<-C
		primary_conninfo = 'host=127.0.0.1 port=$(port "link$2" 2>/dev/null || port "pg$2") user=postgres application_name=s$1'
		primary_slot_name = 's$1'
	C
	as touch "$D/pg/n$1/standby.signal"
}
pg_rejoin() {
	find "$D/pg/n$1/" -mindepth 1 -delete
	psql "$2" "SELECT pg_drop_replication_slot('s$1')" >/dev/null 2>&1 || true
	pg_copy "$1" "$2"
	pg_run "$1"
}
pg_start() {
	local n
	mkdir -p "$D/pg"
	chown postgres:postgres "$D/pg"
	for n in $(seq 0 "$STANDBYS"); do new_port "pg$n"; done
	[ "$DISKS" = 0 ] || pg_disks
	as "$bin/initdb" -D "$D/pg/n0" -A trust --no-instructions -N -E UTF8 --locale C >"$D/pg/initdb.log"
	cat >>"$D/pg/n0/postgresql.conf" <<-C
		listen_addresses = '127.0.0.1'
		unix_socket_directories = ''
		shared_buffers = 64MB
		max_connections = 100
		wal_level = replica
		max_wal_senders = 8
		max_replication_slots = 8
		wal_keep_size = 512MB
		hot_standby = on
		wal_log_hints = on
		fsync = $FSYNC
		synchronous_commit = $SYNC
		wal_receiver_status_interval = 1s
		wal_retrieve_retry_interval = 200ms
	C
	pg_run 0
	for n in $(seq "$STANDBYS"); do
		pg_copy "$n" 0
		pg_run "$n"
	done
	# Commits wait from here on, and a standby may become primary with the same setting.
	for n in $(seq 0 "$STANDBYS"); do
		as sh -c "echo \"synchronous_standby_names = '$(pg_names)'\" >>'$D/pg/n$n/postgresql.conf'"
		as "$bin/pg_ctl" -s -D "$D/pg/n$n" reload
	done
	psql 0 "CREATE ROLE blkcast LOGIN; GRANT pg_monitor TO blkcast"
	psql 0 "CREATE DATABASE blkcast OWNER blkcast"
}
pg_promote() {
	local n
	psql "$1" "SELECT pg_promote(true, 60)" >/dev/null
	for n in $(seq 0 "$STANDBYS"); do
		[ "$n" != "$1" ] && psql "$n" "SELECT 1" >/dev/null 2>&1 || continue # a dead one joins again by rejoin
		psql "$1" "SELECT pg_create_physical_replication_slot('s$n')" >/dev/null
		psql "$n" "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=$(port "pg$1") user=postgres application_name=s$n'"
		psql "$n" "SELECT pg_reload_conf()" >/dev/null
	done
}

# Ceph, as root: one monitor, OSDs on sparse files, one gateway.
daemon() {
	local name=$1
	shift
	setsid "$@" -f -c "$CEPH_CONF" >>"$D/ceph/log/$name.out" 2>&1 </dev/null &
	echo $! >"$D/ceph/run/$name.pid"
}
mon_run() { daemon mon ceph-mon -i a; }
osd_run() { daemon "osd$1" ceph-osd -i "$1"; }
rgw_run() {
	daemon rgw radosgw -n client.rgw.0 --rgw_frontends="beast endpoint=127.0.0.1:$(port rgw)"
	ready 60 curl -sf "http://127.0.0.1:$(port rgw)/"
}
all_up() { ceph osd stat | grep -q "$OSDS up"; }
ceph_start() {
	local address id i n uuid made="" last=$((OSDS - 1))
	mkdir -p "$D"/ceph/{log,run,mon}
	for n in mon1 mon2 rgw; do new_port $n; done
	id=$(cat /proc/sys/kernel/random/uuid)
	address="[v2:127.0.0.1:$(port mon1),v1:127.0.0.1:$(port mon2)]"
	{
		echo '[global]'
		# shellcheck disable=SC2016
		printf '%s\n' "fsid=$id" "mon_host=$address" public_network=127.0.0.0/8 "run_dir=$D/ceph/run" \
			"admin_socket=$D/ceph/run/\$name.asok" "log_file=$D/ceph/log/\$name.log" \
			auth_{cluster,service,client}_required=none ms_mon_client_mode=crc \
			auth_allow_insecure_global_id_reclaim=false "mon_data=$D/ceph/mon" "osd_data=$D/ceph/osd.\$id" \
			osd_crush_chooseleaf_type=0 "osd_pool_default_size=$SIZE" osd_pool_default_min_size=1 \
			osd_pool_default_pg_num=8 osd_pool_default_pg_autoscale_mode=off mon_max_pg_per_osd=1000 \
			mon_allow_pool_size_one=true paxos_propose_interval=0.05 paxos_min_wait=0.01 \
			"bluestore_block_size=$((OSD_GB << 30))" osd_memory_target=939524096 bluestore_cache_autotune=false \
			bluestore_cache_size=67108864 osd_heartbeat_interval=1 osd_heartbeat_grace=5 \
			mon_osd_min_down_reporters=1 mon_osd_reporter_subtree_level=osd mon_osd_adjust_heartbeat_grace=false \
			osd_fast_shutdown_notify_mon=false rgw_thread_pool_size=64 rgw_enable_usage_log=false
	} >"$CEPH_CONF"
	monmaptool --create --fsid "$id" --addv a "$address" "$D/ceph/monmap" >/dev/null
	ceph-mon --mkfs -i a -c "$CEPH_CONF" --monmap "$D/ceph/monmap" >>"$D/ceph/log/mkfs.out" 2>&1
	mon_run
	ready 60 ceph --connect-timeout 2 fsid
	for i in $(seq 0 $last); do
		uuid=$(cat /proc/sys/kernel/random/uuid)
		mkdir "$D/ceph/osd.$i"
		ceph osd new "$uuid" >/dev/null
		ceph-osd --mkfs -i "$i" -c "$CEPH_CONF" --osd-uuid "$uuid" >>"$D/ceph/log/mkfs.out" 2>&1 &
		made="$made $!"
	done
	# shellcheck disable=SC2086
	wait $made
	for i in $(seq 0 $last); do osd_run "$i"; done
	ready 60 all_up
	for n in index data non-ec; do
		ceph osd pool create "default.rgw.buckets.$n" 8 >/dev/null 2>&1
		ceph osd pool application enable "default.rgw.buckets.$n" rgw >/dev/null 2>&1
	done
	rgw_run
	radosgw-admin user create --uid=test --display-name=test --access-key=ACCESS --secret-key=SECRET \
		>"$D/ceph/user.json" 2>>"$D/ceph/log/admin.out"
	(umask 077 && printf 'ACCESS\nSECRET\n' >"$D/keys" && chown nobody "$D/keys") # whom tests run serve as
	ready 60 make_bucket
}
# curl signs it as blkcast does.
make_bucket() {
	curl -sf -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user ACCESS:SECRET -H \
		"x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" \
		"http://127.0.0.1:$(port rgw)/traces"
}

kill_one() {
	local pid
	case $1 in
	pg*) pid=$(head -n 1 "$D/pg/n${1#pg}/postmaster.pid") ;;
	*) pid=$(cat "$D/ceph/run/$1.pid") ;;
	esac
	# The children of a killed postmaster end by themselves once they notice; they must be gone before it starts again.
	kill -KILL "$pid"
	ready 60 sh -c "! kill -0 $pid"
}
run_one() {
	case $1 in
	pg*)
		# A killed postmaster leaves its file and its children behind.
		ready 60 sh -c "! ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -q ' $(readlink -f "$D/pg/n${1#pg}")\$'"
		rm -f "$D/pg/n${1#pg}/postmaster.pid"
		pg_run "${1#pg}"
		;;
	osd*) osd_run "${1#osd}" ;;
	rgw) rgw_run ;;
	mon) mon_run ;;
	*) die "unknown engine: $1" ;;
	esac
}

case ${1:-} in
start)
	[ -n "$bin" ] || die "PostgreSQL is not installed"
	[ "$(id -u)" = 0 ] || die "it must run as root"
	mkdir -p "$D"
	chmod 755 "$D"
	pg_start &
	pg=$!
	ceph_start
	wait $pg
	n=0
	[ "$STANDBYS" = 0 ] || ready 60 sh -c "[ \"\$('$0' psql 0 \"SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'\")\" = $STANDBYS ]"
	;;
stop)
	for n in $(seq "$STANDBYS" -1 0); do
		[ ! -e "$D/pg/n$n/postmaster.pid" ] || pg_ctl "$n" -m immediate stop 2>/dev/null || true
	done
	for f in "$D"/ceph/run/*.pid; do
		[ ! -e "$f" ] || kill -KILL "$(cat "$f")" 2>/dev/null || true
	done
	for f in "$D"/ceph/run/*.pid; do
		[ ! -e "$f" ] || ready 30 sh -c "! kill -0 $(cat "$f")"
	done
	for f in "$D"/pg/disk* "$D/disks"; do
		! mountpoint -q "$f" || umount "$f"
	done
	;;
env)
	hosts=""
	for n in $(seq 0 "$STANDBYS"); do hosts=$hosts${hosts:+,}127.0.0.1:$(port "pg$n"); done
	echo "S3_URL=http://127.0.0.1:$(port rgw)/traces"
	echo "PG_HOSTS=$hosts"
	echo "STORE='pg://blkcast@$hosts/blkcast?objects=http://127.0.0.1:$(port rgw)/traces&keys=$D/keys'"
	;;
kill) kill_one "$2" ;;
run) run_one "$2" ;;
promote) pg_promote "$2" ;;
rejoin) pg_rejoin "$2" "$3" ;;
power) pg_power "$2" ;;
psql) psql "$2" "$3" "${4:-blkcast}" ;;
*) die "expected start, stop, env, kill, run, promote, rejoin, power or psql" ;;
esac
