# The eleventh set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on
# a volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_11=(zone:named imap:dovecot bup:bup tdb:python3-tdb fetch:aria2c)
about_11() {
	cat <<-'TEXT'
		These five were the eleventh new ones. [Their first round](first-11.md) had means that were off by 14.4 %, and 50 of
		55 values (91 %) inside the intervals. An error of flushes that have nothing to write has been mended since
		([causes](causes.md)). These runs are others.

		- **zone**: BIND, whose journal makes each dynamic update of a zone durable, with two clients that add records
		- **imap**: Dovecot, with two clients that store mails, each durable before the answer, and read others
		- **bup**: a tree is backed up by bup into packs of git, and read back, again and again
		- **tdb**: TDB, of which two programs change records of one file in durable transactions, and read others
		- **fetch**: aria2 downloads a file in four pieces at a limited rate, which is made durable and read, again and again
	TEXT
}

# BIND, whose journal of a zone makes each dynamic update durable: two clients add records.
begin_zone() {
	rm -rf "${1:?}/zone" "$work/bind"
	mkdir -p "$1/zone" "$work/bind"
	cat >"$1/zone/db" <<-'ZONE'
		$TTL 300
		@ IN SOA ns hostmaster 1 3600 600 86400 300
		@ IN NS ns
		ns IN A 127.0.0.1
	ZONE
	cat >"$work/bind/named.conf" <<-CONF
		options {
			directory "$1/zone";
			listen-on port 23960 { 127.0.0.1; };
			listen-on-v6 { none; };
			pid-file "$work/bind/pid";
			session-keyfile "$work/bind/key";
			managed-keys-directory "$work/bind";
			recursion no;
			dnssec-validation no;
		};
		controls { };
		zone "study.invalid" { type primary; file "db"; allow-update { 127.0.0.1; }; };
	CONF
	start_server named -f -c "$work/bind/named.conf"
	wait_server dig +tries=1 +time=1 @127.0.0.1 -p 23960 study.invalid SOA
	sync -f "$1"
}
run_zone() {
	local client clients=()
	for client in 1 2; do
		awk -v client=$client 'BEGIN {
			print "server 127.0.0.1 23960"
			for (srand(client); ; nr++) {
				for (k = 0; k < 5; k++)
					printf "update add c%d-%d-%d.study.invalid 300 TXT \"%d %0150d\"\n", client, nr, k, rand() * 1e9, nr
				print "send"
			}
		}' 2>/dev/null | timeout "$2" nsupdate >"$OUT/zone.out.$client" 2>&1 &
		clients+=($!)
	done
	wait "${clients[@]}" || true
}
end_zone() { stop_server; }

# Dovecot: two clients store mails by IMAP, each durable before the answer, and read others of their mailbox.
begin_imap() {
	rm -rf "${1:?}/imap" "$work/dovecot"
	mkdir -p "$1/imap" "$work/dovecot"
	chown nobody "$1/imap"
	chmod 755 "$work" "$1"
	cat >"$work/dovecot/conf" <<-CONF
		base_dir = $work/dovecot/run
		log_path = $OUT/imap.log
		protocols = imap
		listen = 127.0.0.1
		ssl = no
		disable_plaintext_auth = no
		mail_location = maildir:$1/imap/%u
		mail_fsync = always
		first_valid_uid = 1
		passdb {
			driver = static
			args = password=study
		}
		userdb {
			driver = static
			args = uid=nobody gid=nogroup home=$1/imap/%u
		}
		service imap-login {
			inet_listener imap {
				port = 23970
			}
		}
	CONF
	start_server dovecot -F -c "$work/dovecot/conf"
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23970'
	sync -f "$1"
}
run_imap() {
	/usr/bin/python3 - "$2" <<-'PY'
		import imaplib, random, sys, threading, time
		end = time.monotonic() + float(sys.argv[1])
		def client(number):
		    chance = random.Random(number)
		    mail = imaplib.IMAP4('127.0.0.1', 23970)
		    mail.login(f'user{number}', 'study')
		    mail.select('INBOX')
		    count = 0
		    while time.monotonic() < end:
		        body = chance.randbytes(3000 + chance.randrange(20000)).hex()
		        lines = '\r\n'.join(body[i:i + 76] for i in range(0, len(body), 76))
		        mail.append('INBOX', None, None, f'Subject: {count}\r\n\r\n{lines}\r\n'.encode())
		        count += 1
		        mail.noop()
		        for _ in range(2):
		            mail.fetch(str(chance.randrange(count) + 1), '(RFC822)')
		    mail.logout()
		clients = [threading.Thread(target=client, args=(n,)) for n in (1, 2)]
		for c in clients: c.start()
		for c in clients: c.join()
	PY
}
end_imap() { stop_server; }

