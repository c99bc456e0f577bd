#!/usr/bin/env bash
# The way from a running application to an estimate, command by command as printed: the README's section "Predict a
# move", then docs/guide/migrate.md, consolidate.md and headroom-and-capacity.md. Only the settings are replaced, by a
# loop device under load and a folder on another one.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need root "root is needed" test "$(id -u)" = 0
need fio "fio is not installed" command -v fio
need jq "jq is not installed" command -v jq
need loop "mkfs.ext4 is not installed" command -v mkfs.ext4
need_loop
need_bpf
PATH=$(cd "$BUILD" && pwd):$PATH
mounts=""
unmount() { for m in $mounts; do umount -l "$m"; done; }
at_exit unmount

# commands: those of the three pages, in order, without the settings; a line that ends with \ goes on in the next
blocks() { sed -n 's/^    //p' "$@" | sed -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}'; }
settings=$(blocks docs/guide/migrate.md | grep '^DEVICE=')
blocks docs/guide/{migrate,consolidate,headroom-and-capacity}.md | grep -v '^DEVICE=' >"$T/commands"
sed -n '/^### .*Predict a move/,/^## /p' README.md | blocks >"$T/first"
is "$(printf '%s\n' "$settings" | grep -oE '[A-Z]+=' | paste -sd' ')" "DEVICE= WATCH= NEW= INTERVAL=" "the page has its settings"
number "$(wc -l <"$T/commands") >= 14" "and commands"
is "$(wc -l <"$T/first")" 2 "the README predicts a move by two commands"

# The application: a mix of reads and writes on a file system.
loop_new 96M
app_dev=$loop_dev
mkfs.ext4 -q -F -O ^has_journal "$app_dev"
mkdir "$T/app" "$T/new"
mount "$app_dev" "$T/app" && mounts="$T/app"
loop_new 400M
mkfs.ext4 -q -F -O ^has_journal "$loop_dev"
mount "$loop_dev" "$T/new" && mounts="$mounts $T/new"
timeout 300 fio --name=application --directory="$T/app" --size=32m --direct=1 --rw=randrw --rwmixread=70 --bs=8k --numjobs=2 \
	--thread --thinktime=500 --time_based --runtime=280 --output=/dev/null &
fio_pid=$!
stop_application() { kill "$fio_pid" 2>/dev/null && wait "$fio_pid" 2>/dev/null; }
at_exit stop_application
sleep 2

# A file set and a number of configurations that fit a test are the plan's business, not the reader's, and so is of
# how many requests a simulated device is judged by.
mkdir -p "$T/docs/examples"
cp -r docs/examples/plans docs/examples/scenarios docs/examples/demo.seg "$T/docs/examples"
cd "$T" || exit 1
sed -i 's/file_set: 512m/file_set: 64m/; s/configurations: 60/configurations: 16/; s/warm_up: 1s/warm_up: 0/' docs/examples/plans/new-storage.yaml
sed -i 's/file_set: 512m/file_set: 64m/; s/warm_up: 1s/warm_up: 0/' docs/examples/plans/storage.yaml
awk '!/^ *- \{/ || nr++ % 7 == 0' docs/examples/plans/storage.yaml >thin.yaml && mv thin.yaml docs/examples/plans/storage.yaml
export DEVICE=${app_dev#/dev/} WATCH=3s NEW="$T/new" INTERVAL=200ms

# A replay may get less done beside what else runs here, of which the command's status 1 tells.
replays() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$T/out" 2>"$T/err"
	number "$? <= 1" "$name"
}

# The README's two commands, in a folder of their own.
mkdir "$T/readme"
cd "$T/readme" || exit 1
while IFS= read -r command; do
	command=${command//vdb/$DEVICE}
	command=${command//10m/$WATCH}
	case $command in
	*" --run "*) replays "README: $command" timeout 200 bash -e -c "${command//\/mnt\/new/$NEW}" ;;
	*) exits 0 "README: $command" timeout 200 bash -e -c "$command" ;;
	esac
done <"$T/first"
like "$(cat "$T/out")" '^After the migration: ' "its replay ends with a sentence"
cd "$T" || exit 1
n=0
while IFS= read -r command; do
	n=$((n + 1))
	case $command in "blkcast storage calibrate "*) command="$command --requests 400" ;; esac
	case $command in
	"blkcast study "*" --run "*) replays "$command" timeout 200 bash -e -c "$command" ;;
	"blkcast study "* | "blkcast headroom "* | "blkcast capacity "*)
		# Whether a limit holds (1), and whether models can tell (3), is up to what this machine measured.
		timeout 200 bash -e -c "$command" >"$T/out" 2>"$T/err"
		like "$?" '^[013]$' "$command"
		;;
	*) exits 0 "$command" timeout 200 bash -e -c "$command" ;;
	esac
	cp "$T/out" "$T/out.$n"
	case $command in
	blkcast-agent*) stop_application ;;
	esac
done <"$T/commands"

is "$(jq 'length' app.json)" 1 "one device was characterized"
jq -e '.[0].requests | .read > 50 and .write > 20' app.json >/dev/null && pass "the application was seen" || fail "the application was seen" "$(jq -c '.[0].requests' app.json)"
number "$(jq '.[0].request_mix.read' app.json) > 0.55 && $(jq '.[0].request_mix.read' app.json) < 0.85" "its mix"
for page in migration.html two.html headroom.html scenarios.html; do holds "$page has a picture" grep -q '<svg' $page; done
like "$(cat out.*)" '^After the migration: ' "the estimate is a sentence"
like "$(cat out.*)" '^Consolidated on one target: ' "so is that of two"
like "$(cat out.*)" '^read.mean=1s (holds up to|is broken)' "and how much more it bears"
done_testing
