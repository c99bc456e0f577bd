#!/usr/bin/env bash
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
mkdir -p "$T/store/segments/web1/b2/00000000000000000009"
echo "no segment" >"$T/store/segments/web1/b2/00000000000000000009/0000000000.seg"

# The size of a segment depends on the version of zstd.
got=$("$b" ls --store "$T/store" 2>"$T/err" | sed 's/([0-9.]* KiB)/(... KiB)/')
is "$got" "$(cat <<'END'
db1  2026-01-01T00:00:00+00:00 to 2026-01-01T00:00:04+00:00 (4 s), 75.0 % watched
  4500 requests in 3 segments (... KiB), 1 boot, 1 trace
  segments missing: 1
  not watched for 1 s from 2026-01-01T00:00:02+00:00
  device         size  reads  writes  other      read   written
  sda     8:0   1 TiB   1123    1068      0  4.39 MiB  4.17 MiB
  sdb     8:16  2 TiB   1179    1130      0  4.61 MiB  4.41 MiB
web1  2026-01-01T00:00:00+00:00 to 2026-01-01T00:00:04+00:00 (4 s), 100.0 % watched
  6000 requests in 4 segments (... KiB), 1 boot, 1 trace
  device         size  reads  writes  other      read   written
  sda     8:0   1 TiB   1501    1440      0  5.86 MiB  5.62 MiB
  sdb     8:16  2 TiB   1527    1532      0  5.96 MiB  5.98 MiB
END
)
damaged: segments/web1/b2/00000000000000000009/0000000000.seg: $("$b" ls --store "$T/store" --json |
	jq -r '.damaged[0].why')" "the listing of two hosts, a gap and a damaged file"
like "$(cat "$T/err")" "segments were checked when the store took them; blkcast check --store $T/store reads them again" \
	"and what was not checked"
is "$(grep -c 'check --store .* --repair' "$T/err") $(wc -l <"$T/err")" "1 3" "standard error says what mends it"
is "$(jq -c '[.schema, [.hosts[] | [.host, .requests, .missing_segments, .coverage_ratio,
	(.gaps | length), .lost]]]' <("$b" ls --store "$T/store" --json))" \
	'["blkcast.store/1",[["db1",4500,1,0.75,1,0],["web1",6000,0,1,0,0]]]' "the same as JSON"
mkdir "$T/one"
"$b" import --quiet --host h --store "$T/one/store" --map time=1:us,op=2,offset=3,size=4 - <<<"0,R,0,4096" >/dev/null
like "$("$b" ls --store "$T/one/store")" '^  1 request in 1 segment \(' "one is one"
exits 2 "a host that is not there: exit 2" "$b" ls --store "$T/store" --host db1,db2
is "$("$b" ls --store "$T/store" --host db1 | grep -c '^web1')" 0 "--host leaves the others out"
# A reading command makes nothing that the store's owner cannot write, and follows no link.
"$BUILD/tests/system/sample_store" "$T/linked"
ln -s "$T/victim" "$T/linked/catalog.sqlite"
exits 0 "a store whose catalog is a symbolic link" "$BUILD/blkcast" ls --store "$T/linked"
holds "makes no file where the link points" [ ! -e "$T/victim" ]
if [ "$(id -u)" = 0 ]; then
	"$BUILD/tests/system/sample_store" "$T/theirs"
	chown -R nobody "$T/theirs"
	exits 0 "root looks into the store of another user" "$BUILD/blkcast" ls --store "$T/theirs"
	is "$(find "$T/theirs" ! -user nobody)" "" "and leaves nothing there that is its own"
fi

is "$("$b" ls --store "$T/store" --json | jq -c .set_aside)" "[]" "nothing is set aside"
echo segments/web1/b1/0/0000000000.seg >"$T/store/retention.aside"
is "$("$b" ls --store "$T/store" --json | jq -c .set_aside)" '["segments/web1/b1/0/0000000000.seg"]' \
	"what retention has set aside is listed"
rm -rf "$T/private"
(umask 0 && "$BUILD/tests/system/sample_store" "$T/private" && "$b" ls --store "$T/private" >"$T/out")
is "$(stat -c %a "$T/private"/catalog.sqlite)" 600 "a catalog is its owner's alone, whatever the umask"
done_testing
