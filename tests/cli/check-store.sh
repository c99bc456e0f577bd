#!/usr/bin/env bash
# `blkcast check`: what it finds in a store and in a spool, and that repair leaves them sound.
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
"$b" ls --quiet --store "$T/store" >/dev/null
is "$("$b" check --store "$T/store" --json | jq -c '[.schema, .kind, .segments, .requests, (.findings | length)]')" \
	'["blkcast.check/1","store",7,10500,0]' "a sound store has no findings"
"$b" check --store "$T/store" >/dev/null
is $? 0 "and exit status 0"

web=$T/store/segments/web1/b1/00000000000000000005
mv "$web/0000000001.seg" "$T/kept"
head -c 100 "$T/kept" >"$web/0000000001.seg"
mv "$web/0000000002.seg" "$web/0000000077.seg"
echo x >"$web/.0000000009.999999999.0.tmp"
echo x >"$web/notes.txt"
"$b" check --store "$T/store" --json >"$T/found"
is $? 1 "problems are exit status 1"
is "$(jq -r '.findings[] | .problem + " " + (.path | split("/") | last) + " " + (.repaired | tostring)' "$T/found")" \
"leftover .0000000009.999999999.0.tmp false
damaged 0000000001.seg false
misplaced 0000000077.seg false
foreign notes.txt false
catalog catalog.sqlite false" "each is named with its problem, and nothing is touched"
holds "the damaged one is there still" [ -e "$web/0000000001.seg" ]
"$b" check --store "$T/store" --repair --json >"$T/found"
is "$(jq -r '[.findings[].repaired] | map(tostring) | join(" ")' "$T/found")" "true true true false true" \
	"repair does all but what it cannot know"
rm "$web/notes.txt"
is "$(jq .set_aside "$T/found")" 0 "what it sets aside itself was not set aside before"
is "$("$b" check --store "$T/store" --json | jq -c '[.segments, .set_aside, (.findings | length)]')" '[6,1,0]' \
	"then the store is sound, short of the damaged one, which was set aside before"
is "$(find "$T/store/damaged" -type f | wc -l)" 1 "which is kept apart"
cp "$T/kept" "$web/0000000001.seg"
printf 'no database at all, but long enough to be taken for one' >"$T/store/catalog.sqlite"
rm -f "$T"/store/catalog.sqlite-*
is "$("$b" check --store "$T/store" --json | jq -r '.findings[].problem')" catalog "a damaged catalog is found"
"$b" check --store "$T/store" --repair >/dev/null
is $? 0 "and made anew"
is "$("$b" ls --store "$T/store" --json | jq '[.hosts[].segments] | add')" 7 "with all that is there"
mkfifo "$web/0000000055.seg" "$web/0000000066.sum" "$T/store/journal-0000000001.log"
timeout 20 "$b" check --store "$T/store" --json >"$T/found"
is "$? $(jq -r '.findings[] | .problem + " " + (.path | split("/") | last) + " " + .why' "$T/found")" \
"1 leftover journal-0000000001.log what a serve that was killed took and may not have put in place
unreadable 0000000055.seg type: expected a regular file
unreadable 0000000066.sum type: expected a regular file" "pipes in the place of files do not hold it"
rm "$web/0000000055.seg" "$web/0000000066.sum" "$T/store/journal-0000000001.log"

head -c 100 "$T/kept" >"$T/store/segments/late.seg"
"$b" check --store "$T/store" --repair --json >"$T/found"
is "$(jq -c '[.set_aside, (.findings | length)]' "$T/found") $("$b" check --store "$T/store" --json | jq .set_aside)" \
	"[1,1] 2" "nor is what joins others there"
ln -s store "$T/link"
is "$("$b" check --store "$T/link" --json | jq -c '[.files, .segments, (.findings | length)]')" '[7,7,0]' \
	"a store is found through a symbolic link"
