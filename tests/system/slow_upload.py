#!/usr/bin/env python3
"""slow_upload.py PORT PATH HASH TOKEN FILE: sends half of a segment, says so, waits for a line on its
standard input, sends the rest, and prints the status of the answer."""
import socket
import sys

port, path, digest, token, file = sys.argv[1:]
with open(file, "rb") as f:
    body = f.read()
s = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
s.sendall(f"PUT {path} HTTP/1.1\r\nHost: x\r\nBlkcast-Hash: {digest}\r\nAuthorization: Bearer {token}\r\n"
          f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:len(body) // 2])
print("half", flush=True)
sys.stdin.readline()
s.sendall(body[len(body) // 2:])
print(s.recv(4096).split(b" ")[1].decode(), flush=True)
