# The fourth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run.
# scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_4=(mariadb:mariadbd fileio:sysbench image:qemu-img index:postgres backup:rsync)
about_4() {
	cat <<-'TEXT'
		These five were the fourth new ones. Their first round, on volumes whose order of service was random, had means that
		were off by 24.8 %, and 58 of 87 values (67 %) inside the intervals ([causes](causes.md)). [New cases](results.md)
		has the present new ones.

		- **mariadb**: MariaDB with four clients, whose transactions read by key and by range, and change four rows
		- **fileio**: two threads of sysbench read and write at random, and make eight files durable every 20 requests
		- **image**: the image of a virtual machine is copied past the page cache, four requests at a time
		- **index**: PostgreSQL fills a table, builds an index, and makes a checkpoint, again and again
		- **backup**: a tree is copied by rsync, which makes each file durable, again and again
	TEXT
}

# MariaDB in the way of an online shop: each transaction reads by key and by range, and changes four rows. InnoDB has a
# small buffer pool, reads and writes past the page cache, and makes its log durable at each commit.
start_mariadb() { # FOLDER
	mariadbd --no-defaults --user=mysql --datadir="$1/maria" --socket="$work/maria.socket" --skip-networking --skip-log-bin \
		--performance-schema=OFF --innodb-buffer-pool-size=16M --innodb-log-file-size=64M --innodb-flush-method=O_DIRECT \
		--innodb-flush-log-at-trx-commit=1 --pid-file="$work/maria.pid" >"$OUT/mariadb.log" 2>&1 &
	mariadb=$!
	for _ in $(seq 200); do
		! mariadb-admin --no-defaults --socket="$work/maria.socket" ping >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	say "mariadbd does not answer: $OUT/mariadb.log"
	exit 1
}
stop_mariadb() { # SIGNAL: TERM for an orderly stop, KILL where the database is thrown away
	kill -"$1" "$mariadb" 2>/dev/null || true
	wait "$mariadb" 2>/dev/null || true
}
shop() { # OPTION...
	sysbench oltp_read_write --mysql-socket="$work/maria.socket" --mysql-user=root --mysql-db=shop --tables=4 \
		--table-size=100000 --rand-seed=1 "$@"
}
setup_mariadb() { # once, in memory: every run begins with a copy
	[ ! -d "$work/maria" ] || return 0
	mkdir "$work/maria" "$work/maria/maria"
	chmod 777 "$work" # for the socket
	chown mysql "$work/maria" "$work/maria/maria"
	mariadb-install-db --no-defaults --user=mysql --datadir="$work/maria/maria" --auth-root-authentication-method=normal
	start_mariadb "$work/maria"
	mariadb --no-defaults --socket="$work/maria.socket" -u root -e "CREATE DATABASE shop"
	shop --threads=2 prepare
	stop_mariadb TERM
}
begin_mariadb() {
	rm -rf "${1:?}/maria"
	cp -a "$work/maria/maria" "$1/maria"
	sync -f "$1"
	echo 3 >/proc/sys/vm/drop_caches
	start_mariadb "$1"
	sync -f "$1"
	maria_folder=$1
}
run_mariadb() { shop --threads=4 --time="$2" run; }
end_mariadb() {
	stop_mariadb KILL
	rm -rf "${maria_folder:?}/maria"
	sync -f "$maria_folder"
}

# Two threads of sysbench read and write at random places of eight files, and make them durable every 20 requests.
files="--file-num=8 --file-total-size=128M --file-block-size=16384"
# shellcheck disable=SC2086
setup_fileio() { (cd "$1" && sysbench fileio $files prepare); }
begin_fileio() { cold "$1"; }
# shellcheck disable=SC2086
run_fileio() {
	(cd "$1" && in_group sysbench fileio $files --file-test-mode=rndrw --file-fsync-freq=20 --threads=2 --rand-seed=1 \
		--time="$2" run)
}

# The image of a virtual machine is copied past the page cache, four requests at a time, again and again.
setup_image() { head -c 41943040 /dev/urandom >"$1/from.raw"; }
begin_image() { cold "$1"; }
run_image() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		qemu-img convert -T none -t none -m 4 -W -f raw -O raw "$1/from.raw" "$1/to.raw"
		rm "$1/to.raw"
	done
}

# PostgreSQL fills a table, builds an index, and makes a checkpoint, again and again.
setup_index() { make_database; }
begin_index() { begin_pgbench "$1"; }
run_index() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		runuser -u postgres -- psql -q -h "$work" postgres <<-SQL
			CREATE TABLE filled_$((++nr)) AS
				SELECT i AS id, (i * 7919) % 100003 AS n, repeat('row', 20) AS v FROM generate_series(1, 30000) AS i;
			CREATE INDEX ON filled_$nr (n);
			CHECKPOINT;
			DROP TABLE filled_$nr;
		SQL
	done
}
end_index() { end_pgbench; }

# A tree is copied by rsync, which makes each file durable, to a place that has some of its files already.
setup_backup() {
	small_files "$1/tree" 200
	local i
	for ((i = 0; i < 3; i++)); do head -c 1500000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_backup() { cold "$1"; }
run_backup() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group rsync -a --fsync "$1/tree/" "$1/copy/"
		cold_files "$1"/tree/large.*
		rm -rf "${1:?}/copy/large.$((nr++ % 3))" "$1"/copy/*[02468]
	done
	rm -rf "${1:?}/copy"
}
