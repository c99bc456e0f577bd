# The fourteenth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on
# a volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_14=(registry:docker-registry metrics:victoria-metrics chunks:casync terms:python3-xapian guest:qemu-img)
about_14() {
	cat <<-'TEXT'
		No model, constant or interval had been made with these five, and none of them had run on a volume when the code that
		answered was frozen. This is their first round.

		- **registry**: a registry of container images takes layers from one client, and gives others to two
		- **metrics**: VictoriaMetrics takes batches of samples from two clients, and answers queries over older ones
		- **chunks**: casync splits a changing file into chunks that it keeps once, made durable, and puts it together again
		- **terms**: a program adds documents to an index of Xapian, commits 50 at a time, and searches by drawn words
		- **guest**: qemu reads and writes a disk in a qcow2 image past the page cache, 8 requests at once, and flushes
	TEXT
}

# The registry serves HTTP alone, from a folder. Layers are pushed in one piece each; what is pulled comes from the volume.
registry_client() { # push|pull NUMBER SECONDS: "push" with 0 s stores 120 layers
	/usr/bin/python3 - "$@" <<-'PY'
		import hashlib, http.client, random, sys, time
		kind, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
		chance = random.Random(number)
		def layer(index):
		    draw = random.Random(index)
		    return draw.randbytes(20000 + draw.randrange(400000))
		def ask(method, path, body=None):
		    server = http.client.HTTPConnection('127.0.0.1', 23972, timeout=20)
		    server.request(method, path, body, {'Content-Type': 'application/octet-stream'} if body else {})
		    answer = server.getresponse()
		    answer.read()
		    if answer.status >= 300: raise SystemExit(f'{method} {path}: {answer.status}')
		    return answer
		def push(index):
		    data = layer(index)
		    place = ask('POST', '/v2/study/blobs/uploads/').getheader('Location').split('23972', 1)[-1]
		    digest = hashlib.sha256(data).hexdigest()
		    ask('PUT', f'{place}{"&" if "?" in place else "?"}digest=sha256:{digest}', data)
		    return digest
		if kind == 'push' and not seconds:
		    print('\n'.join(push(index) for index in range(120)))
		    raise SystemExit
		end = time.monotonic() + seconds
		digests = open(sys.argv[4]).read().split()
		for turn in range(10 ** 6):
		    if time.monotonic() > end: break
		    if kind == 'push': push(1000 + turn)
		    else: ask('GET', '/v2/study/blobs/sha256:' + digests[chance.randrange(len(digests))])
		    time.sleep(chance.expovariate(20))
	PY
}
begin_registry() {
	rm -rf "${1:?}/registry"
	mkdir "$1/registry"
	cat >"$work/registry.yml" <<-CONF
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $1/registry}}
		http: {addr: 127.0.0.1:23972}
	CONF
	start_server docker-registry serve "$work/registry.yml" >"$OUT/registry.log" 2>&1
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23972'
	registry_client push 1 0 >"$work/digests"
	sync -f "$1"
	echo 3 >/proc/sys/vm/drop_caches
}
run_registry() {
	local clients=()
	registry_client push 1 "$2" "$work/digests" &
	clients+=($!)
	registry_client pull 2 "$2" "$work/digests" &
	clients+=($!)
	registry_client pull 3 "$2" "$work/digests" &
	clients+=($!)
	wait "${clients[@]}"
}
end_registry() { stop_server; }

# Two clients insert 400 samples at a time into 2 000 series; a third asks for hours that were stored before.
metrics_client() { # insert|ask NUMBER SECONDS: "insert" with 0 s stores six hours
	/usr/bin/python3 - "$@" <<-'PY'
		import random, sys, time, urllib.request
		kind, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
		chance, server, begin = random.Random(number), 'http://127.0.0.1:23973', int(time.time()) - 7 * 3600
		def insert(when, first, nr):
		    lines = '\n'.join(f'disk,host=h{s % 100},name=d{s // 100} busy={chance.random() * 100:.3f} {when}000000000'
		                      for s in range(first, first + nr))
		    urllib.request.urlopen(urllib.request.Request(server + '/write', lines.encode(), method='POST'), timeout=20).read()
		if not seconds:
		    for when in range(0, 6 * 3600, 30):
		        for first in range(0, 2000, 1000): insert(begin + when, first, 1000)
		    raise SystemExit
		end = time.monotonic() + seconds
		while time.monotonic() < end:
		    if kind == 'insert': insert(int(time.time()), chance.randrange(1600), 400)
		    else:
		        host, start = chance.randrange(100), begin + chance.randrange(5 * 3600)
		        urllib.request.urlopen(f'{server}/api/v1/query_range?query=disk_busy%7Bhost%3D%22h{host}%22%7D'
		                               f'&start={start}&end={start + 3600}&step=60', timeout=20).read()
		    time.sleep(chance.expovariate(40))
	PY
}
begin_metrics() {
	rm -rf "${1:?}/metrics"
	mkdir "$1/metrics"
	start_server victoria-metrics -storageDataPath "$1/metrics" -httpListenAddr 127.0.0.1:23973 -memory.allowedBytes 24MB \
		-retentionPeriod 1 -loggerLevel ERROR >"$OUT/metrics.log" 2>&1
	wait_server bash -c ': >/dev/tcp/127.0.0.1/23973'
	metrics_client insert 1 0
	sleep 2 # until the samples can be searched
	sync -f "$1"
	echo 3 >/proc/sys/vm/drop_caches
}
run_metrics() {
	local clients=()
	metrics_client insert 1 "$2" &
	clients+=($!)
	metrics_client insert 2 "$2" &
	clients+=($!)
	metrics_client ask 3 "$2" &
	clients+=($!)
	wait "${clients[@]}"
}
end_metrics() { stop_server; }

