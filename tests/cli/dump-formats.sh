#!/usr/bin/env bash
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
one=$T/store/segments/web1/b1/00000000000000000005/0000000001.seg

is "$("$b" dump --store "$T/store" --limit 4 --host db1)" "$(cat <<'END'
arrival                              host        device    operation        sector     bytes     queue    device      pid  depth  flags
2026-01-01T00:00:00.000103983+00:00  db1         sda       read            4100544      4096    813 ns   38.3 µs      200      0  -
2026-01-01T00:00:00.001020889+00:00  db1         sdb       read            6896944      4096    545 ns    100 µs      100      0  -
2026-01-01T00:00:00.001418505+00:00  db1         sdb       read            1587016      4096    189 ns   85.0 µs      200      0  -
2026-01-01T00:00:00.002425316+00:00  db1         sda       write           5018512      4096    480 ns   4.04 µs      100      0  O
END
)" "text"
is "$("$b" dump --store "$T/store" --limit 2 --format csv --device sdb --operation write)" "$(cat <<'END'
arrival_s,host,device,device_name,source,operation,sector,bytes,queue_s,device_s,tid,pid,cgroup_id,queue_depth,requeues,error,flags,total_s
1767225600.004388982,db1,8:16,sdb,bpf,write,1059192,4096,0.000000556,0.000026601,101,100,7,0,0,0,0x0,0.000027157
1767225600.006328126,web1,8:16,sdb,bpf,write,4667952,4096,0.000000950,0.000058817,101,100,7,0,0,0,0x0,0.000059767
END
)" "CSV of two hosts in order of time"
is "$("$b" dump --store "$T/store" --limit 1 --json --process cat --begin 2026-01-01T00:00:02Z)" \
	'{"arrival_s":1767225602.004970134,"host":"web1","device":"8:16","device_name":"sdb","source":"bpf","layer":"device","operation":"read","sector":1109568,"bytes":4096,"queue_s":0.000000470,"device_s":0.000067439,"total_s":0.000067909,"tid":201,"pid":200,"cgroup_id":1,"queue_depth":0,"requeues":0,"error":0,"flags":[]}' \
	"JSON lines of a process from a time on"
is "$("$b" dump --store "$T/store" --format csv | sed 1d | wc -l)" 10500 "every request once"
is "$("$b" dump --store "$T/store" --format csv | sed 1d | cut -d, -f1 | sort -c -n && echo sorted)" \
	sorted "in order of time"
is "$("$b" dump --format csv "$one" | sed 1d | wc -l)" 1500 "a file alone"
is "$("$b" dump --columns "$one" | sed -n '1p;$p' | awk '{ print $1 }' | tr '\n' ' ')" \
	"column total " "sizes of the columns"

exits 0 "a trace without stored profiles: exit 0" "$b" dump --store "$T/store" --profiles
is "$(cat "$T/out")" "" "and none is shown"

for command in dump "export --format csv"; do
	# shellcheck disable=SC2086
	exits 2 "$command of no such device: exit 2" "$b" $command --store "$T/store" --device nosuch
	like "$(cat "$T/err")" "^blkcast ${command%% *}: no request is in the selection .* the devices are: .*sda of" "$command says that nothing is selected"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	install -m 600 "$one" "$T/private"
	chmod 755 "$T"
	exits 2 "a file of somebody else: exit 2" setpriv --reuid 65534 --clear-groups "$b" dump "$T/private"
	is "$(cat "$T/err")" "blkcast dump: $T/private: Permission denied" "and named"
fi

head -c 5000 "$one" >"$T/cut"
exits 2 "a cut file: exit 2" "$b" dump "$T/cut"
like "$(cat "$T/err")" "^blkcast dump: $T/cut: offset 0: expected [0-9]+ more bytes$" \
	"a cut file is named with what was expected"
cp "$one" "$T/flipped"
printf '\377' | dd of="$T/flipped" bs=1 seek=3000 conv=notrunc 2>/dev/null
exits 2 "a flipped byte: exit 2" "$b" dump "$T/flipped"
like "$(cat "$T/err")" "^blkcast dump: $T/flipped: " "a flipped byte is told with its file"
is "$(wc -l <"$T/err")" 1 "in one line"
exits 2 "another kind of file: exit 2" "$b" dump /etc/passwd
exits 2 "nothing to read: exit 2" "$b" dump
done_testing
