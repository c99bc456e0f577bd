#!/usr/bin/env bash
# Repeats the case studies of Noorshams et al., Enriching Software Architecture Models with Statistical Models for
# Performance Prediction in Modern Storage Environments, 2014, section 5, on a volume of this machine. File server and
# mail server run as real processes (tests/system/fileops.c), and are predicted by
# docs/examples/{fileserver,mailserver,both-servers,fileserver-queue}.yaml with models of the volume inside. As root:
#
#	scripts/case-arch.sh [OUT]
#
# OUT (default build/case-arch) gets all measurements, models and results.txt, which is printed at the
# end. It takes 13 to 15 minutes and asks nothing. What is there already is not measured again, so that
# one that was stopped goes on; a fresh OUT measures all. SECONDS_EACH=12 of a run, BACKING=/dev/shm
# where the volume lies.
# The volume is ext4 on a loop device with limits of the kernel's throttling, so that the storage, not
# the machine's processors, is what the clients wait for. The loads run under real-time priority where
# that is permitted: the machine had better be idle all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${1:-build/case-arch}
SECONDS_EACH=${SECONDS_EACH:-12}
BACKING=${BACKING:-/dev/shm}
blkcast=build/blkcast
examples=docs/examples
mkdir -p "$OUT/volume"
OUT=$(cd "$OUT" && pwd)

mount_point=$OUT/mnt
image=$BACKING/blkcast-case-arch.$$
device=""
group=""
agent=""
tidy() {
	[ -n "$agent" ] && kill -INT "$agent" 2>/dev/null
	mountpoint -q "$mount_point" && umount "$mount_point"
	[ -n "$device" ] && losetup -d "$device"
	rm -f "$image"
	[ -n "$group" ] && rmdir "$group" 2>/dev/null
	true
}
trap tidy EXIT

