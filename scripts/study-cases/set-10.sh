# The tenth set of applications of scripts/study-new-cases.sh, chosen and written down before any of them had run on a
# volume. scripts/study-volumes.sh sources this file and says what the functions are for.
# shellcheck shell=bash

set_10=(share:smbd builds:ccache level:python3-plyvel fossil:fossil array:h5repack)
about_10() {
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
}

# Samba, whose share makes each write durable: two clients store files and read others back.
begin_share() {
	rm -rf "${1:?}/share" "$work/samba"
	mkdir -p "$1/share" "$work/samba"
	chmod 777 "$1/share"
	cat >"$work/samba/smb.conf" <<-CONF
		[global]
		server role = standalone server
		interfaces = 127.0.0.1
		bind interfaces only = yes
		smb ports = 23950
		map to guest = Bad User
		disable netbios = yes
		load printers = no
		log file = $OUT/share.log
		pid directory = $work/samba
		lock directory = $work/samba
		state directory = $work/samba
		cache directory = $work/samba
		private dir = $work/samba
		ncalrpc dir = $work/samba/rpc
		[study]
		path = $1/share
		guest ok = yes
		read only = no
		sync always = yes
	CONF
	local i
	for i in 1 2; do head -c 300000 /dev/urandom >"$work/samba/file.$i"; done
	start_server smbd -F -s "$work/samba/smb.conf"
	wait_server smbclient -N -p 23950 -s "$work/samba/smb.conf" //127.0.0.1/study -c ls
	sync -f "$1"
}
run_share() {
	local end=$((SECONDS + $2)) client clients=()
	for client in 1 2; do
		(
			nr=0
			while [ $SECONDS -lt $end ]; do
				smbclient -N -p 23950 -s "$work/samba/smb.conf" //127.0.0.1/study -c \
					"put $work/samba/file.$client $client.$((nr++ % 20)); get $client.$((nr / 2 % 20)) /dev/null" >"$OUT/share.out.$client" 2>&1
			done
		) &
		clients+=($!)
	done
	wait "${clients[@]}"
}
end_share() { stop_server; }

# make compiles a tree of C by two jobs through ccache, whose cache lies beside it; then some of the files change.
setup_builds() {
	local i
	mkdir "$1/source"
	for ((i = 0; i < 60; i++)); do
		awk -v i=$i 'BEGIN { for (k = 0; k < 200; k++) printf "int f_%d_%d(int x) { return x * %d + f(x); }\n", i, k, k }' |
			sed '1i #include <stdio.h>\nint f(int);' >"$1/source/file$i.c"
	done
	printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n' >"$1/source/Makefile"
}
begin_builds() {
	rm -rf "${1:?}/cache"
	rm -f "$1"/source/*.o
	cold "$1"
}
run_builds() {
	local end=$((SECONDS + $2)) nr=0 i
	while [ $SECONDS -lt $end ]; do
		in_group env CCACHE_DIR="$1/cache" make -s -C "$1/source" -j2 CC="ccache cc" >"$OUT/builds.out"
		sync -f "$1"
		rm -f "$1"/source/*.o
		for ((i = 0; i < 10; i++)); do echo "int g_$nr;" >>"$1/source/file$((nr++ % 60)).c"; done
		cold "$1"
	done
}

# LevelDB: two threads change keys, of which each change is durable, and read others.
begin_level() {
	rm -rf "${1:?}/level"
	/usr/bin/python3 - "$1/level" <<-'PY'
		import os, sys, plyvel
		db = plyvel.DB(sys.argv[1], create_if_missing=True, write_buffer_size=1 << 20)
		for key in range(60000):
		    db.put(b'%08d' % key, os.urandom(200))
		db.close()
	PY
	cold "$1"
}
run_level() {
	in_group timeout "$2" /usr/bin/python3 - "$1/level" <<-'PY' || [ $? = 124 ]
		import os, random, sys, threading, plyvel
		db = plyvel.DB(sys.argv[1], write_buffer_size=1 << 20, lru_cache_size=1 << 16)
		def change(seed):
		    chance = random.Random(seed)
		    while True:
		        db.put(b'%08d' % chance.randrange(60000), os.urandom(200), sync=True)
		        for _ in range(3):
		            db.get(b'%08d' % chance.randrange(60000))
		for seed in (1, 2):
		    threading.Thread(target=change, args=(seed,)).start()
	PY
}

# Fossil, whose repository is one durable file: some of a tree's files change, and are committed.
begin_fossil() {
	rm -rf "${1:?}/tree" "$1/repository.fossil"
	mkdir "$1/tree"
	small_files "$1/tree" 200
	fossil init "$1/repository.fossil" -A study >"$OUT/fossil.log"
	(
		cd "$1/tree"
		export HOME=$1 USER=study
		fossil open -f ../repository.fossil
		fossil add .
		fossil commit -m 0 --no-warnings
	) >>"$OUT/fossil.log" 2>&1
	cold "$1"
}
run_fossil() {
	local end=$((SECONDS + $2)) nr=0
	while [ $SECONDS -lt $end ]; do
		small_files "$1/tree/changed.$((nr++ % 5))" 20
		(
			cd "$1/tree"
			export HOME=$1 USER=study
			in_group fossil addremove
			in_group fossil commit -m $nr --no-warnings --hash
		) >"$OUT/fossil.out" 2>&1
	done
}

# HDF5: an array is packed into compressed pieces, which are made durable, and read again.
setup_array() {
	awk 'BEGIN { for (srand(1); i < 1000; i++) { for (k = 0; k < 1000; k++) printf "%.6f ", rand(); print "" } }' >"$work/array.txt"
	h5import "$work/array.txt" -dims 1000,1000 -type TEXTFP -size 64 -outfile "$1/array.h5"
}
begin_array() { cold "$1"; }
run_array() {
	local end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		in_group h5repack -f GZIP=1 -l CHUNK=50x50 "$1/array.h5" "$1/packed.h5"
		sync -f "$1"
		cold_files "$1/array.h5" "$1/packed.h5"
		in_group h5repack -f NONE "$1/packed.h5" "$1/again.h5"
		sync -f "$1"
		rm -f "$1/packed.h5" "$1/again.h5"
		cold_files "$1/array.h5"
	done
}