# A file of 24 MB, of which pieces change, is stored by what it consists of, and unpacked again.
setup_chunks() { head -c 24000000 /dev/urandom >"$1/disk.raw"; }
begin_chunks() {
	rm -rf "${1:?}/store" "$1/index.caibx" "$1/again.raw"
	mkdir "$1/store"
	cold "$1"
}
run_chunks() {
	local end=$((SECONDS + $2)) nr=0 i
	while [ $SECONDS -lt $end ]; do
		for i in 0 1 2 3; do
			head -c 65536 /dev/urandom |
				dd of="$1/disk.raw" bs=65536 seek=$(((nr * 4 + i) * 97 % 360)) conv=notrunc status=none
		done
		in_group casync make --store="$1/store" "$1/index.caibx" "$1/disk.raw" >"$OUT/chunks.out" 2>&1
		sync -f "$1"
		cold_files "$1"/store/*/* "$1/disk.raw"
		in_group casync extract --store="$1/store" "$1/index.caibx" "$1/again.raw" >>"$OUT/chunks.out" 2>&1
		rm "$1/again.raw"
		nr=$((nr + 1))
	done
}

# Documents of words that are drawn once for all runs; 3 000 are in the index before a run.
terms_program() { # FOLDER SECONDS: 0 s make the index
	cat >"$work/terms.py" <<-'PY'
		import random, sys, time, xapian
		folder, seconds = sys.argv[1], float(sys.argv[2])
		chance = random.Random(1 if seconds else 2)
		def add(database, nr):
		    for _ in range(nr):
		        document = xapian.Document()
		        words = [f'w{int(30000 * chance.random() * chance.random())}' for _ in range(150)]
		        for place, word in enumerate(words): document.add_posting(word, place)
		        document.set_data(' '.join(words))
		        database.add_document(document)
		    database.commit()
		database = xapian.WritableDatabase(folder + '/terms', xapian.DB_CREATE_OR_OPEN)
		if not seconds:
		    for _ in range(6): add(database, 500)
		    raise SystemExit
		end = time.monotonic() + seconds
		while time.monotonic() < end:
		    add(database, 50)
		    reader = xapian.Database(folder + '/terms')
		    for _ in range(20):
		        enquire = xapian.Enquire(reader)
		        enquire.set_query(xapian.Query(xapian.Query.OP_AND, [f'w{chance.randrange(3000)}', f'w{chance.randrange(300)}']))
		        for match in enquire.get_mset(0, 10): match.document.get_data()
	PY
	in_group /usr/bin/python3 "$work/terms.py" "$@"
}
begin_terms() {
	rm -rf "${1:?}/terms"
	terms_program "$1" 0
	cold "$1"
}
run_terms() { terms_program "$1" "$2"; }

# The image grows by clusters where it is written first, which changes its tables.
begin_guest() {
	rm -f "${1:?}/guest.qcow2"
	qemu-img create -q -f qcow2 "$1/guest.qcow2" 256M
	qemu-img bench -f qcow2 -t none -w -c 800 -d 8 -s 65536 -S 131072 "$1/guest.qcow2" >"$OUT/guest.out"
	cold "$1"
}
run_guest() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		in_group qemu-img bench -f qcow2 -t none -c 400 -d 8 -s 8192 -S 266240 -o $((nr * 69632)) "$1/guest.qcow2"
		in_group qemu-img bench -f qcow2 -t none -w -c 400 -d 8 -s 16384 -S 212992 -o $((nr * 86016)) --flush-interval=40 \
			"$1/guest.qcow2"
		nr=$((nr + 1))
	done >"$OUT/guest.out"
}