limit() { # FILE OF-V1 VALUE
	echo "$(cat "/sys/block/${device#/dev/}/dev") $2" >"$group/blkio.throttle.$1_device"
}

# Reads: 100 MiB/s and 2000 per second; writes: 60 MiB/s and 1000 per second.
make_volume() {
	truncate -s 2G "$image"
	device=$(losetup -f --show "$image")
	# Clusters of 64 KiB: a file that grew by appends is read in as few requests as the models say.
	mkfs.ext4 -q -O bigalloc -C 65536 "$device" 2>/dev/null
	mkdir -p "$mount_point"
	mount -o noatime "$device" "$mount_point"
	if [ -d /sys/fs/cgroup/blkio ]; then
		group=/sys/fs/cgroup/blkio/blkcast-case-arch
		mkdir -p "$group"
		limit read_bps 104857600
		limit write_bps 62914560
		limit read_iops 2000
		limit write_iops 1000
	else
		echo +io >/sys/fs/cgroup/cgroup.subtree_control
		group=/sys/fs/cgroup/blkcast-case-arch
		mkdir -p "$group"
		echo "$(cat "/sys/block/${device#/dev/}/dev") rbps=104857600 wbps=62914560 riops=2000 wiops=1000" \
			>"$group/io.max"
	fi
}

urgent=""
if chrt -r 10 true 2>/dev/null; then urgent="chrt -r 10"; fi

# A command whose I/O the limits hold for.
limited() {
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec $urgent "$@"
	)
}

say() { printf '%3d s  load %-5s %s\n' "$SECONDS" "$(cut -d' ' -f1 /proc/loadavg)" "$*" >&2; }

# fileops NAME KIND CLIENTS FILES [READS]: NAME.csv, unless it is there
fileops() {
	[ -s "$OUT/$1.csv" ] && return
	local dir=$mount_point/$1
	mkdir -p "$dir"
	say "measuring $1"
	limited timeout $((4 * SECONDS_EACH + 120)) \
		build/tests/system/fileops "$dir" "$2" "$3" "$SECONDS_EACH" "$4" "${5:-1}" \
		>"$OUT/$1.tmp"
	mv "$OUT/$1.tmp" "$OUT/$1.csv"
	rm -rf "$dir"
}

# table NAME INSTANCE COMPONENT: the measured times as blkcast arch names them; without COMPONENT all
# as operations.
table() {
	awk -F, -v instance="$2" -v component="$3" '
		{ count[$1] = $2; mean[$1] = $3; order[NR] = $1 }
		END {
			for (i = 2; i <= NR; i++) {
				op = order[i]
				if (op == "round") continue
				io = component != "" && (op == "write" || op == "append" || op == "read")
				print (io ? component : instance) "." op "," mean[op] "," count[op] / count["round"]
			}
		}' "$OUT/$1.csv"
}
measured() { # NAME INSTANCE COMPONENT
	{
		echo time,mean_s,per_round
		table "$@"
	} >"$OUT/$1.times.csv"
}
bytes() { awk -F, -v op="$2" '$1 == op { printf "%.0f", $4 }' "$OUT/$1.csv"; }

# The columns volume/repository.yaml names.
logarithms() {
	awk -F, -v OFS=, '
		NR == 1 {
			for (i = 1; i <= NF; i++) at[$i] = i
			print "log_threads,log_odds,log_read_size,log_write_size,log_ratio,read_s,write_s"
			next
		}
		{
			odds = $at["read"] / (100 - $at["read"])
			print log($at["threads"]), log(odds), log($at["read_size"]), log($at["write_size"]),
				log(odds * $at["read_size"] / $at["write_size"]), $at["read_s"], $at["write_s"]
		}'
}

# The volume's models: a campaign of measure, fitted for reads and for writes.
volume_models() {
	if [ ! -s "$OUT/volume/train.db" ]; then
		mkdir -p "$mount_point/fio"
		sed "s|/mnt/volume|$mount_point/fio|" $examples/plans/volume.yaml >"$OUT/volume/plan.yaml"
		say "measuring the volume: 150 configurations, 6 to 9 minutes"
		local resume=""
		[ ! -s "$OUT/volume/measuring.db" ] || resume=--resume
		limited "$blkcast" measure "$OUT/volume/plan.yaml" --db "$OUT/volume/measuring.db" $resume >&2
		mv "$OUT/volume/measuring.db" "$OUT/volume/train.db"
		rm -rf "$mount_point/fio"
	fi
	"$blkcast" measure --export "$OUT/volume/measured.csv" --db "$OUT/volume/train.db"
	logarithms <"$OUT/volume/measured.csv" >"$OUT/volume/train.csv"
	for type in read write; do
		[ -s "$OUT/volume/$type.json" ] && continue
		say "fitting $type"
		"$blkcast" fit "$OUT/volume/train.csv" --response ${type}_s --log --quiet \
			--predictors log_threads,log_odds,log_read_size,log_write_size,log_ratio \
			--techniques mars-ia,m5,cubist -o "$OUT/volume/$type.json" >"$OUT/volume/$type.txt"
	done
	cp $examples/volume/repository.yaml "$OUT/volume/"
	cp $examples/{fileserver,mailserver,both-servers,fileserver-queue}.yaml "$OUT/"
}

# The status list is no shorter than the clients: all of them may be in service at once.
# Prints what calibrate found, as --set options on one line.
found() { sed -n '/^--set /p' "$OUT/$1.txt"; }

demands() { printf -- '--fit %s=1e-7:0.05 ' "$@"; }

calibrate_file() {
	say "calibrating the file server"
	measured file-20 server FileServer
	bytes_file="--set write_bytes=$(bytes file-20 write) --set append_bytes=$(bytes file-20 append) --set read_bytes=$(bytes file-20 read)"
	[ -s "$OUT/calibrated-file.txt" ] ||
		"$blkcast" arch calibrate --model-time 6s "$OUT/fileserver.yaml" "$OUT/file-20.times.csv" \
			--set clients=20 $bytes_file $(demands create_s delete_s open_s close_s stat_s) \
			--fit list_length=20:500 --fit concurrency=0.5:2 >"$OUT/calibrated-file.txt"
}

calibrate_mail() {
	say "calibrating the mail server"
	measured mail-10 mail MailServer
	bytes_mail="--set append_bytes=$(bytes mail-10 append) --set read_bytes=$(bytes mail-10 read)"
	[ -s "$OUT/calibrated-mail.txt" ] ||
		"$blkcast" arch calibrate --model-time 6s "$OUT/mailserver.yaml" "$OUT/mail-10.times.csv" \
			--set clients=10 $bytes_mail $(demands create_s delete_s open_s close_s) \
			--fit list_length=10:500 --fit concurrency=0.5:2 >"$OUT/calibrated-mail.txt"
}

calibrate_queue() {
	say "calibrating the plain queue"
	measured file-20-queue server ""
	[ -s "$OUT/calibrated-queue.txt" ] ||
		"$blkcast" arch calibrate --model-time 6s "$OUT/fileserver-queue.yaml" "$OUT/file-20-queue.times.csv" \
			--set clients=20 $bytes_file $(demands create_s delete_s open_s close_s stat_s) \
			--fit read_rate=1e7:1e11 --fit write_rate=1e7:1e11 >"$OUT/calibrated-queue.txt"
}

# errors STUDY MODEL TABLE OPTIONS...: one line of the results
errors() {
	local study=$1 model=$2 times=$3 out
	say "predicting: $study"
	shift 3
	out=$("$blkcast" arch validate --model-time 20s "$OUT/$model" "$OUT/$times" "$@" --json --quiet)
	printf '%-42s %8s %8s %8s %8s %7s\n' "$study" $(jq -r '
		def pct: if . == null then "-" else (. * 10000 | round / 100 | tostring) + "%" end;
		([.times[] | .per_round * .measured_s] | add * 1e5 | round / 100 | tostring) + "ms",
		([.times[] | .per_round * .predicted_s] | add * 1e5 | round / 100 | tostring) + "ms",
		(.error_io | pct), (.error_end_to_end | pct),
		(if .asked > 0 then (.outside_training / .asked | pct) else "-" end)' <<<"$out")
}

both_times() { # NAME: file and mail server measured together
	{
		echo time,mean_s,per_round
		table "file-$1" server FileServer
		table "mail-$1" mail MailServer
	} >"$OUT/$1.times.csv"
}

# The calibrated values of the two, under the names of both-servers.yaml. The status list is one:
# its length and factor are the file server's.
both_settings() {
	found calibrated-file
	found calibrated-mail | sed 's/--set list_length=[^ ]*//; s/--set concurrency=[^ ]*//;
		s/--set \([a-z_]*\)=/--set mail_\1=/g'
	printf -- '%s ' $bytes_file
	printf -- '%s ' ${bytes_mail//--set /--set mail_} | sed 's/--set mail_--set/--set/g'
}

# characterize NAME KIND CLIENTS FILES: what the agent sees of it, in a run that is not measured.
characterize() {
	[ -s "$OUT/$1.profile.json" ] && return
	say "characterizing $1"
	mkdir -p "$mount_point/$1"
	limited build/tests/system/fileops "$mount_point/$1" "$2" "$3" 8 "$4" >"$OUT/$1.traced.csv" &
	local load=$!
	sleep 4
	build/blkcast-agent --device "${device#/dev/}" --sink "file:$OUT/$1.trace" --duration 3s >/dev/null 2>"$OUT/$1.agent" &
	agent=$!
	wait $agent || true
	agent=""
	wait $load
	"$blkcast" characterize --store "$OUT/$1.trace" --json --quiet >"$OUT/$1.profile.json" ||
		echo null >"$OUT/$1.profile.json"
	rm -rf "${mount_point:?}/$1" "$OUT/$1.trace"
}
seen() { # NAME TITLE
	jq -r --arg what "$2" '
		def kib: if . == null then "-" else (. / 102.4 | round / 10 | tostring) + " KiB" end;
		if type != "array" or . == [] then "\($what): the agent saw nothing"
		else .[0] | "\($what): \(.requests.read + .requests.write) requests, \(.request_mix.read * 1000 | round / 10) % reads of \(.request_size.read.mean_bytes | kib), writes of \(.request_size.write.mean_bytes | kib), \(.intensity.closed.in_flight_mean * 10 | round / 10) in flight" end' \
		"$OUT/$1.profile.json"
}

# Both at once, from the same moment on.
both() { # CLIENTS-OF-EACH
	local mail go
	[ -s "$OUT/file-both-$1.csv" ] && [ -s "$OUT/mail-both-$1.csv" ] && return
	rm -f "$OUT/go" "$OUT/file-both-$1.csv" "$OUT/mail-both-$1.csv"
	export FILEOPS_GO=$OUT/go
	fileops "mail-both-$1" mail "$1" 2000 &
	mail=$!
	{
		until [ -e "$mount_point/mail-both-$1/ready" ] && [ -e "$mount_point/file-both-$1/ready" ]; do
			sleep 0.05
		done
		touch "$OUT/go"
	} &
	go=$!
	fileops "file-both-$1" file "$1" 1000
	wait $mail
	kill $go 2>/dev/null || true
	unset FILEOPS_GO
}

measure_all() {
	characterize seen-file file 20 1000
	characterize seen-mail mail 10 2000
	for n in 20 25 30 35; do fileops file-$n file $n 1000; done
	fileops file-20-reads5 file 20 1000 5
	for n in 10 20 30 40; do fileops mail-$n mail $n 2000; done
	for n in 10 15 20; do both $n; done
}

results() {
	printf '%-42s %8s %8s %8s %8s %7s\n' study measured predict. err_IO err_E2E outside
	errors "file server, 20 clients (calibrated)" fileserver.yaml file-20.times.csv \
		--set clients=20 $bytes_file $(found calibrated-file)
	for n in 25 30 35; do
		measured file-$n server FileServer
		errors "file server, 20 -> $n clients" fileserver.yaml file-$n.times.csv \
			--set clients=$n $bytes_file $(found calibrated-file)
	done
	errors "mail server, 10 clients (calibrated)" mailserver.yaml mail-10.times.csv \
		--set clients=10 $bytes_mail $(found calibrated-mail)
	for n in 20 30 40; do
		measured mail-$n mail MailServer
		errors "mail server, 10 -> $n clients" mailserver.yaml mail-$n.times.csv \
			--set clients=$n $bytes_mail $(found calibrated-mail)
	done
	for n in 10 15 20; do
		both_times both-$n
		errors "both on one volume, $n + $n clients" both-servers.yaml both-$n.times.csv \
			--set clients=$n --set mail_clients=$n $(both_settings)
	done
	measured file-20-reads5 server FileServer
	errors "reads x 5, I/O model inside" fileserver.yaml file-20-reads5.times.csv \
		--set clients=20 --set reads=5 $bytes_file $(found calibrated-file)
	measured file-20-reads5-queue server ""
	errors "plain queue, 20 clients (calibrated)" fileserver-queue.yaml file-20-queue.times.csv \
		--set clients=20 $bytes_file $(found calibrated-queue)
	errors "reads x 5, plain queue" fileserver-queue.yaml file-20-reads5-queue.times.csv \
		--set clients=20 --set reads=5 $bytes_file $(found calibrated-queue)
}

if [ ! -s "$OUT/volume/train.db" ] || [ ! -s "$OUT/mail-both-20.csv" ]; then make_volume; fi
started=$(date -u +%FT%TZ)
volume_models
measure_all
cp "$OUT/file-20.csv" "$OUT/file-20-queue.csv"
cp "$OUT/file-20-reads5.csv" "$OUT/file-20-reads5-queue.csv"
calibrate_file
calibrate_mail
calibrate_queue
# The mean of the predicted client counts, beside what is to be reached.
means() {
	awk '
		{ e = $(NF - 1); sub("%", "", e) }
		/^file server, 20 ->/ { file += e / 3 }
		/^mail server, 10 ->/ { mail += e / 3 }
		/^both on one volume/ { both += e / 3 }
		/^reads x 5, I/ { reads = e }
		/^reads x 5, plain/ { plain = e }
		END {
			printf "mean err_E2E: file server %.1f%% (goal 7), mail server %.1f%% (20), both %.1f%% (20)\n",
				file, mail, both
			printf "reads x 5: %.1f%% (goal 12), plain queue %.1f%% (above 50)\n", reads, plain
		}' "$OUT/results.txt"
}
results >"$OUT/results.txt"
{
	means
	seen seen-file "seen by the agent, file server of 20"
	seen seen-mail "seen by the agent, mail server of 10"
	grep -h '^selected' "$OUT/volume/read.txt" "$OUT/volume/write.txt" | sed 's/^/model of the volume: /' || true
	echo "runs of $SECONDS_EACH s, ${urgent:-ordinary priority}, $started to $(date -u +%FT%TZ), $SECONDS s"
} >>"$OUT/results.txt"
cat "$OUT/results.txt"