# A file that cannot be read may be whole: it is no damaged one. Root may read all, so nobody looks here.
as=""
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid nobody --clear-groups"; fi
cp -r "$T/store" "$T/closed"
closed=$T/closed/segments/web1/b1/00000000000000000005
ln -sf "$T/kept" "$closed/0000000001.seg"
chmod 0 "$closed/0000000002.seg"
serve_owns "$T/closed"
$as "$b" check --store "$T/closed" --repair >"$T/text"
is $? 1 "what cannot be read is a problem that is left"
is "$(sed -n 's|.*/\([0-9]*\.seg\): |\1 |p; s/^ *not done/not done/p; s/.*; //p' "$T/text")" \
"0000000001.seg unreadable: is a symbolic link, which is not followed
not done: left where it is: it may be whole
0000000002.seg unreadable: Permission denied
not done: left where it is: it may be whole
2 problems, 2 left" "it is left where it is, and named with the reason"
is "$($as "$b" ls --quiet --store "$T/closed" --json 2>/dev/null | jq '[.hosts[].segments] | add')" 7 "the catalog knows it as before"
rm -f "$T"/closed/catalog.sqlite*
$as "$b" ls --store "$T/closed" >"$T/text" 2>/dev/null
is $? 1 "a catalog made meanwhile lacks it"
is "$(grep -c '^unreadable: segments/web1/.*/0000000002.seg: .*Permission denied$' "$T/text")" 1 "ls says that it cannot be read"
chmod 600 "$closed/0000000002.seg"
is "$($as "$b" ls --quiet --store "$T/closed" --json 2>/dev/null | jq -c '[([.hosts[].segments] | add), (.damaged | length)]')" '[6,1]' \
	"and takes it once it can be read"

# In a folder that cannot be written a catalog is read all the same, and nothing is called done.
still="$T/still 100%?#"
cp -r "$T/store" "$still"
rm -f "$still"/catalog.sqlite*
serve_owns "$still"
$as "$b" ls --quiet --store "$still" >/dev/null
chmod 555 "$still"
is "$($as "$b" check --store "$still" --repair --json | jq -c '[.segments, (.findings | length)]')" '[7,0]' \
	"a store that cannot be written is sound"
printf 'no database at all, but long enough to be taken for one' >"$still/catalog.sqlite"
$as "$b" check --store "$still" --repair >"$T/text"
is "$? $(grep -c 'not done: made anew' "$T/text")" "1 1" "a damaged catalog is not mended there, and that is said"
chmod 755 "$still"
rm "$still/catalog.sqlite"
chmod 555 "$still"
$as "$b" check --store "$still" --repair >"$T/text"
is "$? $(grep -c 'not done: made anew' "$T/text")" "1 1" "nor is one made that is not there"
chmod 755 "$still"

mkdir "$T/spool"
for i in 0 1 2 3; do cp "$web/000000000$i.seg" "$T/spool/00000000000000000005-000000000$i.seg"; done
printf 'blkcast-form 1 5 0 %-44s\n' thin >"$T/spool/form"
is "$("$b" check --spool "$T/spool" --json | jq -c '[.kind, .segments, (.findings | length)]')" '["spool",4,0]' \
	"a sound spool has no findings"
ln -s spool "$T/way"
is "$("$b" check --spool "$T/way" --json | jq -c '[.segments, (.findings | length)]')" '[4,0]' \
	"a spool is found through a symbolic link too"
printf '\xff' | dd of="$T/spool/00000000000000000005-0000000002.seg" bs=1 seek=40 conv=notrunc 2>/dev/null
echo x >"$T/spool/00000000000000000005-0000000009.seg.tmp"
head -c 5000 /dev/urandom >"$T/spool/ledger"
"$b" check --spool "$T/spool" --repair >"$T/text"
is $? 1 "what is the agent's to do is left to it"
is "$(grep -c 'done:' "$T/text") $(grep -c 'not done:' "$T/text")" "3 1" "the rest is done"
like "$(cat "$T/text")" 'checksum' "and the reason is named"
holds "the ledger is set aside" [ -e "$T/spool/ledger.bad" ]

rm "$T"/spool/*.bad "$T/spool/00000000000000000005-0000000002.seg"
ln -s "$T/kept" "$T/spool/00000000000000000005-0000000002.seg"
ln -s "$T/kept" "$T/spool/ledger"
is "$("$b" check --spool "$T/spool" --repair --json | jq -c '[.findings[] | [.problem, .repaired]]')" \
	'[["unreadable",false],["unreadable",false]]' "a ledger or segment of a spool that cannot be read is left too"

exec 9>"$T/spool/lock"
flock 9
"$b" check --spool "$T/spool" --repair 2>"$T/err"
is $? 1 "a spool in use is not repaired"
like "$(cat "$T/err")" 'an agent uses this spool' "and it says why"
"$b" check --store "$T/nowhere" 2>/dev/null
is $? 2 "no store is bad input"
"$b" check 2>/dev/null
is $? 2 "and so is no folder at all"
done_testing
