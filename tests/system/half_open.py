# half_open.py PORT NR ADDRESS...: opens NR connections from each source address, sends one byte of a TLS handshake
# on each, says "open N", and opens another wherever the server ends one, until standard input ends.
import select
import socket
import sys

port, nr, sources = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
opened = 0
connections = {}


def connect(source):
    global opened
    s = socket.socket()
    try:
        s.bind((source, 0))
        s.settimeout(5)
        s.connect(("127.0.0.1", port))
        s.send(b"\x16")
    except OSError:
        s.close()
        return
    connections[s] = source
    opened += 1


for _ in range(nr):
    for source in sources:
        connect(source)
print("open", opened, flush=True)
while True:
    readable, _, _ = select.select([sys.stdin, *connections], [], [], 1)
    if sys.stdin in readable:
        break
    for s in readable:
        source = connections.pop(s)
        s.close()
        connect(source)
