# The eighth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_8=(ledger:isql-fb deploy:ostree hg:hg seven:7z btree:db5.3_load)
about_8() {
	cat <<-'TEXT'
		These five were the eighth new ones. [Their first round](first-8.md) had means that were off by 10.7 %, and 48 of 67
		values (72 %) inside the intervals. Errors of answers have been mended since ([causes](causes.md)), and the widths of
		intervals come from these applications too.

		- **ledger**: Firebird, whose writes are all durable (O_DSYNC), with one client that changes rows and reads others
		- **deploy**: a tree is committed to a repository of OSTree, which makes each object durable, again and again
		- **hg**: Mercurial clones a repository and checks it out, which is made durable, again and again
		- **seven**: files are packed by 7z with two threads, and the archive is tested, again and again
		- **btree**: Berkeley DB fills a tree in random order, which is made durable and read, again and again
	TEXT
}

# Firebird opens its file so that each write is durable (O_DSYNC). One client changes rows and reads others. It is killed
# at the end, because isql-fb takes SIGTERM for the end of a statement and goes on.
setup_ledger() {
	isql-fb -q -user SYSDBA <<-SQL
		CREATE DATABASE '$1/ledger.fdb' PAGE_SIZE 8192;
		CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v VARCHAR(400));
		COMMIT;
		SET TERM ^ ;
		EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
			WHILE (i < 60000) DO BEGIN
				INSERT INTO t VALUES (:i, LPAD('', 400, UUID_TO_CHAR(GEN_UUID())));
				i = i + 1;
			END
		END ^
		COMMIT ^
	SQL
}
begin_ledger() { cold "$1"; }
run_ledger() {
	awk 'BEGIN { for (srand(1); ; ) {
		printf "UPDATE t SET v = LPAD('"''"', 400, UUID_TO_CHAR(GEN_UUID())) WHERE id = %d;\n", 60000 * rand()
		printf "SELECT CHAR_LENGTH(v) FROM t WHERE id = %d;\nCOMMIT;\n", 60000 * rand()
	} }' | in_group timeout -s KILL "$2" isql-fb -q -user SYSDBA "$1/ledger.fdb" >"$OUT/ledger.out" || [ $? = 137 ]
}

# A tree is committed to a repository of OSTree, which makes each object durable; then some of its files change.
setup_deploy() { small_files "$1/tree" 300; }
begin_deploy() {
	rm -rf "${1:?}/repository"
	ostree --repo="$1/repository" init --mode=archive
	cold "$1"
}
run_deploy() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group ostree --repo="$1/repository" commit --generate-sizes -b study "$1/tree" >"$OUT/deploy.out"
		small_files "$1/tree/changed.$((nr++ % 5))" 20
	done
}

# Mercurial clones a repository of some hundred files and five changes, and checks it out, which is made durable.
setup_hg() {
	local i
	hg init "$1/origin"
	small_files "$1/origin" 400
	hg --cwd "$1/origin" commit -q -A -u study -m 0
	for ((i = 1; i < 5; i++)); do
		small_files "$1/origin/$i" 60
		hg --cwd "$1/origin" commit -q -A -u study -m $i
	done
}
begin_hg() { cold "$1"; }
run_hg() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group hg clone -q --pull "$1/origin" "$1/clone"
		sync -f "$1"
		rm -rf "${1:?}/clone"
	done
}

# Files are packed by 7z with two threads, and the archive is tested past what the page cache holds.
setup_seven() {
	local i
	mkdir "$1/data"
	for ((i = 0; i < 6; i++)); do head -c 6000000 /dev/urandom | base64 >"$1/data/large.$i"; done
}
begin_seven() { cold "$1"; }
run_seven() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group 7z a -bso0 -bsp0 -mx1 -mmt2 "$1/archive.7z" "$1/data"
		sync -f "$1"
		cold_files "$1"/archive.7z "$1"/data/large.*
		in_group 7z t -bso0 -bsp0 "$1/archive.7z"
		rm -f "$1/archive.7z"
	done
}

# Berkeley DB fills a tree in random order through a cache of its own, and dumps it afterwards.
setup_btree() {
	awk 'BEGIN { for (srand(1); i < 60000; i++) printf "%09d\n%0300d\n", 1e9 * rand(), i }' >"$work/pairs"
}
begin_btree() {
	rm -f "$1/tree.db"
	sync -f "$1"
}
run_btree() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group db5.3_load -T -t btree -c db_pagesize=4096 "$1/tree.db" <"$work/pairs"
		sync -f "$1"
		cold_files "$1/tree.db"
		in_group db5.3_dump "$1/tree.db" | wc -c >"$OUT/btree.out"
		rm -f "$1/tree.db"
	done
}
