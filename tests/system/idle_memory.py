#!/usr/bin/env python3
"""idle_memory.py PORT PID CA TOKEN PATH HASH FILE: what the threads of idle connections hold.

Opens 40 connections over TLS, sends the segment in FILE over each, leaves them open, and prints how
many KiB of its stack (with its thread-local variables) each thread has in memory on average. Stacks
of threads of serve are mappings of 512 KiB.
"""
import re
import socket
import ssl
import sys

PORT, PID, CA, TOKEN, PATH, HASH, FILE = sys.argv[1:]
NR = 40


def stacks():
    """Returns the resident KiB of all mappings of 512 KiB, and their number."""
    kib = nr = size = 0
    with open(f"/proc/{PID}/smaps") as f:
        for line in f:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p", line)
            if m or re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                size = int(m[2], 16) - int(m[1], 16) if m else 0
            elif line.startswith("Rss:") and size == 512 << 10:
                kib += int(line.split()[1])
                nr += 1
    return kib, nr


def put(connection, body):
    connection.sendall(f"PUT {PATH} HTTP/1.1\r\nHost: x\r\nBlkcast-Hash: {HASH}\r\n"
                       f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
                       .encode() + body)
    answer = b""
    while b"}" not in answer:
        part = connection.recv(65536)
        if not part:
            sys.exit("the server ended a connection")
        answer += part
    return answer.split()[1].decode()


context = ssl.create_default_context(cafile=CA)
context.check_hostname = False
with open(FILE, "rb") as f:
    segment = f.read()
before_kib, before_nr = stacks()
connections = [context.wrap_socket(socket.create_connection(("127.0.0.1", int(PORT)), timeout=20))
               for _ in range(NR)]
codes = {put(c, segment) for c in connections}
# The server trims a thread after it has sent the answer, so each connection sends once more: the
# second answer comes after the first one was trimmed.
codes |= {put(c, segment) for c in connections}
now_kib, now_nr = stacks()
# Threads of earlier connections may have ended meanwhile.
print(",".join(sorted(codes)), round((now_kib - before_kib) / (now_nr - before_nr)))
