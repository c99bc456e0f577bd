#!/usr/bin/env python3
# tests/golden/read_segment.py FILE: prints what tests/system/segment_golden.c's dump prints.
# A second reader of segments, written from formats/segment/segment.md alone, with the standard library and
# the zstd command. It is made to be read and to check the text, not to be fast; it leaves the checksum
# to the first reader.
import json
import struct
import subprocess
import sys


def zstd(frame):
    return subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "short"
        self.at += n
        return self.data[self.at - n : self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self, n, order="little"):
        return int.from_bytes(self.take(n), order)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def msgpack(c):
    kind = c.byte()
    if kind < 0x80:
        return kind
    if kind < 0x90:
        return {msgpack(c): msgpack(c) for _ in range(kind & 15)}
    if kind < 0xA0:
        return [msgpack(c) for _ in range(kind & 15)]
    if kind < 0xC0:
        return c.take(kind & 31).decode(errors="replace")
    if kind == 0xC0:
        return None
    if 0xC4 <= kind <= 0xC6:
        return c.take(c.number(1 << kind - 0xC4, "big"))
    if 0xCC <= kind <= 0xCF:
        return c.number(1 << kind - 0xCC, "big")
    if 0xD9 <= kind <= 0xDB:
        return c.take(c.number(1 << kind - 0xD9, "big")).decode(errors="replace")
    if kind in (0xDC, 0xDD):
        return [msgpack(c) for _ in range(c.number(2 << kind - 0xDC, "big"))]
    if kind in (0xDE, 0xDF):
        return {msgpack(c): msgpack(c) for _ in range(c.number(2 << kind - 0xDE, "big"))}
    raise ValueError(f"msgpack type {kind:#x}")


def plane(c, n):
    if not n:
        return []
    head = c.byte()
    method, packing = head & 3, head >> 2
    if method == 0:
        return [c.byte()] * n
    width = (8, 1, 2, 4)[packing]
    nr_bytes = (n * width + 7) // 8
    data = c.take(nr_bytes) if method == 1 else zstd(c.take(c.varint()))
    assert len(data) == nr_bytes
    per_byte = 8 // width
    return [data[i // per_byte] >> width * (i % per_byte) & (1 << width) - 1 for i in range(n)]


def unzigzag(value):
    return -(value + 1) // 2 if value & 1 else value // 2


def numbers(c, n):
    if not n:
        return []
    flags = c.byte()
    split, signed, difference = flags & 1, flags & 2, flags & 4
    previous = c.varint() if difference else 0
    if split:
        values = split_numbers(c, n, signed)
    else:
        table = [c.varint() for _ in range(c.varint())]
        if signed:
            table = [unzigzag(v) for v in table]
        values = [table[i] for i in plane(c, n)]
    if difference:
        for i in range(n):
            values[i] = previous = (previous + values[i]) % 2**64
    return values


def split_numbers(c, n, signed):
    unit, base, m = c.varint(), c.varint(), c.byte()
    parts, total = [], 0
    for k in plane(c, n):
        sign, k = (k & 1, k >> 1) if signed else (0, k)
        e = max((k >> m) - 1, 0)
        parts.append((sign, (k - (e << m)) << e, e))
        total += e
    bits = int.from_bytes(c.take((total + 7) // 8), "little")
    values = []
    at = 0
    for sign, least, e in parts:
        value = (least + (bits >> at & (1 << e) - 1) + base) * unit
        values.append(-value if sign else value)
        at += e
    return values


def table(c, n, fields):
    if not n:
        return [], []
    entries = [[c.varint() for _ in range(fields)] for _ in range(c.varint())]
    index = plane(c, n)
    if len(entries) > 256:
        index = [low | high << 8 for low, high in zip(index, plane(c, n))]
    return entries, index


def sectors(kinds, sizes, stream, low, near, place, issuer):
    """The sector and the index of the issuer of every request."""
    contexts = {}
    low, near, place = iter(low), iter(near), iter(place)
    for (device, operation, *_), size, s, i in zip(kinds, sizes, stream, issuer):
        context = 5 * (device * 0x9E3779B1 % 2**32 >> 26) + operation
        streams = contexts.setdefault(context, [(0, 0)] * 32)
        end, p = streams[s % 32] if s < 64 else (0, 0)
        if s < 32:
            sector = end
        elif s < 64:
            sector = (end + 8 * next(near) + next(low)) % 2**64
        else:
            sector = (8 * next(place) + next(low)) % 2**64
        i = p if i == 0 else 0 if i == p else i
        del streams[s % 32 if s < 64 else 31]
        streams.insert(0, ((sector + (size + 511) // 512) % 2**64, i))
        yield sector, i


def segment(data):
    magic, version, length, _, header_bytes = struct.unpack_from("<8sIIQI", data)
    assert magic == b"\x89blkseg\n" and version in (1, 2, 4, 8) and length == len(data)
    header = msgpack(Cursor(data[28 : 28 + header_bytes]))
    assert all(len(d) == (4 if version == 8 else 3) for d in header["devices"])
    n = header["requests"]
    at = 28 + header_bytes
    column = {}
    for name, nr_bytes in header["columns"]:
        column[name] = Cursor(data[at : at + nr_bytes])
        at += nr_bytes
    assert at == length
    entries, index = table(column["kind"], n, 7)
    kinds = [entries[i] for i in index]
    issuers, issuer = table(column["issuer"], n, 3)
    sizes = numbers(column["bytes"], n)
    stream = plane(column["stream"], n)
    low = plane(column["low"], sum(s >= 32 for s in stream))
    near = numbers(column["near"], sum(32 <= s < 64 for s in stream))
    place = numbers(column["place"], sum(s == 64 for s in stream))
    places = sectors(kinds, sizes, stream, low, near, place, issuer)
    arrival, queue, device, depth = (numbers(column[k], n) for k in ("arrival", "queue", "device", "depth"))
    assert all(c.at == len(c.data) for c in column.values()), "bytes left over"

    losses = [[cause, count or 0, dev] for cause, count, _, _, dev in header["losses"]]
    profiles = ", ".join(zstd(p).decode() for p in header["profiles"])
    print(
        f'{{"sequence": {header["sequence"]}, "captured": {header["captured"]}, '
        f'"losses": {json.dumps(losses)}, "devices": {json.dumps(header["devices"])}, '
        f'"profiles": [{profiles}]}}'
    )
    for k, (sector, i), size, a, q, d, under_way in zip(kinds, places, sizes, arrival, queue, device, depth):
        dev, operation, flags, error, requeues, source, layer = k
        tid, pid, cgroup = issuers[i]
        print([a, a + q, a + q + d, sector, size, dev, tid, pid, cgroup, flags, under_way, error,
               requeues, operation, source, layer])


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    while data:
        length = struct.unpack_from("<I", data, 12)[0]
        segment(data[:length])
        data = data[length:]


main()
