# The sixth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_6=(etcd:etcd influx:influxd web:nginx rrd:rrdtool ldap:slapd)
about_6() {
	cat <<-'TEXT'
		These five were the sixth new ones. [Their first round](first-6.md) had means that were off by 157 %, and 48 of 64
		values (75 %) inside the intervals. Errors of answers have been mended since ([causes](causes.md)). These runs are
		others: all guests had equal settings, and the widths of intervals come from them too.

		- **etcd**: the store of a cluster's state, whose log is durable before it answers, with four clients that put values
		- **influx**: InfluxDB takes batches of 400 values from two clients, each durable before the answer
		- **web**: nginx sends files that do not all fit into the page cache to four clients
		- **rrd**: a monitor updates 300 round-robin databases by rrdtool, and makes each round durable
		- **ldap**: OpenLDAP takes entries from two clients, each durable before the answer
	TEXT
}

# etcd, the store of a cluster's state: four clients put values, each of which is in a durable log before the answer.
begin_etcd() {
	rm -rf "${1:?}/etcd"
	start_server etcd --name study --data-dir "$1/etcd" --listen-client-urls http://127.0.0.1:23790 \
		--advertise-client-urls http://127.0.0.1:23790 --listen-peer-urls http://127.0.0.1:23800 \
		--initial-advertise-peer-urls http://127.0.0.1:23800 --initial-cluster study=http://127.0.0.1:23800 >"$OUT/etcd.log" 2>&1
	wait_server curl -sf http://127.0.0.1:23790/health
	printf '{"key": "%s", "value": "%s"}' "$(printf key | base64)" "$(head -c 750 /dev/zero | base64 -w 0)" >"$work/put.json"
	sync -f "$1"
}
run_etcd() { ab -q -k -c 4 -t "$2" -n 10000000 -p "$work/put.json" http://127.0.0.1:23790/v3/kv/put; }
end_etcd() { stop_server; }

# InfluxDB: two clients send batches of measured values, each of which is made durable before the answer.
begin_influx() {
	rm -rf "${1:?}/influx"
	mkdir "$1/influx"
	cat >"$work/influx.conf" <<-CONF
		reporting-disabled = true
		bind-address = "127.0.0.1:23810"
		[meta]
		dir = "$1/influx/meta"
		[data]
		dir = "$1/influx/data"
		wal-dir = "$1/influx/wal"
		cache-snapshot-memory-size = "4m"
		[http]
		bind-address = "127.0.0.1:23811"
		log-enabled = false
	CONF
	start_server influxd -config "$work/influx.conf" >"$OUT/influx.log" 2>&1
	wait_server curl -sf http://127.0.0.1:23811/ping
	curl -sf -o /dev/null --data-urlencode "q=CREATE DATABASE study" http://127.0.0.1:23811/query
	awk 'BEGIN { srand(1); for (i = 0; i < 400; i++) printf "cpu,host=h%d,core=%d busy=%.6f,idle=%.6f\n", i / 8, i % 8, rand(), rand() }' \
		>"$work/points"
	sync -f "$1"
}
run_influx() { ab -q -k -c 2 -t "$2" -n 10000000 -p "$work/points" "http://127.0.0.1:23811/write?db=study"; }
end_influx() { stop_server; }

# nginx: four clients fetch files of 8 to 500 KiB in an order of chance. Not all of them fit into the page cache.
setup_web() {
	local i
	mkdir -p "$1/site"
	for ((i = 0; i < 700; i++)); do head -c $((8192 + i * 7919 * 31 % 500000)) /dev/urandom >"$1/site/$i"; done
}
begin_web() {
	cold "$1"
	cat >"$work/nginx.conf" <<-CONF
		daemon off;
		worker_processes 2;
		pid $work/nginx.pid;
		error_log stderr;
		events { }
		http {
			access_log off;
			sendfile on;
			aio threads;
			server { listen 127.0.0.1:23820; root $1/site; }
		}
	CONF
	awk 'BEGIN { srand(1); for (i = 0; i < 100000; i++) printf "url = http://127.0.0.1:23820/%d\noutput = /dev/null\n", int(700 * rand()) }' \
		>"$work/urls"
	chmod 755 "$1/site"
	start_server nginx -e stderr -c "$work/nginx.conf" >"$OUT/nginx.log" 2>&1
	wait_server curl -sf -o /dev/null http://127.0.0.1:23820/0
}
run_web() { timeout "$2" curl -s -Z --parallel-max 4 -K "$work/urls" || [ $? = 124 ]; }
end_web() { stop_server; }

# A monitor keeps 300 round-robin databases: each is updated once a round, and a round is made durable.
setup_rrd() {
	mkdir -p "$1/rrd"
	seq 300 | sed "s|.*|create $1/rrd/&.rrd --start 1700000000 --step 10 DS:v:GAUGE:20:0:U RRA:AVERAGE:0.5:1:3000 RRA:MAX:0.5:6:3000|" |
		rrdtool - >/dev/null
}
begin_rrd() {
	rrdtool last "$1/rrd/1.rrd" >"$work/rrd.time"
	cold "$1"
}
run_rrd() {
	local end=$((SECONDS + $2)) at
	read -r at <"$work/rrd.time"
	while [ $SECONDS -lt $end ]; do
		at=$((at + 10))
		seq 300 | sed "s|.*|update $1/rrd/&.rrd $at:&|" | in_group rrdtool - >/dev/null
		sync -f "$1"
	done
}

# OpenLDAP: two clients add entries to a directory, each of which is durable before the answer.
begin_ldap() {
	rm -rf "${1:?}/ldap"
	mkdir "$1/ldap"
	cat >"$work/slapd.conf" <<-CONF
		include /etc/ldap/schema/core.schema
		modulepath /usr/lib/ldap
		moduleload back_mdb
		pidfile $work/slapd.pid
		database mdb
		maxsize 268435456
		suffix "dc=study"
		rootdn "cn=admin,dc=study"
		rootpw study
		directory $1/ldap
		index objectClass,cn,sn eq
	CONF
	start_server slapd -d 0 -f "$work/slapd.conf" -h "ldap://127.0.0.1:23830" >"$OUT/slapd.log" 2>&1
	wait_server ldapwhoami -x -H ldap://127.0.0.1:23830 -D cn=admin,dc=study -w study
	printf 'dn: dc=study\nobjectClass: dcObject\nobjectClass: organization\ndc: study\no: study\n' | ldap_add
	sync -f "$1"
}
ldap_add() { ldapadd -c -x -H ldap://127.0.0.1:23830 -D cn=admin,dc=study -w study; }
run_ldap() {
	local client clients=()
	for client in 1 2; do
		{
			awk -v client="$client" 'BEGIN { for (i = 1; i < 1000000; i++)
				printf "dn: cn=u%d-%d,dc=study\nobjectClass: person\ncn: u%d-%d\nsn: name%d\ndescription: %0300d\n\n", client, i, client, i, i % 97, i }' |
				timeout "$2" ldapadd -c -x -H ldap://127.0.0.1:23830 -D cn=admin,dc=study -w study >/dev/null || true
		} &
		clients+=($!)
	done
	wait "${clients[@]}"
}
end_ldap() { stop_server; }
