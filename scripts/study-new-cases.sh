#!/usr/bin/env bash
# Predicts five applications that no model, constant or interval was made with, and really runs them. As root, on a
# machine on which nothing else runs, once for a state of the code:
#
#	scripts/study-new-cases.sh [OUT]		after make programs build/tests/system/fileops
#
# It is scripts/study-applications.sh with other applications: each is recorded on the old volume, predicted for the new
# one by blkcast study migrate --storage, and run there, two pairs of 12 s (SET=1 to 5: 5 s). A page of
# docs/studies/new-cases gets the tables, whatever they say; causes.md beside it, which is written by hand, explains
# them. An application whose program is not installed is left out, and named there. Eight minutes (SET=1 to 5: six). OUT
# (default build/study-new-cases-SET) gets everything else; what is there already is not measured again.
#
# A set is new until errors of answers were mended or intervals made with it. SET=11 (default) was chosen when answers
# knew that scripts wait for write-back, before any of it had run on a volume:
#	zone	a name server whose zone is changed by two clients, each change durable before the answer
#	imap	a mail server whose two clients store mails, each durable before the answer, and read others
#	bup	a tree is backed up into packs, and read back
#	tdb	two programs change records of one file in durable transactions, and read others
#	fetch	a file is downloaded in four pieces at a limited rate, made durable, and read
#
# SET=10 is known since 2026-11-28; its first round is first-10.md, and a later one writes known-10.md:
#	share	a file server whose writes are durable, with two clients
#	builds	a tree of C is compiled through a cache, and made durable
#	level	two threads change keys in a store, durably, and read others
#	fossil	changes of a tree are committed to one durable file
#	array	an array is packed into compressed pieces, made durable, and read
#
# SET=9 is known since 2026-11-28; its first round is first-9.md, and its page since then known-9.md:
#	mirror	a tree is mirrored, with what changed between two backups, and made durable
#	mailer	a mail server whose queue is durable, with three clients
#	disc	a tree is packed into the image of a disc, which is made durable and read
#	cabinet	two threads change a tree in a file, in durable transactions
#	samples	samples of measured values are read from a text and written as durable blocks
#
# SET=8 is known since 2026-11-28; its first round is first-8.md, and its page since then known-8.md:
#	ledger	a database whose writes are all durable, with one client
#	deploy	a tree is committed to a repository that makes each object durable
#	hg	a repository is cloned and checked out, which is made durable
#	seven	files are packed by two threads, and the archive is tested
#	btree	an index is filled in random order, made durable, and read
#
# SET=7 is known since 2026-11-28; its first round is first-7.md, and its page since then known-7.md:
#	jobs	a queue of jobs, each durable before the answer, with four clients that put jobs
#	borg	a tree is backed up into a repository of segments
#	mails	an index of mails is filled
#	svn	a version control system takes commits, each of which is made durable
#	parity	parity is computed of large files, and made durable
#
# SET=6 is known since 2026-11-28; its first round is first-6.md, and its page since then known-6.md. Its runs and those
# of later sets are longer (12 s), so that what the kernel writes back 5 s later is in all of them:
#	etcd	the store of a cluster's state, durable before each answer, with four clients that put values
#	influx	a database of measured values takes batches from two clients, each durable before the answer
#	web	a web server whose files do not all fit into the page cache, with four clients
#	rrd	a monitor keeps 300 round-robin databases, and makes each round durable
#	ldap	a directory takes entries from two clients, each durable before the answer
#
# SET=5 is known since 2026-11-28; its first round is first-5.md, and its page since then known-5.md:
#	restic	a tree is backed up into a repository that keeps each content once
#	lmdb	a key-value store in a mapped file, each transaction made durable
#	squash	a tree is packed into a file system image
#	recorder	three cameras are recorded at constant rates
#	unpack	dpkg unpacks packages, and makes each file durable
#
# SET=4 is known since then; its page is known-4.md:
#	mariadb	MariaDB with four clients, whose transactions read and write
#	fileio	two threads read and write at random, and make their files durable
#	image	the image of a virtual machine is copied past the page cache
#	index	PostgreSQL fills a table, builds an index, and makes a checkpoint
#	backup	a tree is copied by rsync, which makes each file durable
#
# SET=3 is known since then; its page is known-3.md:
#	zip	a tree is packed into an archive, which is made durable
#	verify	two programs read large files to compute sums, each of which is made durable
#	vacuum	sqlite with a rollback journal, and its database written anew as a whole
#	logs	three programs append to logs at paces of their own, beside one that rotates a fourth
#	copy	a file is copied past the page cache
#
# SET=2 is known since then; its page is known-2.md:
#	redis	redis, which makes its log durable before it answers
#	gc	a repository of loose objects is copied and packed
#	import	sqlite fills a table with an index in one transaction
#	sort	a file is sorted with little memory, and the result made durable
#	dsync	dd with forced writes beside dd through the page cache
#
# SET=1 was the first; its page is known.md:
#	wal	sqlite with a write-ahead log, each transaction made durable
#	git	a repository is cloned and another commit checked out
#	tar	an archive of small files is unpacked and made durable
#	tree	a tree of small and large files is copied
#	scan	dd past the page cache beside grep
#
# SECONDS_EACH=, REPEATS=, INTERVAL=, EVERY=, LIMIT_S= as there. RESULTS= names another page.
set -euo pipefail
cd "$(dirname "$0")/.."
SET=${SET:-11}
[[ $SET =~ ^([1-9]|1[01])$ ]] || { echo "SET: expected 1 to 11, got '$SET'" >&2 && exit 2; }
OUT=${1:-build/study-new-cases-$SET}
[ "$SET" -lt 6 ] || SECONDS_EACH=${SECONDS_EACH:-12} LIMIT_S=${LIMIT_S:-900}
export SECONDS_EACH=${SECONDS_EACH:-5} REPEATS=${REPEATS:-2} INTERVAL=${INTERVAL:-700ms} EVERY=${EVERY:-2}
export LIMIT_S=${LIMIT_S:-325} SHORT=1
title="Known cases: five applications that were new"
if [ "$SET" = 1 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known.md}
	set=(wal:sqlite3 git:git tar:tar tree:cp scan:grep)
