/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access: who the other end of a connection is, and what it may write.
 *
 * The server shows a certificate (TLS 1.2 or later). A sender shows one of its own that a client CA
 * signed, or a token ("Authorization: Bearer TOKEN"). A certificate stands for the hosts in its DNS
 * names, or its common name where it has none; a token for the host beside its hash in the file:
 *
 *	# HOST SHA-256 of the token, in hexadecimal
 *	web1 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 *
 * A host may have several tokens, so that one replaces another without a pause. Tokens are random
 * and long: a plain hash is enough. They are compared in a time that does not depend on them.
 *
 * All files are read again when they change; one that is wrong is told and the old one stays in
 * force. A file of tokens that was deleted holds no token. From the time that a revocation list gives
 * as its nextUpdate, every client certificate is refused until there is a newer list: what was revoked
 * since cannot be known. Thread-safe.
 */
#ifndef ANALYZER_ACCESS_H
#define ANALYZER_ACCESS_H

#include <gnutls/abstract.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/segment_name.h"
#include "base/err.h"

#define ACCESS_MAX_NAMES  8	/* hosts of one certificate */
#define ACCESS_MAX_TOKENS 65536 /* lines of the file */

struct access_config {		/* paths, borrowed for access_new() only; NULL: not asked for */
	const char *cert, *key; /* PEM; the chain with the server's own first */
	const char *client_ca;
	const char *client_crl;
	const char *tokens;
};

struct access;

/* Zeroed: nobody. */
struct access_identity {
	uint64_t generation; /* of the files it was looked up in */
	size_t nr;
	char hosts[ACCESS_MAX_NAMES][SEGMENT_NAME_BYTES];
};

/* -EINVAL, -ENOENT, ... with file, line and what was expected; -ENOMEM. */
int access_new(struct access **out, const struct access_config *config, struct err *err);
void access_free(struct access *a);

/*
 * Reads again what has changed on disk, all of it where all is set. Returns 1 where something new
 * is in force, 0 where nothing changed; else -errno with one line, and the old stays in force. What
 * is wrong is told once until it changes again.
 */
int access_reload(struct access *a, bool all, struct err *err);
/* Goes up with each reload: an identity of an earlier one is to be looked up again. */
uint64_t access_generation(struct access *a);

/* Whether a revocation list is past its nextUpdate. */
bool access_lists_over(struct access *a);
/* True once for each list that is, with a line. */
bool access_tell_lists_over(struct access *a, struct err *err);

bool access_has_tls(const struct access *a);
/* Whether a sender must say who it is. */
bool access_asks(const struct access *a);
bool access_asks_certificate(const struct access *a);

/* The hosts of the session's certificate; nobody where it has none or a bad one. */
void access_by_certificate(struct access *a, gnutls_session_t session, struct access_identity *out);
/* The host of the token in an Authorization header (may be NULL); nobody where it is unknown. */
void access_by_token(struct access *a, const char *authorization, struct access_identity *out);
bool access_permits(const struct access_identity *who, const char *host);

/* The certificate to show, for gnutls_certificate_retrieve_function2: 0 or -1. It stays valid for
 * ten minutes after it was replaced. */
int access_certificate(struct access *a, gnutls_pcert_st **chain, unsigned int *nr,
		       gnutls_privkey_t *key);

#endif
