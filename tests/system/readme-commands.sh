#!/usr/bin/env bash
# Every command block of README.md and of docs/guide/ runs as it is printed. Only what belongs to the reader is
# replaced: the disk (a loop device here), ten minutes (two seconds), and the files that a block reads. Folders
# such as /srv and /etc, ports and names of hosts are those of the pages, in mount and network namespaces of this
# test. Commands that cannot run here, such as a copy to another host, are checked as far as possible. The pages
# that predict from one recording (README's "Predict a move", migrate, consolidate, headroom-and-capacity) are run
# by readme-migration.sh, those of fleet by cluster-short.sh. The pages run in the order of the list below, in one folder.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
. tests/loop.sh
need root "root is needed" test "$(id -u)" = 0
need loop "no namespaces of mounts and networks can be made" unshare -mn --propagation private true
for program in fio jq; do need $program "$program is not installed" command -v $program; done
need certificates "openssl is not installed" command -v openssl
if [ -z "${README_INSIDE:-}" ]; then
	rm -rf "$T"
	exec env README_INSIDE=1 unshare -mn --propagation private bash "$0"
fi
need_loop
need_bpf
PATH=$(cd "$BUILD" && pwd):$PATH
source=$PWD
servers=""
stop_servers() {
	[ -z "$servers" ] || { kill -9 $servers && wait $servers; } 2>/dev/null
	servers=""
}
at_exit stop_servers

# A machine like the reader's. The namespace ends with this test, and what is mounted with it.
mkdir "$T/etc"
mount -t tmpfs tmpfs "$T/etc" && mkdir "$T/etc/upper" "$T/etc/work" || exit 1
unmount_etc() { umount -l /etc "$T/etc"; }
at_exit unmount_etc
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/etc/upper,workdir=$T/etc/work" /etc || exit 1
mkdir -p /var/lib/blkcast
for folder in /srv /opt /usr/local/sbin /var/lib/blkcast; do mount -t tmpfs tmpfs $folder || exit 1; done
umount -l /sys/kernel/debug 2>/dev/null
mkdir -p /etc/blkcast /srv/traces
python3 - <<'P'
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x41)) # SIOCSIFFLAGS: up and running
P
echo "127.0.0.1 localhost analyzer.example" >/etc/hosts
loop_new 64M
disk=$loop_name

pages="README.md $(printf 'docs/guide/%s.md ' watch record-and-report several-guests compare measure-and-fit nets \
	architecture-models secure keep-for-a-year z-linux)"
