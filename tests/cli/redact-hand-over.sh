#!/usr/bin/env bash
# A trace is handed over as one file, as it is or without its names and places.
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
printf '0123456789abcdef0123456789abcdef\n' >"$T/key"
printf 'another key, of twenty-nine b\n' >"$T/other"
chmod 600 "$T/key" "$T/other"

# As it is: out of the store, into another, byte by byte.
tree() { (cd "$1/segments" && find . -name '*.seg' -type f | LC_ALL=C sort | xargs md5sum); }
exits 0 "export of whole segments: exit 0" "$b" export --store "$T/store" --format segments -o "$T/all.blkseg"
exits 0 "import of them: exit 0" "$b" import --quiet --store "$T/copy" "$T/all.blkseg"
is "$(tree "$T/copy")" "$(tree "$T/store")" "the store comes back, byte by byte, under the same names"
is "$("$b" import --json --store "$T/copy" "$T/all.blkseg")" \
	'{"schema":"blkcast.import/1","requests":10500,"segments":{"stored":0,"repeated":7,"stored_bytes":0}}' \
	"once more changes nothing"
"$b" export --store "$T/store" --format segments --host db1 >"$T/db1.blkseg"
is "$("$b" export --json --format segments -o "$T/again" "$T/db1.blkseg")" \
	'{"schema":"blkcast.export/1","format":"segments","requests":4500,"segments":3,"left_out":0,"rounded":0}' \
	"one host alone, by way of standard output and a file"
is "$(md5sum <"$T/again")" "$(md5sum <"$T/db1.blkseg")" "a file of a file is the same file"
"$b" export --store "$T/store" --format segments --host web1 --begin 2026-01-01T00:00:01.5Z --end 2026-01-01T00:00:02Z \
	-o "$T/part.blkseg"
is "$("$b" dump --format csv "$T/part.blkseg" | sed 1d | wc -l)" 1500 "segments that touch a time"
is "$("$b" characterize --json -q "$T/all.blkseg" | md5sum)" "$("$b" characterize --json -q --store "$T/store" | md5sum)" \
	"a file is characterized like its store"
exits 2 "a device cannot be taken out of segments: exit 2" "$b" export --store "$T/store" --format segments --device sda
exits 1 "a host that is not there: nothing to write" bash -c "'$b' export --store '$T/store' --format segments --host nobody -o '$T/none'; [ \$? != 0 ] && [ ! -e '$T/none' ] && exit 1"
head -c 5000 "$T/all.blkseg" >"$T/cut.blkseg"
exits 2 "a file that is cut off is refused" "$b" import --store "$T/bad" "$T/cut.blkseg"
holds "and nothing of it stored" [ ! -e "$T/bad" ]

# Without names and places.
exits 0 "redact: exit 0" "$b" redact --key "$T/key" "$T/store" "$T/red"
"$b" redact --quiet --key "$T/key" "$T/all.blkseg" "$T/red2"
is "$(md5sum <"$T/red")" "$(md5sum <"$T/red2")" "store and file with one key: the same bytes"
is "$(stat -c %a "$T/red")" 600 "nobody else may read the result"
is "$(for w in web1 db1 fio cat /web/db; do grep -ac "$w" "$T/red"; done | paste -sd' ')" "0 0 0 0 0" "no name is left"
columns() { "$b" dump --format csv "$@" | sed 1d; }
head=$("$b" dump --format csv -n 1 "$T/red" | head -n 1)
# All columns but host, process, cgroup, sector or place.
keep=$(tr , '\n' <<<"$head" | grep -nvE '^(host|boot_id|offset_bytes|sector|comm|process|cgroup|cgroup_path|time)$' | cut -d: -f1 | paste -sd,)
note "columns held equal: $(cut -d, -f"$keep" <<<"$head")"
is "$(columns "$T/red" | cut -d, -f"$keep" | LC_ALL=C sort | md5sum)" \
	"$(columns --store "$T/store" | cut -d, -f"$keep" | LC_ALL=C sort | md5sum)" "all else is as it was"
# The profile: equal but for the host, the distribution of places and seek distances.
profile() { "$b" characterize --json -q "$@" | jq -S 'map(del(.host, .locality.distribution, .arrivals[]?.seek_distance_sectors)) | sort_by(tostring)' -c | md5sum; }
is "$(profile "$T/red")" "$(profile --store "$T/store")" "every dimension but the distribution of places is as it was"
"$b" redact --quiet --key "$T/other" "$T/store" "$T/red3"
"$b" redact --quiet "$T/store" "$T/red4"
"$b" redact --quiet "$T/store" "$T/red5"
hosts() { "$b" ls --json "$@" | jq -r '.. | .host? // empty' | sort -u | paste -sd' '; }
is "$(for f in red red3 red4 red5; do "$b" import --quiet --store "$T/s.$f" "$T/$f"; hosts --store "$T/s.$f"; done | tr ' ' '\n' | sort -u | wc -l)" \
	8 "each key, and each without a key, has names of its own"
like "$(hosts --store "$T/s.red")" '^host-[0-9a-f]{16} host-[0-9a-f]{16}$' "hosts are pseudonyms"
is "$("$b" redact --json --key "$T/key" --host db1 "$T/store" "$T/red6" | sed 's/"bytes":[0-9]*/"bytes":N/')" \
	'{"schema":"blkcast.redact/1","segments":3,"requests":4500,"bytes":N,"linkable":true}' "one host alone"
chmod 640 "$T/key"
exits 2 "a key that others may read: exit 2" "$b" redact --key "$T/key" "$T/store" "$T/red7"
is "$(head -n 1 "$T/err")" "blkcast redact: key: $T/key: others may use it: expected mode 0600 or 0400" "and says so"
exits 2 "one operand: exit 2" "$b" redact "$T/store"
exits 2 "no such store: exit 2" "$b" redact "$T/nothing" "$T/red7"
exits 2 "a damaged file: exit 2" "$b" redact "$T/cut.blkseg" "$T/red7"
is "$(ls "$T" | grep -c 'red7\|tmp')" 0 "a failure leaves no file"
done_testing
