#!/usr/bin/env python3
"""http_faults.py UPSTREAM-PORT COUNT-FILE: a proxy that does to every other PUT what networks,
proxies and dying servers do. Prints its port. Each fault has a number; COUNT-FILE gets one line
with the name of each fault as it is done. After the list every request passes."""
import gzip
import socket
import socketserver
import struct
import sys
import threading
import time

UPSTREAM = int(sys.argv[1])
LOG = open(sys.argv[2], "w", buffering=1)
LOCK = threading.Lock()
LAST_ACK = [b""]


class Cut(Exception):
    pass


def reply(status, head=b"", body=b"", length=None):
    length = len(body) if length is None else length
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, length, body)


def http_date(after_s):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + after_s)).encode()


# What reaches the server of a request: a function of (head, body) to bytes; then the line is cut.
REQUEST_CUTS = {
    "nothing": lambda h, b: b"",
    "one byte": lambda h, b: (h + b)[:1],
    "half of the method's line": lambda h, b: h[:20],
    "half of the head": lambda h, b: h[:len(h) // 2],
    "all but the head's end": lambda h, b: h[:-1],
    "the head": lambda h, b: h,
    "one byte of the body": lambda h, b: h + b[:1],
    "half of the body": lambda h, b: h + b[:len(b) // 2],
    "all but a byte": lambda h, b: h + b[:-1],
    "all, and no ear for the answer": lambda h, b: h + b,
}
# What reaches the sender of an answer, which the server gave in full.
ANSWER_CUTS = {
    "nothing": lambda a: b"",
    "one byte": lambda a: a[:1],
    "the protocol's name": lambda a: a[:8],
    "the status, cut": lambda a: a[:11],
    "half of the head": lambda a: a[:a.index(b"\r\n\r\n") // 2],
    "all but the head's end": lambda a: a[:a.index(b"\r\n\r\n") + 3],
    "the head": lambda a: a[:a.index(b"\r\n\r\n") + 4],
    "half of the body": lambda a: a[:(a.index(b"\r\n\r\n") + 4 + len(a)) // 2],
    "all but a byte": lambda a: a[:-1],
}
# Other answers than the server's, which has not seen the request.
INSTEAD = {
    "a portal's 200": reply(b"200 OK", b"Content-Type: text/html\r\n", b"<html>log in</html>"),
    "200 and nothing": reply(b"200 OK"),
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "an array": reply(b"200 OK", b"", b"[]"),
    "deep nesting": reply(b"200 OK", b"", b"[" * 60000),
    "301": reply(b"301 Moved Permanently", b"Location: /v1/elsewhere\r\n"),
    "302": reply(b"302 Found", b"Location: http://127.0.0.1:9/\r\n"),
    "307": reply(b"307 Temporary Redirect", b"Location: /v1/elsewhere\r\n"),
    "308": reply(b"308 Permanent Redirect", b"Location: /v1/elsewhere\r\n"),
    "404": reply(b"404 Not Found"),
    "407": reply(b"407 Proxy Authentication Required"),
    "408": reply(b"408 Request Timeout"),
    "417": reply(b"417 Expectation Failed"),
    "421": reply(b"421 Misdirected Request"),
    "425": reply(b"425 Too Early"),
    "429 in a second": reply(b"429 Too Many Requests", b"Retry-After: 1\r\n"),
    "429 by a date": lambda: reply(b"429 Too Many Requests",
                                   b"Retry-After: " + http_date(1) + b"\r\n"),
    "429 by a date gone by": lambda: reply(b"429 Too Many Requests",
                                           b"Retry-After: " + http_date(-100) + b"\r\n"),
    "429 without a word": reply(b"429 Too Many Requests"),
    "503 with nonsense": reply(b"503 Service Unavailable", b"Retry-After: soon\r\n"),
    "500": reply(b"500 Internal Server Error"),
    "502": reply(b"502 Bad Gateway"),
    "504": reply(b"504 Gateway Timeout"),
    "999": reply(b"999 What"),
    "HTTP/0.9": b"hello\n",
    "HTTP/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
    "noise": bytes(range(256)) * 4,
    "a head of 200 KB": reply(b"200 OK", b"X: " + b"y" * 200000 + b"\r\n"),
    "ten thousand heads": reply(b"200 OK", b"X: y\r\n" * 10000),
    "a thousand 100s": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000 + reply(b"500 No"),
    "an endless body": b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300000,
    "a length that lies": reply(b"200 OK", b"", b"{}", 1 << 40),
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "an endless trailer": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 100000,
    "an endless chunk's head": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + b"x" * 300000,
    "a bomb": reply(b"200 OK", b"Content-Encoding: gzip\r\n", gzip.compress(b" " * (16 << 20))),
    "questions of centuries": reply(b"200 OK", b"Blkcast-Ask: -99999999999999999999 9223372036854775807\r\n", b"{}"),
    "a bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
}


def split_answer(answer):
    at = answer.index(b"\r\n\r\n") + 4
    return answer[:at], answer[at:]


def rechunk(answer):
    head, body = split_answer(answer)
    lines = [x for x in head[:-4].split(b"\r\n") if not x.lower().startswith(b"content-length")]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7])
                      for i in range(0, len(body), 7))
    return b"\r\n".join(lines) + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def flip(answer, at):
    return answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1:]


