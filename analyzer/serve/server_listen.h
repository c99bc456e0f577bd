/* SPDX-License-Identifier: Apache-2.0 */
/* server_listen: the listening socket of server.c. */
#ifndef ANALYZER_SERVER_LISTEN_H
#define ANALYZER_SERVER_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

/* Authenticated encryption and keys that nobody can compute afterwards, in TLS 1.2 too: no CBC with
 * SHA-1, no exchange of keys by RSA. */
#define SERVER_TLS_PRIORITIES                                                            \
	"NONE:+VERS-TLS1.3:+VERS-TLS1.2:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:"   \
	"+AEAD:+ECDHE-ECDSA:+ECDHE-RSA:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:" \
	"+SIGN-ALL:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1:+CTYPE-X509:"          \
	"+COMP-NULL:%SERVER_PRECEDENCE"

/* A listening socket of our own, so that errors have their number and the port is known: the
 * descriptor, or -errno. option: how messages name the address. only_loopback: why another address is refused, NULL where it is not. */
int server_listen(const char *option, const char *listen, const char *only_loopback, uint16_t *port,
		  struct err *err);
bool server_is_loopback(const struct sockaddr *a);
/* The address as text, without its port; an IPv6 one is its /64, which is one client. */
void server_address_text(const struct sockaddr *a, char *out, unsigned int cap);

#endif