elif [ "$SET" = 2 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-2.md}
	set=(redis:redis-server gc:git import:sqlite3 sort:sort dsync:dd)
elif [ "$SET" = 3 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-3.md}
	set=(zip:zip verify:sha256sum vacuum:sqlite3 logs:gzip copy:dd)
elif [ "$SET" = 4 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-4.md}
	set=(mariadb:mariadbd fileio:sysbench image:qemu-img index:postgres backup:rsync)
elif [ "$SET" = 5 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-5.md}
	set=(restic:restic lmdb:mdb_load squash:mksquashfs recorder:pv unpack:dpkg)
elif [ "$SET" = 6 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-6.md}
	set=(etcd:etcd influx:influxd web:nginx rrd:rrdtool ldap:slapd)
elif [ "$SET" = 7 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-7.md}
	set=(jobs:beanstalkd borg:borg mails:notmuch svn:svnadmin parity:par2)
elif [ "$SET" = 8 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-8.md}
	set=(ledger:isql-fb deploy:ostree hg:hg seven:7z btree:db5.3_load)
elif [ "$SET" = 9 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-9.md}
	set=(mirror:rdiff-backup mailer:postfix disc:xorriso cabinet:kctreetest samples:promtool)
elif [ "$SET" = 10 ]; then
	RESULTS=${RESULTS:-docs/studies/new-cases/known-10.md}
	set=(share:smbd builds:ccache level:python3-plyvel fossil:fossil array:h5repack)
else
	RESULTS=${RESULTS:-docs/studies/new-cases/results.md}
	title="New cases: five applications that nothing was made with"
	set=(zone:named imap:dovecot bup:bup tdb:python3-tdb fetch:aria2c)
fi
# installed PROGRAM, or python3-MODULE for a module of the system's Python
installed() {
	case $1 in
	python3-*) /usr/bin/python3 -c "import ${1#python3-}" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}
apps=() missing=()
for app in "${set[@]}"; do
	if installed "${app#*:}"; then apps+=("${app%:*}"); else missing+=("${app%:*}"); fi
done
scripts/study-applications.sh "$OUT" "${apps[@]}" >&2

