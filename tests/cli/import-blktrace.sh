#!/usr/bin/env bash
# Binary block traces and the text of blkparse: the same requests, and what awk makes of the text.
. tests/support/tap.sh
b=$BUILD/blkcast

# dump STORE: what blkparse's text can hold of the requests
dump() { "$b" dump --store "$1" --format csv | sed 1d | cut -d, -f7-11; }
# same STORE STORE NAME: the requests of the one are those of the other, and there are some
same() {
	dump "$T/$1" >"$T/a"
	dump "$T/$2" >"$T/b"
	holds "$3" cmp "$T/a" "$T/b"
	is "$(wc -l <"$T/a")" 963 "$3: all 963"
}

# A request's life, one requeue, one error, a command with blanks and brackets, a stacked device.
cat >"$T/life.txt" <<'END'
253,0    0        1     0.000000100   100  Q   R 1000 + 16 [a b] c]
  8,0    0        2     0.000000200   100  A   R 3048 + 16 <- (253,0) 1000
  8,0    0        3     0.000000300   100  Q   R 3048 + 16 [a b] c]
  8,0    0        4     0.000000400   100  G   R 3048 + 16 [a b] c]
  8,0    0        5     0.000000500   100  I   R 3048 + 16 [a b] c]
  8,0    0        6     0.000001500   100  D   R 3048 + 16 [a b] c]
  8,0    0        7     0.000002000   101  Q  WS 9000 + 8 [x + 8 [0]]
  8,0    0        8     0.000002100   101  G  WS 9000 + 8 [x + 8 [0]]
  8,0    0        9     0.000002200     0  R   R 3048 + 16 [5]
  8,0    1        1     0.000002600   101  D  WS 9000 + 8 [x + 8 [0]]
  8,0    0       10     0.000003000     0  D   R 3048 + 16 [swapper]
  8,0    0       11     0.000005000     0  C   R 3048 + 16 [0]
253,0    0       12     0.000005100     0  C   R 1000 + 16 [0]
  8,0    1        2     0.000006000     0  C  WS 9000 + 8 [-5]
  8,0    1        3     0.000007000     0  m   N cfq1024 idle
CPU0 (life):
 Reads Queued:           2,       16KiB	 Writes Queued:           1,        4KiB
END
exits 0 "blkparse text: exit 0" "$b" import --store "$T/life" "$T/life.txt"
like "$(cat "$T/err")" "counted at layer device; bios of stacked devices left out at 253:0: 1" "stacked devices count once, and it is said where"
is "$("$b" dump --store "$T/life" --format csv | sed 1d)" "$(printf '%s\n' \
	'0.000000400,life,8:0,8:0,import,read,3048,8192,0.000001100,0.000003500,100,100,0,0,1,0,0x2000,0.000004600' \
	'0.000002100,life,8:0,8:0,import,write,9000,4096,0.000000500,0.000003400,101,101,0,0,0,5,0x2001,0.000003900')" \
	"arrival at G, the first dispatch, the completion, requeues, errors, and the time from the first to the last"
exits 0 "at layer queue: exit 0" "$b" import --layer queue --store "$T/lifeq" "$T/life.txt"
is "$("$b" dump --store "$T/lifeq" --format csv | sed 1d | cut -d, -f1,3,6-8)" "$(printf '%s\n' \
	'0.000000100,253:0,read,1000,8192' '0.000002000,8:0,write,9000,4096')" "bios count at the top"
sed '3s/3048/x/; 8s/0.000002100/9.9e40/' "$T/life.txt" >"$T/bad.txt"
exits 2 "bad lines: exit 2" "$b" import --store "$T/bad" "$T/bad.txt"
like "$(cat "$T/err")" "2 of 1[45] records .*bad.txt:3: expected a sector" "the first is named"

data=$(dirname "$0")/../../../shared/data
file=$data/nvme-reads.blktrace.0
if [ ! -r "$file" ]; then
	note "skipped: no ../shared/data/nvme-reads.blktrace.0"
	done_testing
