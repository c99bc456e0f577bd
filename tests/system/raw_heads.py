#!/usr/bin/env python3
"""raw_heads.py PORT: requests whose heads say in two ways where they end, or not as RFC 9112 says.

Behind each head comes GET /healthz. Each must be refused with 400 alone, the connection closed, and what comes
behind the head not be answered. A line is printed for each that is not. Both listeners of serve must hold it."""
import re
import socket
import sys

PORT = int(sys.argv[1])
NEXT = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def answers(data):
    """The statuses of all answers until the server closes the connection."""
    s = socket.create_connection(("127.0.0.1", PORT), timeout=30)
    s.sendall(data)
    out = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return re.findall(rb"^HTTP/1\.1 (\d+)", out, re.M)
            out += more
    except ConnectionResetError:
        return re.findall(rb"^HTTP/1\.1 (\d+)", out, re.M)
    except socket.timeout:
        return [b"open"]


HEADS = {
    "length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 0\r\n\r\n",
    "one length twice": b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": b"Content-Length: 0, 0\r\n\r\n",
    "a signed length": b"Content-Length: +0\r\n\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "a space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a tab before the colon": b"Content-Length\t: 0\r\n\r\n",
    "a length that goes on in the next line": b"Content-Length:\r\n 0\r\n\r\n",
    "chunks that go on in the next line": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "another field that goes on": b"X: a\r\n Transfer-Encoding: chunked\r\n\r\n",
    "an encoding that is not chunked": b"Transfer-Encoding: identity\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunks behind a vertical tab": b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "a carriage return in a value": b"X: a\rTransfer-Encoding: chunked\r\n\r\n",
    "two hosts": b"Host: y\r\n\r\n",
    "two hashes": b"Blkcast-Hash: 0\r\nBlkcast-Hash: 1\r\n\r\n",
    "two credentials": b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
    "no colon": b"Transfer-Encoding chunked\r\n\r\n",
}
for name, head in HEADS.items():
    for method in b"GET /healthz", b"PUT /v1/segments/a/b/1/2":
        codes = answers(method + b" HTTP/1.1\r\nHost: x\r\n" + head + NEXT)
        if set(codes) != {b"400"}:
            print(f"{name}: {codes}")
codes = answers(b"GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + NEXT)
if set(codes) != {b"400"}:
    print(f"chunks in HTTP/1.0: {codes}")
