# The twelfth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_12=(gdbm:python3-dbm.gnu syslog:rsyslogd dar:dar unison:unison sound:sox)
about_12() {
	cat <<-'TEXT'
		These five were the twelfth new ones. [Their first round](first-12.md) had means that were off by 10.8 %, and 104 of
		111 values (94 %) inside the intervals. That write-back follows any of many threads has been mended since
		([causes](causes.md)). These runs are others.

		- **gdbm**: GNU dbm, in which a program changes records, of which every third change is made durable, and reads others
		- **syslog**: rsyslog, which makes each message of two clients durable in one of two files
		- **dar**: a tree is archived by dar in full and then by what has changed, and each archive is tested, again and again
		- **unison**: two trees of files are synchronized by unison after some files of each have changed, again and again
		- **sound**: SoX makes a shorter sound of four long ones that are mixed, and makes it durable, again and again
	TEXT
}

# GNU dbm: a program changes records, makes every third change durable, and reads others.
begin_gdbm() {
	rm -f "${1:?}/study.gdbm"
	/usr/bin/python3 - "$1/study.gdbm" <<-'PY'
		import dbm.gnu, os, sys
		db = dbm.gnu.open(sys.argv[1], 'nf')
		for key in range(40000):
		    db[b'%08d' % key] = os.urandom(300)
		db.sync()
		db.close()
	PY
	cold "$1"
}
run_gdbm() {
	in_group timeout "$2" /usr/bin/python3 - "$1/study.gdbm" <<-'PY' || [ $? = 124 ]
		import dbm.gnu, os, random, sys
		db = dbm.gnu.open(sys.argv[1], 'wf')
		chance = random.Random(1)
		while True:
		    for _ in range(3):
		        db[b'%08d' % chance.randrange(40000)] = os.urandom(300)
		    db.sync()
		    for _ in range(5):
		        db.get(b'%08d' % chance.randrange(40000))
	PY
}

# rsyslog makes each message durable in a file for each client; the next message is sent when it is there.
begin_syslog() {
	rm -rf "${1:?}/syslog" "$work/syslog"
	mkdir -p "$1/syslog" "$work/syslog"
	chmod 755 "$work"
	cat >"$work/syslog/conf" <<-CONF
		global(workDirectory="$work/syslog")
		module(load="imptcp")
		input(type="imptcp" port="23990" address="127.0.0.1" ruleset="study")
		template(name="file" type="string" string="$1/syslog/%hostname%.log")
		ruleset(name="study") { action(type="omfile" dynaFile="file" sync="on" asyncWriting="off") }
	CONF
	start_server rsyslogd -n -C -i "$work/syslog/pid" -f "$work/syslog/conf"
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23990'
	sync -f "$1"
}
run_syslog() {
	/usr/bin/python3 - "$2" "$1/syslog" <<-'PY'
		import os, random, socket, sys, threading, time
		end = time.monotonic() + float(sys.argv[1])
		def client(number):
		    chance = random.Random(number)
		    link = socket.create_connection(('127.0.0.1', 23990))
		    path, size = f'{sys.argv[2]}/client{number}.log', 0
		    while time.monotonic() < end:
		        text = chance.randbytes(50 + chance.randrange(400)).hex()
		        link.sendall(f'<13>Nov 29 00:00:00 client{number} study: {text}\n'.encode())
		        while time.monotonic() < end:
		            now = os.path.getsize(path) if os.path.exists(path) else 0
		            if now > size:
		                size = now
		                break
		            time.sleep(0.0005)
		        time.sleep(chance.expovariate(200))
		    link.close()
		clients = [threading.Thread(target=client, args=(n,)) for n in (1, 2)]
		for c in clients: c.start()
		for c in clients: c.join()
	PY
}
end_syslog() { stop_server; }

# dar archives a tree in full, then what has changed since, and tests each archive by reading it.
setup_dar() {
	small_files "$1/tree" 300
	local i
	for ((i = 0; i < 3; i++)); do head -c 3000000 /dev/urandom >"$1/tree/large.$i"; done
}
begin_dar() {
	rm -rf "${1:?}/archives"
	mkdir "$1/archives"
	cold "$1"
}
run_dar() {
	local end=$((SECONDS + $2)) nr=0 base
	while [ $SECONDS -lt $end ]; do
		base=$1/archives/full.$nr
		in_group dar -Q -q -c "$base" -R "$1/tree" >"$OUT/dar.out" 2>&1
		sync -f "$1"
		small_files "$1/tree/changed.$((nr % 5))" 20
		dd if=/dev/urandom of="$1/tree/large.$((nr % 3))" bs=64k count=8 seek=$((nr * 7 % 36)) conv=notrunc status=none
		in_group dar -Q -q -c "$1/archives/more.$nr" -A "$base" -R "$1/tree" >>"$OUT/dar.out" 2>&1
		sync -f "$1"
		cold_files "$1"/archives/*."$nr".1.dar
		in_group dar -Q -q -t "$base" >>"$OUT/dar.out" 2>&1
		in_group dar -Q -q -t "$1/archives/more.$nr" >>"$OUT/dar.out" 2>&1
		rm -f "$1"/archives/*."$nr".1.dar
		nr=$((nr + 1))
	done
}

# unison synchronizes two trees after some files of each have changed.
setup_unison() {
	small_files "$1/one" 300
	mkdir "$1/two"
	HOME=$1 unison -batch -silent "$1/one" "$1/two"
}
begin_unison() { cold "$1"; }
run_unison() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		small_files "$1/one/changed.$((nr % 5))" 20
		small_files "$1/two/other.$((nr % 5))" 20
		HOME=$1 in_group unison -batch -silent "$1/one" "$1/two" >"$OUT/unison.out" 2>&1
		sync -f "$1"
		cold "$1"
		nr=$((nr + 1))
	done
}

# SoX mixes four long sounds into one at another rate, and makes it durable.
setup_sound() {
	local i
	for i in 1 2 3 4; do sox -q -n -r 44100 -c 2 "$1/sound.$i.wav" synth 30 pinknoise; done
}
begin_sound() { cold "$1"; }
run_sound() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group sox -q -m "$1"/sound.[1-4].wav -r 22050 "$1/mixed.wav"
		sync -f "$1"
		cold_files "$1"/sound.[1-4].wav
		rm -f "$1/mixed.wav"
	done
}