fi
cp "$file" "$T/nvme.blktrace.1"
: >"$T/nvme.blktrace.0"
exits 0 "two files by CPU, one empty: exit 0" "$b" import --json --store "$T/bin" "$T/nvme.blktrace.0" "$T/nvme.blktrace.1"
like "$(cat "$T/out")" '"requests":963,"records":6743,"skipped":0' "963 reads, 7 events each, and two notes"
like "$("$b" characterize --store "$T/bin" --json | tr -d ' \n')" '"requests":\{"read":963,"write":0,' "963 in the profile"
# Big-endian, a word at a time: records of 48 bytes and what follows them
if command -v python3 >/dev/null; then
	python3 - "$file" "$T/big.blktrace.1" <<'END'
import struct, sys
data, out, at = open(sys.argv[1], 'rb').read(), b'', 0
form = 'IIQQIIIIIHH'
while at < len(data):
    f = struct.unpack_from('<' + form, data, at)
    out += struct.pack('>' + form, *f) + data[at + 48:at + 48 + f[-1]]
    at += 48 + f[-1]
open(sys.argv[2], 'wb').write(out)
END
	exits 0 "the other byte order: exit 0" "$b" import --store "$T/big" "$T/big.blktrace.1"
	same big bin "the other byte order: the same requests"
	# Version 8 of both orders: 64 bytes, an action of 64 bits, and room
	python3 - "$file" "$T" <<'END'
import struct, sys
data, at, files = open(sys.argv[1], 'rb').read(), 0, {'<': b'', '>': b''}
while at < len(data):
    magic, seq, time, sector, size, action, pid, dev, cpu, error, more = struct.unpack_from('<IIQQIIIIIHH', data, at)
    for order in files:
        files[order] += struct.pack(order + 'IIQQIIQIIHH12x', magic & ~0xff | 8, seq, time, sector, size, pid,
                                    action, dev, cpu, error, more) + data[at + 48:at + 48 + more]
    at += 48 + more
for order, name in (('<', 'little8'), ('>', 'big8')):
    open(f'{sys.argv[2]}/{name}.blktrace.1', 'wb').write(files[order])
END
	for order in little8 big8; do
		exits 0 "version 8, $order: exit 0" "$b" import --store "$T/$order" "$T/$order.blktrace.1"
		same $order bin "version 8, $order: the same requests as version 7"
	done
	head -c 100000 "$T/big.blktrace.1" >"$T/mix.blktrace.1"
	tail -c +96001 "$file" >>"$T/mix.blktrace.1"
	exits 2 "mixed byte order: exit 2" "$b" import --store "$T/mix" "$T/mix.blktrace.1"
	like "$(cat "$T/err")" "of this file's byte order" "mixed byte order is named"
fi
head -c 346000 "$file" >"$T/cut.blktrace.1"
exits 0 "a cut end: exit 0" "$b" import --json --store "$T/cut" "$T/cut.blktrace.1"
like "$(cat "$T/out")" '"skipped":1,' "and counted"

if ! command -v blkparse >/dev/null; then
	note "skipped: no blkparse"
	done_testing
fi
(cd "$T" && blkparse -i nvme -o nvme.txt && blkparse -i nvme -d nvme.bin -O) >/dev/null 2>&1
exits 0 "blkparse's text: exit 0" "$b" import --store "$T/text" "$T/nvme.txt"
exits 0 "blkparse's merged dump: exit 0" "$b" import --store "$T/merged" "$T/nvme.bin"
same text bin "text and binary: the same requests"
same merged bin "the merged dump: the same requests"
awk '$6 == "D" { d[$8] = $4 } $6 == "C" && ($8 in d) { printf "%d %.9f\n", $8, $4 - d[$8]; delete d[$8] }' \
	"$T/nvme.txt" | sort >"$T/want"
is "$(wc -l <"$T/want")" 963 "awk finds 963 pairs in the text"
dump "$T/bin" | awk -F, '{ printf "%d %.9f\n", $1, $4 }' | sort >"$T/got"
holds "dispatch to completion of each as awk has it" cmp "$T/got" "$T/want"
done_testing