# bup backs up a tree into packs of git, again after some of it has changed, and reads the backup back.
setup_bup() {
	small_files "$1/tree" 200
	local i
	for ((i = 0; i < 3; i++)); do head -c 3000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_bup() {
	rm -rf "${1:?}/repository"
	BUP_DIR=$1/repository bup init >"$OUT/bup.log" 2>&1
	cold "$1"
}
run_bup() {
	local end=$((SECONDS + $2)) nr=0
	export BUP_DIR=$1/repository
	while [ $SECONDS -lt $end ]; do
		in_group bup index "$1/tree" >"$OUT/bup.out" 2>&1
		in_group bup save -q -n study "$1/tree" >>"$OUT/bup.out" 2>&1
		sync -f "$1"
		small_files "$1/tree/changed.$((nr++ % 5))" 20
		dd if=/dev/urandom of="$1/tree/large.$((nr % 3))" bs=64k count=8 seek=$((nr * 7 % 36)) conv=notrunc status=none
		in_group bup join study >/dev/null 2>>"$OUT/bup.out" || true
	done
	unset BUP_DIR
}

# TDB, the small database of Samba: two programs change records of one file in durable transactions, and read others.
begin_tdb() {
	rm -f "${1:?}/study.tdb"
	/usr/bin/python3 - "$1/study.tdb" <<-'PY'
		import os, sys, tdb
		db = tdb.open(sys.argv[1], hash_size=10007, flags=os.O_RDWR | os.O_CREAT)
		db.transaction_start()
		for key in range(40000):
		    db.store(b'%08d' % key, os.urandom(300))
		db.transaction_commit()
		db.close()
	PY
	cold "$1"
}
run_tdb() {
	local client clients=()
	for client in 1 2; do
		in_group timeout "$2" /usr/bin/python3 - "$1/study.tdb" $client <<-'PY' &
			import os, random, sys, tdb
			db = tdb.open(sys.argv[1], flags=os.O_RDWR)
			chance = random.Random(int(sys.argv[2]))
			while True:
			    db.transaction_start()
			    for _ in range(4):
			        db.store(b'%08d' % chance.randrange(40000), os.urandom(300))
			    db.transaction_commit()
			    for _ in range(6):
			        db.get(b'%08d' % chance.randrange(40000))
		PY
		clients+=($!)
	done
	wait "${clients[@]}" || true
}

# aria2 downloads a file in four pieces at a limited rate, makes it durable, and sums are computed of what came.
begin_fetch() {
	rm -rf "${1:?}/fetch" "$work/fetch"
	mkdir -p "$1/fetch" "$work/fetch"
	chmod 755 "$work" "$work/fetch"
	head -c 24000000 /dev/urandom >"$work/fetch/file"
	cat >"$work/fetch/nginx.conf" <<-CONF
		worker_processes 1;
		error_log $OUT/fetch.log;
		pid $work/fetch/pid;
		daemon off;
		events {}
		http { access_log off; server { listen 127.0.0.1:23980; root $work/fetch; } }
	CONF
	start_server nginx -c "$work/fetch/nginx.conf"
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23980'
	sync -f "$1"
}
run_fetch() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group aria2c -q -x 4 -s 4 -k 1M --file-allocation=falloc --max-overall-download-limit=20M -d "$1/fetch" -o file \
			http://127.0.0.1:23980/file
		sync -f "$1"
		cold_files "$1/fetch/file"
		in_group sha256sum "$1/fetch/file" >"$1/fetch/sum"
		rm -f "$1/fetch/file"
	done
}
end_fetch() { stop_server; }