# The others are run by readme-migration.sh, and by serve-page.sh and ranks.sh of tests/cli.
elsewhere=$(printf 'docs/guide/%s.md ' migrate consolidate headroom-and-capacity watch-in-a-browser fleet many-machines)
forgotten=""
for page in $(grep -l '^    ' docs/guide/*.md); do
	case " $pages $elsewhere " in *" $page "*) ;; *) forgotten="$forgotten $page" ;; esac
done
is "$forgotten" "" "every page of the guide that has commands is run"

# commands: "NUMBER<tab>COMMAND" for each command of all pages; a line that ends with \ goes on in the next. The
# section of the README that readme-migration.sh runs is left out.
awk '
	FNR == 1 { inside = 0; other = 0 }
	/^##/ { other = /Predict a move/ }
	/^    / && !other {
		if (!inside) { number++; inside = 1 }
		line = substr($0, 5)
		if (line ~ /^ *#/) next
		text = text line
		if (text ~ /\\$/) { sub(/\\$/, "", text); next }
		print number "\t" text
		text = ""
		next
	}
	!/^$/ { inside = 0 }' $pages >"$T/commands"
number "$(wc -l <"$T/commands") >= 65" "the pages have their commands ($(wc -l <"$T/commands"))"

# The reader's files, in a folder of the reader's.
mkdir "$T/home"
cp -r docs scripts "$T/home"
sed -i 's/interval: 250ms/interval: 100ms/; s/warm_up: 250ms/warm_up: 0/; s/file_set: 64m/file_set: 8m/' \
	"$T/home/docs/examples/plans/small.yaml"
cd "$T/home" || exit 1
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%.0f,%s,%d,%d\n", 1700000000000000 + i * 1000, i % 3 ? "R" : "W", i * 8, 4096 }' |
	gzip >trace.csv.gz
cat >sda.blktrace.0 <<'END'
  8,0    0        1     0.000000300   100  Q   R 3048 + 16 [a]
  8,0    0        2     0.000000500   100  I   R 3048 + 16 [a]
  8,0    0        3     0.000001500   100  D   R 3048 + 16 [a]
  8,0    0        4     0.000005000     0  C   R 3048 + 16 [0]
END
# two_hours: requests from 13:00 to 15:00 of the day of the change that the README compares
two_hours() {
	local at
	at=$(date -d 2026-01-31T13:00 +%s)
	awk -v at="$at" 'BEGIN { for (i = 0; i < 2000; i++)
		printf "%.0f,R,%d,4096,%d\n", (at + i * 3.6) * 1000000, i * 7919 % 100000 * 8, i < 1000 ? 900 : 300 }' >change.csv
	rm -rf /srv/traces
	blkcast import --store /srv/traces --map time=1:us,op=2,offset=3:sectors,size=4,response=5:us change.csv
}
bundle() {
	local name=blkcast-agent-0.1.0-s390x
	(cd "$source" && scripts/bundle.sh "$BUILD/blkcast-agent" "" "$T/home/$name.tar.gz")
}
read_disk() { dd if="/dev/$disk" of=/dev/null bs=4k count=50 iflag=direct status=none; }

# hosts_of STORE: those whose requests have come
hosts_of() { blkcast ls --store "$1" --json 2>/dev/null | jq -r '.hosts[] | select(.requests > 0) | .host' 2>/dev/null; }
has_come() {
	read_disk
	hosts_of /srv/fleet | grep -q "$1"
}
# streams NAME COMMAND HOST: an agent that runs until it is told to end; its requests reach the analyzer
streams() {
	local pid status=0
	bash -c "exec $2" >"$T/agent.out" 2>&1 &
	pid=$!
	wait_until 60 has_come "$3"
	holds "$1: its requests come" has_come "$3"
	kill -INT $pid
	wait $pid || status=$?
	is $status 0 "$1: it ends in order"
	[ $status = 0 ] || note "$(tail -n 3 "$T/agent.out")"
}
# serves NAME COMMAND: the analyzer, until the next one starts
serves() {
	stop_servers
	: >"$T/serve.err"
	bash -c "exec $2" >"$T/serve.out" 2>"$T/serve.err" &
	servers=$!
	if serve_port "$T/serve.err" $servers >/dev/null; then pass "$1: it starts"; else
		fail "$1: it starts" "$(cat "$T/serve.err")"
	fi
}
runs() { # NAME COMMAND
	exits 0 "$1" timeout 300 bash -e -o pipefail -c "$2"
	note_of_failure
}
note_of_failure() { [ $tap_failed = "$failed_before" ] || note "$(tail -n 3 "$T/out")"; }
# is_target COMMAND: a target that the Makefile has
is_target() { grep -qE "^$(awk '{ print $2 }' <<<"$1")( [a-z-]+)*:" "$source/Makefile"; }

block="" settings="" host=$(uname -n) run=0
while IFS=$'\t' read -r number line <&8; do
	name="block $number: $line"
	command=${line%%  #*}
	command=${command//--device sda/--device $disk}
	command=${command//--device dasda/--device $disk}
	command=${command//--duration 10m/--duration 2s}
	failed_before=$tap_failed run=$((run + 1))
	[ "$number" = "$block" ] || settings=""
	block=$number
	case $command in
	[A-Z]*=*)
		settings="$settings$command; "
		pass "$name"
		;;
	"make "*) holds "$name" is_target "$command" ;;
	"scripts/deps.sh "*) exits 0 "$name" ${command/deps.sh/deps.sh --list} ;;
	"scp "*) exits 0 "$name" bash -n -c "$command" && cp tls/ca.crt tls/web1.crt tls/web1.key /etc/blkcast/ 2>/dev/null ;;
	*" --top"*)
		runs "$name" "TERM=vt100 script -qec 'exec timeout --preserve-status -s INT 3 $command' /dev/null"
		runs "$name (in the background of its terminal)" \
			"TERM=vt100 script -qec 'timeout --preserve-status -s INT 3 $command; exit' /dev/null"
		holds "it prints rows there" grep -q '^# .* window' "$T/out"
		;;
	*"--sink file:"*)
		(while sleep 0.2; do read_disk; done) &
		reader=$!
		runs "$name" "$command"
		kill $reader
		wait $reader 2>/dev/null
		;;
	"blkcast serve "*) serves "$name" "$command" ;;
	"blkcast-agent --sink "*) streams "$name" "$command" "$host" ;;
	"blkcast-agent --host web1 "*) streams "$name" "$command" '^web1$' ;;
	"blkcast-agent --device "*" --sink http:"*)
		serves "block $number: the analyzer" "blkcast serve --user blkcast --store /srv/zlinux --listen 127.0.0.1:7118"
		rm -rf /srv/fleet && ln -s zlinux /srv/fleet
		streams "$name" "$command" "$host"
		;;
	"useradd "*)
		if id blkcast >/dev/null 2>&1; then pass "$name (the user is there)"; else runs "$name" "$command"; fi
		;;
	"install -d -o blkcast"*)
		runs "$name" "$command"
		install -d -o blkcast -m 700 /srv/zlinux
		;;
	*"--end 2026-01-31T14:00"*)
		exits 0 "the trace of a change is imported" two_hours
		runs "$name" "$command"
		;;
	"tar -xzf blkcast-agent"*)
		exits 0 "a bundle is made" bundle
		runs "$name" "$command"
		;;
	*) runs "$name" "$settings$command" ;;
	esac
done 8<"$T/commands"
is "$run" "$(wc -l <"$T/commands")" "every command was looked at"

# What the blocks were for.
is "$(jq -r '.[0].requests.read' before.json after.json | paste -sd' ')" "1000 1000" "the change has a before and an after"
number "$(jq '.[0].response_time.read.total.mean_s' after.json) < $(jq '.[0].response_time.read.total.mean_s' before.json)" \
	"and is told apart"
for page in report.html p95.html; do holds "$page has a picture" grep -q '<svg' $page; done
holds "shop.svg is one" grep -q '<svg' shop.svg
is "$(find trace.blkseg -size +0)" trace.blkseg "the redacted trace is there"

# The list of headers in docs/architecture.md.
missing=""
cd "$source" || exit 1
while read -r first rest; do
	folder=${first%/*} files=${first##*/}
	for file in $files $rest; do
		case $file in *.h, | *.md, | *.h | *.md) [ -e "$folder/${file%,}" ] || missing="$missing $folder/${file%,}" ;; esac
	done
done < <(sed -n '/^## Where to begin reading/,/^## /s/^    //p' docs/architecture.md | sed 's/, */ /g; s/   .*//')
is "$missing" "" "the headers that docs/architecture.md names are there"

# Links between the pages.
for page in README.md docs/guide/*.md; do
	for link in $(grep -oE '\]\([^)#:]+\)' "$page" | tr -d '()]'); do
		[ -e "$(dirname "$page")/$link" ] || missing="$missing $page:$link"
	done
done
is "$missing" "" "every link of the README and of the guide leads to a file"
number "$(wc -l <README.md) <= 120" "the README has at most 120 lines"
done_testing
