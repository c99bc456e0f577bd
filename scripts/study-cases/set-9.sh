# The ninth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_9=(mirror:rdiff-backup mailer:postfix disc:xorriso cabinet:kctreetest samples:promtool)
about_9() {
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
}

# A tree is mirrored by rdiff-backup, which keeps what changed between two backups, and makes it durable. It tells
# backups apart by the second in which they begin.
setup_mirror() {
	small_files "$1/tree" 200
	local i
	for ((i = 0; i < 3; i++)); do head -c 3000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_mirror() {
	rm -rf "${1:?}/mirror"
	cold "$1"
}
run_mirror() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group rdiff-backup --new backup "$1/tree" "$1/mirror" >"$OUT/mirror.out" 2>&1
		small_files "$1/tree/changed.$((nr++ % 5))" 20
		dd if=/dev/urandom of="$1/tree/large.$((nr % 3))" bs=64k count=4 seek=$((nr * 7 % 40)) conv=notrunc status=none
		sleep 1
	done
}

# Postfix: three clients send mails to a queue that makes each durable before it is accepted; they are thrown away when
# they are delivered.
begin_mailer() {
	rm -rf "${1:?}/queue" "$work/postfix"
	mkdir -p "$1/queue" "$work/postfix/data"
	chown postfix "$work/postfix/data"
	chmod 755 "$work" "$1"
	cp /usr/share/postfix/master.cf.dist "$work/postfix/master.cf"
	sed -i 's/^smtp  *inet .*smtpd$/127.0.0.1:23940 inet n - n - - smtpd/; s/^\([a-z]\S* *\S* *\S* *\S* *\)y /\1n /' \
		"$work/postfix/master.cf"
	{
		echo compatibility_level = 3.6
		echo "queue_directory = $1/queue"
		echo "data_directory = $work/postfix/data"
		echo myhostname = study.invalid
		echo mydestination =
		echo default_transport = discard:
		echo relay_transport = discard:
		echo inet_interfaces = 127.0.0.1
		echo smtpd_relay_restrictions = permit_mynetworks, reject
		echo alias_maps =
		echo "maillog_file = $work/postfix/log"
		echo "maillog_file_prefixes = $work"
	} >"$work/postfix/main.cf"
	in_group postfix -c "$work/postfix" start >"$OUT/mailer.log" 2>&1
	wait_for bash -c ': >/dev/tcp/127.0.0.1/23940'
	sync -f "$1"
}
run_mailer() {
	timeout "$2" smtp-source -s 3 -m 1000000 -l 6000 -f a@study.invalid -t b@study.invalid 127.0.0.1:23940 || [ $? = 124 ]
}
end_mailer() { postfix -c "$work/postfix" stop >>"$OUT/mailer.log" 2>&1; }

# xorriso packs a tree into the image of a disc, which is made durable, and reads the image past what the page cache
# holds.
setup_disc() {
	local i
	small_files "$1/tree" 300
	for ((i = 0; i < 4; i++)); do head -c 5000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_disc() { cold "$1"; }
run_disc() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group xorriso -as mkisofs -quiet -r -o "$1/image.iso" "$1/tree" 2>"$OUT/disc.out"
		sync -f "$1"
		cold_files "$1/image.iso" "$1"/tree/large.*
		in_group xorriso -indev "$1/image.iso" -check_media -- >>"$OUT/disc.out" 2>&1
		rm -f "$1/image.iso"
	done
}

# Kyoto Cabinet: two threads change a tree in a file, in transactions that are durable.
begin_cabinet() {
	rm -f "$1/tree.kct"
	sync -f "$1"
}
run_cabinet() {
	in_group timeout "$2" kctreetest tran -th 2 -it 1000 -hard -bnum 50000 "$1/tree.kct" 2000 >"$OUT/cabinet.out" || [ $? = 124 ]
}

# Prometheus: the samples of an hour of 300 measured values are read from a text and written as blocks, which are
# durable.
setup_samples() {
	awk 'BEGIN {
		srand(1)
		print "# TYPE busy gauge"
		for (t = 0; t < 3600; t += 30)
			for (i = 0; i < 300; i++)
				printf "busy{host=\"h%d\",core=\"%d\"} %.6f %d\n", i / 8, i % 8, rand(), 1700000000 + t
		print "# EOF"
	}' >"$1/samples"
}
begin_samples() {
	rm -rf "${1:?}/blocks"
	cold "$1"
}
run_samples() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group promtool tsdb create-blocks-from openmetrics --quiet "$1/samples" "$1/blocks" >"$OUT/samples.out"
		rm -rf "${1:?}/blocks"
		cold_files "$1/samples"
	done
}