# The server's answer, changed.
CHANGED = {
    "another hash": lambda a: a.replace(b'"hash":"', b'"hash":"0123', 1)[:len(a)],
    "a bit of the hash": lambda a: flip(a, a.index(b'"hash":"') + 10),
    "a bit of the sequence": lambda a: flip(a, a.index(b'"sequence":') + 11),
    "a bit of the host": lambda a: flip(a, a.index(b'"host":"') + 8),
    "a bit of the status": lambda a: flip(a, 10),
    "chunks of seven bytes": rechunk,
    "the last segment's": lambda a: LAST_ACK[0] or reply(b"500 No"),
    "twice": lambda a: a + a,
    "after three 100s": lambda a: b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + a,
    "after a 103": lambda a: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + a,
    "202 for the true one": lambda a: a.replace(b" 201 ", b" 202 ", 1).replace(b" 200 ", b" 202 ", 1),
    "206 for the true one": lambda a: a.replace(b" 201 ", b" 206 ", 1).replace(b" 200 ", b" 206 ", 1),
    "cookies and another place": lambda a: a.replace(b"\r\n", b"\r\nSet-Cookie: a=b; Domain=x\r\nAlt-Svc: "
                                                     b"h2=\":9\"\r\nLocation: http://127.0.0.1:9/\r\n", 1),
    "and then garbage": lambda a: a + b"garbage" * 100,
}
OTHER = ["late", "byte by byte", "half-closed", "reset before the answer", "reset after the head",
         "request sent twice"]

FAULTS = ([("request cut after " + k, "request", f) for k, f in REQUEST_CUTS.items()] +
          [("answer cut after " + k, "answer", f) for k, f in ANSWER_CUTS.items()] +
          [("instead " + k, "instead", f) for k, f in INSTEAD.items()] +
          [("answer " + k, "changed", f) for k, f in CHANGED.items()] +
          [(k, "other", None) for k in OTHER])
NEXT = [0]


def next_fault():
    with LOCK:
        n = NEXT[0]
        NEXT[0] += 1
        if n % 2 or n // 2 >= len(FAULTS):
            return None
        LOG.write(FAULTS[n // 2][0] + "\n")
        return FAULTS[n // 2]


def read_until(f, end):
    data = b""
    while end not in data:
        line = f.readline()
        if not line:
            raise Cut
        data += line
        if data == end or data.endswith(end):
            break
    return data


def length_of(head):
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def to_server(data, wants_answer=True):
    """Sends it on a connection of its own; the whole answer."""
    with socket.create_connection(("127.0.0.1", UPSTREAM), timeout=20) as up:
        up.sendall(data)
        if not wants_answer:
            return b""
        f = up.makefile("rb")
        head = read_until(f, b"\r\n\r\n")
        while head.split()[1] == b"100":
            head = read_until(f, b"\r\n\r\n")
        return head + f.read(length_of(head))


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Cut


class Proxy(socketserver.StreamRequestHandler):
    def other(self, name, head, body):
        sock = self.connection
        if name == "request sent twice":
            to_server(head + body)
        answer = to_server(head + body)
        if name == "late":
            time.sleep(2)
        elif name == "byte by byte":
            for b in answer:
                sock.sendall(bytes([b]))
                time.sleep(0.001)
            return
        elif name == "half-closed":
            sock.shutdown(socket.SHUT_WR)
            time.sleep(0.2)
            raise Cut
        elif name == "reset before the answer":
            reset(sock)
        elif name == "reset after the head":
            sock.sendall(split_answer(answer)[0])
            reset(sock)
        sock.sendall(answer)

    def one(self):
        head = read_until(self.rfile, b"\r\n\r\n")
        sock = self.connection
        is_put = head.startswith(b"PUT")
        fault = next_fault() if is_put else None
        if b"100-continue" in head:
            head = head.replace(b"Expect: 100-continue\r\n", b"")
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(length_of(head))
        if fault is None:
            answer = to_server(head + body)
            if is_put and answer[9:12] in (b"200", b"201"):
                LAST_ACK[0] = answer
            sock.sendall(answer)
            return
        name, kind, do = fault
        if kind == "request":
            to_server(do(head, body), False)
            raise Cut
        if kind == "answer":
            sock.sendall(do(to_server(head + body)))
            raise Cut
        if kind == "instead":
            sock.sendall(do() if callable(do) else do)
            raise Cut
        if kind == "changed":
            sock.sendall(do(to_server(head + body)))
            return
        self.other(name, head, body)

    def handle(self):
        self.connection.settimeout(30)
        try:
            while True:
                self.one()
        except (Cut, OSError, ValueError):
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", 0), Proxy) as server:
    print(server.server_address[1], len(FAULTS), flush=True)
    server.serve_forever()
