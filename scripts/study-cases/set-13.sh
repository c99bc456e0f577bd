# The thirteenth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on
# a volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_13=(spam:bogofilter cvs:cvs proxy:squid bam:samtools search:indexer)
about_13() {
	cat <<-'TEXT'
		These five were the thirteenth new ones. [Their first round](first-13.md) had means that were off by 358 %, 8.2 %
		without spam, and 71 of 86 values (83 %) inside the intervals. An error of spam has been mended since
		([causes](causes.md)). These runs are others.

		- **spam**: bogofilter learns mail after mail into a Berkeley DB with transactions, and rates others
		- **cvs**: files of a working copy change and are committed to a CVS repository, again and again, and checked out anew
		- **proxy**: squid serves objects of a slow web server to three clients from its cache on disk
		- **bam**: samtools sorts alignments in little memory, through temporary files, and makes the result durable
		- **search**: sphinx indexes 6 000 documents, and makes the index durable, again and again
	TEXT
}

# bogofilter learns mails, each in a transaction of Berkeley DB, and rates others by what it has learned.
setup_spam() {
	local i
	mkdir -p "$1/mails"
	for ((i = 0; i < 300; i++)); do
		printf 'From: u%d@study\nTo: list@study\nSubject: mail %d\n\n' $((i % 37)) "$i" >"$1/mails/$i"
		head -c $((1500 + i * 7919 % 9000)) /dev/urandom | base64 -w 7 >>"$1/mails/$i"
	done
}
begin_spam() {
	rm -rf "${1:?}/words"
	mkdir "$1/words"
	cold "$1"
}
run_spam() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group bogofilter --db-transaction=yes -d "$1/words" -n -I "$1/mails/$((nr % 300))"
		in_group bogofilter --db-transaction=yes -d "$1/words" -s -I "$1/mails/$(((nr + 7) % 300))"
		in_group bogofilter --db-transaction=yes -d "$1/words" -I "$1/mails/$(((nr + 99) % 300))" || [ $? -le 2 ]
		nr=$((nr + 1))
	done
}

# CVS commits some changed files of a working copy, and checks all of them out anew.
setup_cvs() {
	mkdir "$1/import"
	small_files "$1/import" 200
	cvs -Q -d "$1/repository" init
	(cd "$1/import" && cvs -Q -d "$1/repository" import -m study tree study start)
	rm -rf "${1:?}/import"
	(cd "$1" && cvs -Q -d "$1/repository" checkout tree)
}
begin_cvs() { cold "$1"; }
run_cvs() {
	local end=$((SECONDS + $2)) nr=0 file path
	while [ $SECONDS -lt $end ]; do
		for file in $((nr % 10)) $(((nr + 3) % 10)); do
			for path in "$1/tree/$file"/file.*; do echo "change $nr" >>"$path"; done
		done
		(cd "$1/tree" && in_group cvs -Q commit -m "change $nr") >"$OUT/cvs.out" 2>&1
		sync -f "$1"
		cold_files "$1"/repository/tree/*/*,v
		(cd "$1" && rm -rf anew && in_group cvs -Q -d "$1/repository" checkout -d anew tree) >>"$OUT/cvs.out" 2>&1
		nr=$((nr + 1))
	done
}

# squid serves objects of 1 to 120 KiB to three clients; what is not in its cache on disk comes from a server in memory.
begin_proxy() {
	local i
	rm -rf "${1:?}/cache" "$work/origin"
	mkdir -p "$1/cache" "$work/origin"
	for ((i = 0; i < 400; i++)); do head -c $((1024 + i * 7919 % 120000)) /dev/urandom >"$work/origin/$i"; done
	chown proxy: "$1/cache"
	cat >"$work/origin/squid.conf" <<-CONF
		http_port 127.0.0.1:23970
		http_access allow all
		cache_dir aufs $1/cache 200 8 16
		cache_mem 2 MB
		maximum_object_size 1 MB
		refresh_pattern . 60 100% 60 override-lastmod
		cache_effective_user proxy
		pid_filename none
		access_log none
		cache_log $work/origin/cache.log
		cache_store_log none
		shutdown_lifetime 0 seconds
		pinger_enable off
	CONF
	touch "$work/origin/cache.log"
	chmod 666 "$work/origin/cache.log"
	python3 -m http.server --bind 127.0.0.1 --directory "$work/origin" 23971 >/dev/null 2>&1 &
	servers+=($!)
	origin=$!
	squid -N -z -f "$work/origin/squid.conf" >/dev/null 2>&1
	start_server squid -N -f "$work/origin/squid.conf"
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23970'
	wait_for bash -c ': >/dev/tcp/127.0.0.1/23971'
	sync -f "$1"
}
run_proxy() {
	/usr/bin/python3 - "$2" <<-'PY'
		import random, sys, threading, time, urllib.request
		end = time.monotonic() + float(sys.argv[1])
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:23970'}))
		def client(number):
		    chance = random.Random(number)
		    while time.monotonic() < end:
		        name = min(399, int(chance.expovariate(1 / 120)))
		        opener.open(f'http://127.0.0.1:23971/{name}', timeout=20).read()
		        time.sleep(chance.expovariate(100))
		clients = [threading.Thread(target=client, args=(n,)) for n in (1, 2, 3)]
		for c in clients: c.start()
		for c in clients: c.join()
	PY
}
end_proxy() {
	stop_server
	kill "$origin"
}

# samtools sorts alignments with 8 MB of memory, through files that it merges.
setup_bam() {
	awk 'BEGIN {
		srand(1)
		print "@SQ\tSN:one\tLN:100000000"
		for (i = 0; i < 200000; i++) {
			text = ""
			for (k = 0; k < 10; k++) text = text substr("ACGTTGCAGTCATCGAACGTCCATGGATTACA", 1 + int(rand() * 22), 10)
			printf "read%d\t0\tone\t%d\t60\t100M\t*\t0\t0\t%s\t*\n", i, 1 + rand() * 99999000, text
		}
	}' | samtools view -b -o "$1/reads.bam" -
}
begin_bam() { cold "$1"; }
run_bam() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group samtools sort -m 8M -l 1 -T "$1/part" -o "$1/sorted.bam" "$1/reads.bam" >"$OUT/bam.out" 2>&1
		sync -f "$1"
		cold_files "$1/reads.bam" "$1/sorted.bam"
		in_group samtools index "$1/sorted.bam"
		rm -f "$1/sorted.bam" "$1/sorted.bam.bai"
	done
}

# sphinx indexes documents of random words, which it reads from a file, and makes the index durable.
setup_search() {
	awk 'BEGIN {
		srand(1)
		for (d = 1; d <= 6000; d++) {
			text = ""
			for (k = 0; k < 150; k++) text = text " w" int(40000 * rand() * rand())
			printf "%d\tdocument %d\t%s\n", d, d, text
		}
	}' >"$1/documents.tsv"
	cat >"$1/sphinx.conf" <<-CONF
		source documents
		{
			type = tsvpipe
			tsvpipe_command = cat $1/documents.tsv
			tsvpipe_field = title
			tsvpipe_field = text
		}
		index study
		{
			source = documents
			path = $1/index
		}
		indexer
		{
			mem_limit = 28M
		}
	CONF
}
begin_search() { cold "$1"; }
run_search() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group indexer --quiet --config "$1/sphinx.conf" study >"$OUT/search.out" 2>&1
		sync -f "$1"
		cold "$1"
	done
}
