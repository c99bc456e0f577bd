#!/usr/bin/env python3
"""slow_client.py PORT [many]: clients that hold a connection without using it."""
import socket
import sys
import time

PORT = int(sys.argv[1])
PUT = (b"PUT /v1/segments/h/b/0/0 HTTP/1.1\r\nHost: x\r\nBlkcast-Hash: " + b"0" * 32 +
       b"\r\nContent-Length: 100000\r\n\r\n")


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=10)


def drip(start, until_s):
    """Sends a byte every tenth of a second; whether the server ends it in time."""
    s = connect()
    s.sendall(start)
    s.settimeout(0.1)
    end = time.monotonic() + until_s
    while time.monotonic() < end:
        try:
            s.send(b"x")
            if s.recv(1000) == b"":
                return "cut"
        except socket.timeout:
            continue
        except OSError:
            return "cut"
    return "open"


def idle(until_s):
    s = connect()
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    s.recv(1000)
    s.settimeout(until_s)
    try:
        return "cut" if s.recv(1000) == b"" else "open"
    except socket.timeout:
        return "open"


def served():
    s = connect()
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    return b" 200 " in s.recv(1000)


if len(sys.argv) > 2:
    sockets = [connect() for _ in range(8)]
    time.sleep(0.5)
    nr = 0
    for s in sockets:
        s.settimeout(1)
        try:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            nr += b" 200 " in s.recv(1000)
        except OSError:
            pass
    print(f"{nr} of 8 open")
else:
    head = drip(b"GET /healthz HTTP/1.1\r\nX: ", 6)
    body = drip(PUT, 6)
    print(f"head {head}, body {body}, idle {idle(6)}, reply of others {'ok' if served() else 'none'}")
