#!/usr/bin/env python3
"""links.py FOLDER NAME:LISTEN_PORT:TO_PORT...: TCP links on loopback that can be broken.

What a link does stands in the file FOLDER/NAME, which is read again every 20 ms; no file means "open".

    open      everything is passed on
    stall     nothing is passed on and nothing is closed, as in a partition; once the link is open again, what was
              held is passed on, as TCP would send it again
    cut       connections are reset, and new ones too
    lose N    of each N replies one is thrown away after the server has sent it, and the connection is reset: the
              server has done its work and the client does not know. What counts as a reply: a successful one of
              HTTP, the answer of PostgreSQL to a call of take(), else anything after the client has sent 4 KiB
              more
"""
import os
import selectors
import socket
import struct
import sys
import time

MOST = 1 << 20  # bytes that a direction holds


class End:
    """One end of a connection: what is to be written to it, and its peer."""

    def __init__(self, sock, link, is_server):
        self.sock, self.link, self.is_server = sock, link, is_server
        self.out, self.peer, self.is_over = bytearray(), None, False
        self.sent, self.asked = 0, False


class Link:
    def __init__(self, name, listen, to):
        self.name, self.to = name, int(to)
        self.mode, self.every, self.replies = "open", 0, 0
        self.listener = socket.create_server(("127.0.0.1", int(listen)), backlog=1024)
        self.listener.setblocking(False)


def reset(s):
    """Closes with RST, so that nothing that is still buffered arrives."""
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    s.close()


class Links:
    def __init__(self, folder, specs):
        self.folder = folder
        self.poll = selectors.DefaultSelector()
        self.links = [Link(*s.split(":")) for s in specs]
        self.ends = set()
        for link in self.links:
            self.poll.register(link.listener, selectors.EVENT_READ, link)

    def read_modes(self):
        for link in self.links:
            try:
                with open(os.path.join(self.folder, link.name)) as f:
                    words = f.read().split() or ["open"]
            except OSError:
                words = ["open"]
            mode, every = words[0], int(words[1]) if len(words) > 1 else 0
            if (mode, every) == (link.mode, link.every):
                continue
            link.mode, link.every = mode, every
            for end in [e for e in self.ends if e.link is link]:
                if mode == "cut":
                    self.end(end)
                else:
                    self.watch(end)

    def watch(self, end):
        """What is waited for at this end. At a stalled link nothing is."""
        if end not in self.ends:
            return
        events = 0
        if end.link.mode != "stall":
            if end.out:
                events |= selectors.EVENT_WRITE
            if not end.is_over and len(end.peer.out) < MOST:
                events |= selectors.EVENT_READ
        try:
            known = self.poll.get_key(end.sock).events
        except KeyError:
            known = 0
        if events == known:
            return
        if not known:
            self.poll.register(end.sock, events, end)
        elif not events:
            self.poll.unregister(end.sock)
        else:
            self.poll.modify(end.sock, events, end)

    def end(self, end):
        for e in (end, end.peer):
            if e not in self.ends:
                continue
            self.ends.discard(e)
            try:
                self.poll.unregister(e.sock)
            except KeyError:
                pass
            reset(e.sock)

    def accept(self, link):
        try:
            client, _ = link.listener.accept()
        except OSError:
            return
        if link.mode == "cut":
            reset(client)
            return
        server = socket.socket()
        server.setblocking(False)
        client.setblocking(False)
        for s in (client, server):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.connect_ex(("127.0.0.1", link.to))
        a, b = End(client, link, False), End(server, link, True)
        a.peer, b.peer = b, a
        self.ends |= {a, b}
        self.watch(a)
        self.watch(b)

    def is_lost(self, end, data):
        """Whether this reply of a server is to be thrown away."""
        link, client = end.link, end.peer
        if link.mode != "lose" or not end.is_server:
            return False
        if not (data.startswith(b"HTTP/1.1 20") or client.asked or client.sent > 4096):
            return False
        client.sent, client.asked = 0, False
        link.replies += 1
        return link.replies % link.every == 0

    def carry(self, end):
        try:
            data = end.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            self.end(end)
            return
        if not data:
            end.is_over = True
            if not end.peer.out:
                self.end(end)
            return
        end.sent += len(data)
        end.asked = end.asked or b"FROM take(" in data
        if self.is_lost(end, data):
            self.end(end)
            return
        end.peer.out += data
        self.flush(end.peer)
        self.watch(end)

    def flush(self, end):
        try:
            while end.out:
                del end.out[:end.sock.send(end.out)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.end(end)
            return
        if end.peer.is_over and not end.out:
            self.end(end)
            return
        self.watch(end)
        self.watch(end.peer)

    def run(self):
        print("ready", flush=True)
        next_modes = 0
        while True:
            for key, mask in self.poll.select(0.02):
                if isinstance(key.data, Link):
                    self.accept(key.data)
                    continue
                if mask & selectors.EVENT_WRITE and key.data in self.ends:
                    self.flush(key.data)
                if mask & selectors.EVENT_READ and key.data in self.ends:
                    self.carry(key.data)
            if time.monotonic() >= next_modes:
                next_modes = time.monotonic() + 0.02
                self.read_modes()


Links(sys.argv[1], sys.argv[2:]).run()
