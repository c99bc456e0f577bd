#!/usr/bin/env python3
"""lossy_proxy.py LISTEN_PORT TO_PORT EVERY: a TCP proxy on loopback that loses replies.

What clients send is passed on. Of each EVERY replies one is thrown away after the server has sent it, and the
connection is reset: the server has done its work and the client does not know.
"""
import itertools
import selectors
import socket
import struct
import sys
import threading

replies = itertools.count(1)


def reset(s):
    """Closes with RST, so that nothing that is still buffered arrives."""
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    s.close()


def carry(client, to_port, every):
    try:
        server = socket.create_connection(("127.0.0.1", to_port), 10)
    except OSError:
        reset(client)
        return
    both = selectors.DefaultSelector()
    both.register(client, selectors.EVENT_READ, server)
    both.register(server, selectors.EVENT_READ, client)
    try:
        while True:
            for key, _ in both.select():
                data = key.fileobj.recv(65536)
                if not data:
                    return
                if key.fileobj is server and data.startswith(b"HTTP/1.1 20") and next(replies) % every == 0:
                    return
                key.data.sendall(data)
    except OSError:
        pass
    finally:
        reset(client)
        reset(server)


def main():
    listen, to, every = (int(a) for a in sys.argv[1:4])
    s = socket.create_server(("127.0.0.1", listen), backlog=128)
    print("ready", flush=True)
    while True:
        client, _ = s.accept()
        threading.Thread(target=carry, args=(client, to, every), daemon=True).start()


main()
