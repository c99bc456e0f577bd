/* SPDX-License-Identifier: Apache-2.0 */
/* server_listen: this module opens the listening socket of server.c and of the live page. */
#ifndef ANALYZER_SERVER_LISTEN_H
#define ANALYZER_SERVER_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/text/err.h"

/*
 * The allowed ciphers have authenticated encryption and forward secrecy, in TLS 1.2 too: CBC
 * with SHA-1 and key exchange by RSA are off.
 */
#define SERVER_TLS_PRIORITIES                                                            \
	"NONE:+VERS-TLS1.3:+VERS-TLS1.2:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:"   \
	"+AEAD:+ECDHE-ECDSA:+ECDHE-RSA:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:" \
	"+SIGN-ALL:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1:+CTYPE-X509:"          \
	"+COMP-NULL:%SERVER_PRECEDENCE"

/*
 * Opens the listening socket here and not in libmicrohttpd, so that errors have their errno and
 * the port is known. Returns the descriptor, or -errno. what is the name of the address in
 * messages. only_loopback says why another address than loopback is refused, with -ENOKEY; NULL if
 * it is allowed.
 */
int server_listen(const char *what, const char *listen, const char *only_loopback, uint16_t *port,
		  struct err *err);
bool server_is_loopback(const struct sockaddr *a);
/*
 * Gives the address as text, without its port. An IPv6 address is given as its /64 network,
 * because one client has a whole /64.
 */
void server_address_text(const struct sockaddr *a, char *out, unsigned int cap);

#endif
