# The seventh set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_7=(jobs:beanstalkd borg:borg mails:notmuch svn:svnadmin parity:par2)
about_7() {
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
}

# beanstalkd, a queue of jobs: four clients put jobs, each of which is in a durable log before the answer.
begin_jobs() {
	rm -rf "${1:?}/jobs"
	mkdir "$1/jobs"
	start_server beanstalkd -l 127.0.0.1 -p 23910 -b "$1/jobs" -f 0 >"$OUT/jobs.log" 2>&1
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23910'
	sync -f "$1"
}
run_jobs() {
	local end=$((SECONDS + $2)) client clients=() job answer
	printf -v job '%0700d' 7
	for client in 1 2 3 4; do
		{
			exec 9<>/dev/tcp/127.0.0.1/23910
			while [ $SECONDS -lt $end ]; do
				printf 'put %d 0 60 700\r\n%s\r\n' "$client" "$job" >&9
				read -r answer <&9
				[[ $answer == INSERTED* ]] || exit 1
			done
		} &
		clients+=($!)
	done
	for client in "${clients[@]}"; do wait "$client"; done
}
end_jobs() { stop_server; }

# A tree is backed up by borg into a repository of segments; between two backups some of its files change.
borg_here() { # [COMMAND], which it is started by, -- ARGUMENT...
	local by=()
	while [ "$1" != -- ]; do by+=("$1") && shift; done
	"${by[@]}" env BORG_BASE_DIR="$work/borg" BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes borg "${@:2}"
}
setup_borg() {
	small_files "$1/tree" 200
	local i
	for ((i = 0; i < 3; i++)); do head -c 2000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_borg() {
	rm -rf "${1:?}/repository" "$work/borg"
	borg_here -- init -e none "$1/repository"
	cold "$1"
}
run_borg() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		borg_here in_group -- create -C none "$1/repository::$((++nr))" "$1/tree"
		head -c 2000000 /dev/urandom >"$1/tree/large.$((nr % 3))"
	done
}

# notmuch reads mails and fills an index of their words, which is committed now and then.
setup_mails() {
	local i
	mkdir -p "$1/mail/cur"
	for ((i = 0; i < 3000; i++)); do
		printf 'From: u%d@study\nTo: list@study\nSubject: mail %d\nMessage-ID: <%d@study>\nDate: Mon, 02 Nov 2026 10:%02d:%02d +0000\n\n' \
			$((i % 37)) "$i" "$i" $((i / 60 % 60)) $((i % 60)) >"$1/mail/cur/$i:2,S"
		head -c $((1500 + i * 7919 % 9000)) /dev/urandom | base64 -w 7 >>"$1/mail/cur/$i:2,S"
	done
}
begin_mails() {
	rm -rf "${1:?}/mail/.notmuch"
	printf '[database]\npath=%s\n[user]\nname=study\nprimary_email=study@study\n[new]\ntags=new\n' "$1/mail" >"$work/notmuch.conf"
	cold "$1"
}
run_mails() { in_group timeout -s INT "$2" notmuch --config="$work/notmuch.conf" new --quiet || [ $? = 124 ]; }

# Subversion takes commit after commit from a dump, each of which is made durable.
setup_svn() {
	[ ! -s "$work/svn.dump" ] || return 0
	awk 'BEGIN {
		srand(1)
		print "SVN-fs-dump-format-version: 2\n"
		for (r = 1; r <= 4000; r++) {
			printf "Revision-number: %d\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n", r
			text = ""
			for (i = 0; i < 120; i++) text = text sprintf("%012d", 1e12 * rand())
			printf "Node-path: file%d\nNode-kind: file\nNode-action: %s\nText-content-length: %d\nContent-length: %d\n\n%s\n\n", \
				r % 50, r <= 50 ? "add" : "change", length(text), length(text), text
		}
	}' >"$work/svn.dump"
}
begin_svn() {
	rm -rf "${1:?}/svn"
	svnadmin create "$1/svn"
	sync -f "$1"
}
run_svn() { in_group timeout "$2" svnadmin load -q "$1/svn" <"$work/svn.dump" || [ $? = 124 ]; }

# Parity is computed of large files, written beside them, and made durable, again and again.
setup_parity() {
	local i
	mkdir "$1/data"
	for ((i = 0; i < 4; i++)); do head -c 8000000 /dev/urandom >"$1/data/large.$i"; done
}
begin_parity() { cold "$1"; }
run_parity() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group par2 create -q -q -t1 -r10 -s131072 "$1/data/set.$((++nr))" "$1"/data/large.*
		sync -f "$1"
		rm -f "$1"/data/set.*
		cold_files "$1"/data/large.*
	done
}
