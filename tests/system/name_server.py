#!/usr/bin/env python3
"""name_server.py NAME ADDRESS: the name service of a network namespace of its own.

Brings lo up and answers on 127.0.0.1:53: NAME has the IPv4 ADDRESS and nothing else, other names do
not exist. Prints one line once it listens, and one for each question.
"""
import fcntl
import socket
import struct
import sys

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
TYPE_A, NO_SUCH_NAME = 1, 3


def bring_up(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sh22x", interface.encode(), 0)
        flags = struct.unpack_from("16sh", fcntl.ioctl(s, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", interface.encode(), flags | IFF_UP))


def question(message):
    """Name, type and the bytes of the (one) question."""
    at, labels = 12, []
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode())
        at += 1 + message[at]
    return ".".join(labels), struct.unpack_from(">H", message, at + 1)[0], message[12 : at + 5]


def answer(message, name, address):
    asked, kind, section = question(message)
    print(asked, kind, flush=True)
    is_known = asked.lower() == name
    has_address = is_known and kind == TYPE_A
    flags = 0x8180 | (0 if is_known else NO_SUCH_NAME)
    reply = message[:2] + struct.pack(">HHHHH", flags, 1, int(has_address), 0, 0) + section
    if has_address:
        reply += struct.pack(">HHHIH", 0xC00C, TYPE_A, 1, 60, 4) + socket.inet_aton(address)
    return reply


def main():
    name, address = sys.argv[1:]
    bring_up("lo")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 53))
        print("listening", flush=True)
        while True:
            message, client = s.recvfrom(512)
            s.sendto(answer(message, name, address), client)


main()