head_of() { # what was run, and what it was used for
	if [ "$SET" = 1 ]; then
		cat <<-'TEXT'
			These five were the first new ones, and are known since 2026-11-23: errors of their answers have been mended
			([causes](causes.md)). [New cases](results.md) has the present new ones.

			- **wal**: sqlite with a write-ahead log; each transaction reads two rows, changes one and is made durable
			- **git**: a repository of small files is cloned, and another commit checked out, again and again
			- **tar**: an archive of small files is unpacked and made durable, again and again
			- **tree**: a tree of small and large files is copied on the same volume
			- **scan**: dd past the page cache, reading and writing, beside grep through a tree
		TEXT
	elif [ "$SET" = 2 ]; then
		cat <<-'TEXT'
			These five were the second new ones. Their first round, before anything was mended with them, had means that were
			off by 18.7 %, and 34 of 52 values (65 %) inside the intervals. Errors of their answers have been mended since
			([causes](causes.md)). [New cases](results.md) has the present new ones.

			- **redis**: redis, which makes its log durable before it answers, with four clients that set keys
			- **gc**: a repository of loose objects is copied and packed, again and again
			- **import**: sqlite fills a table with an index in one transaction, again and again
			- **sort**: a file is sorted with little memory, and the result made durable, again and again
			- **dsync**: dd with forced writes beside dd that writes through the page cache and makes its file durable
		TEXT
	elif [ "$SET" = 3 ]; then
		cat <<-'TEXT'
			These five were the third new ones. Their first round, before anything was mended with them, had means that were
			off by 61 % (their median was 14.5 %), and 41 of 66 values (62 %) inside the intervals. Errors of their answers have
			been mended since ([causes](causes.md)). [New cases](results.md) has the present new ones.

			- **zip**: a tree of small and large files is packed into an archive, which is made durable, again and again
			- **verify**: two programs read files of 1 to 4 MB to compute their sums, and each sum is made durable
			- **vacuum**: sqlite with a rollback journal changes rows, and then writes its database anew as a whole
			- **logs**: three programs append to logs at paces of their own, beside one that packs an old log and makes it durable
			- **copy**: a file is copied past the page cache, in requests of 1 MiB
		TEXT
	elif [ "$SET" = 4 ]; then
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
	elif [ "$SET" = 5 ]; then
		cat <<-'TEXT'
			These five were the fifth new ones. [Their first round](first-5.md) had means that were off by 16.3 %, and 36 of 52
			values (69 %) inside the intervals. Since then errors of other answers have been mended, and the widths of intervals
			come from these applications too ([causes](causes.md)).

			- **restic**: a tree is backed up into a repository that keeps each content once, again and again
			- **lmdb**: a key-value store in a mapped file takes a hundred keys at a time, and makes them durable
			- **squash**: a tree is packed into a file system image, which is made durable, again and again
			- **recorder**: three cameras are recorded at constant rates, each made durable every half second
			- **unpack**: dpkg unpacks packages, and makes each file durable
		TEXT
	elif [ "$SET" = 6 ]; then
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
	elif [ "$SET" = 7 ]; then
		cat <<-'TEXT'
			These five were the seventh new ones. [Their first round](first-7.md) had means that were off by 11.3 % where a run
			has 20 requests or more, and 50 of 52 values (96 %) inside the intervals. Since then the law of flushes that wait has
			been found, and the widths of intervals come from these applications too ([causes](causes.md)).

			- **jobs**: beanstalkd, a queue of jobs whose log is durable before it answers, with four clients that put jobs
			- **borg**: a tree is backed up by borg into a repository of segments, again and again
			- **mails**: notmuch reads 3 000 mails and fills an index of their words
			- **svn**: Subversion takes commit after commit from a dump, each of which is made durable
			- **parity**: par2 computes parity of large files, which is made durable, again and again
		TEXT
	elif [ "$SET" = 8 ]; then
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
	elif [ "$SET" = 9 ]; then
		cat <<-'TEXT'
			These five were the ninth new ones. [Their first round](first-9.md) had means that were off by 15.6 %, and 41 of 57
			values (72 %) inside the intervals. Errors of answers have been mended since ([causes](causes.md)), and the widths of
			intervals come from these applications too.

			- **mirror**: rdiff-backup mirrors a tree, keeps what changed, and makes it durable, again and again
			- **mailer**: Postfix with three clients, whose mails are durable in its queue before they are accepted
			- **disc**: xorriso packs a tree into an image, which is made durable and read past the page cache, again and again
			- **cabinet**: Kyoto Cabinet, in which two threads change a tree in a file, in durable transactions
			- **samples**: Prometheus's tool writes samples of measured values as blocks, which are durable, again and again
		TEXT
	elif [ "$SET" = 10 ]; then
		cat <<-'TEXT'
			These five were the tenth new ones. [Their first round](first-10.md) had means that were off by 469 %, 3.0 % without
			builds, and 54 of 62 values (87 %) inside the intervals. An error of builds has been mended since
			([causes](causes.md)). These runs are others.

			- **share**: Samba, whose share makes each write durable, with two clients that store files and read others
			- **builds**: make compiles a tree of C by two jobs through ccache, which is made durable, again and again
			- **level**: LevelDB, in which two threads change keys, of which each change is durable, and read others
			- **fossil**: Fossil commits changes of a tree to its repository, which is one durable file, again and again
			- **array**: HDF5 packs an array into compressed pieces, which are made durable and read, again and again
		TEXT
	else
		cat <<-'TEXT'
			No model, constant or interval had been made with these five, and none of them had run on a volume when the code that
			answered was frozen. This is their first round.

			- **zone**: BIND, whose journal makes each dynamic update of a zone durable, with two clients that add records
			- **imap**: Dovecot, with two clients that store mails, each durable before the answer, and read others
			- **bup**: a tree is backed up by bup into packs of git, and read back, again and again
			- **tdb**: TDB, of which two programs change records of one file in durable transactions, and read others
			- **fetch**: aria2 downloads a file in four pieces at a limited rate, which is made durable and read, again and again
		TEXT
	fi
}

mkdir -p "$(dirname "$RESULTS")"
{
	echo "# $title"
	echo
	echo "\`SET=$SET scripts/study-new-cases.sh\` wrote this page on $(date -u +%F)."
	head_of
	echo
	[ ${#missing[@]} = 0 ] || printf '%s\n\n' "Left out, because the program is not installed: ${missing[*]}."
	echo "$SECONDS_EACH s of each run, $REPEATS pairs, one in $EVERY configurations of the campaign with an interval of $INTERVAL."
	echo "[applications](../applications/results.md) says how volumes and answers are made, and what the columns are."
	echo "[causes](causes.md) says why some answers were far off."
	echo
	sed -n 's/^interval of .*\(The machine had\)/\1/p' "$OUT/results.md"
	echo
	sed -n '/^## /,$p' "$OUT/results.md"
} >"$RESULTS.part"
mv "$RESULTS.part" "$RESULTS"
cat "$RESULTS"
