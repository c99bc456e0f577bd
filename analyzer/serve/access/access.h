/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access: this module finds out who the other end of a connection is, and which hosts' segments it
 * may write.
 *
 * The server shows a certificate (TLS 1.2 or later). A sender shows either a certificate that a
 * client CA signed, or a token ("Authorization: Bearer TOKEN"). A certificate stands for the hosts
 * in its DNS names, or for its common name if it has no DNS names. A token stands for the host that
 * is written before its hash in the file of tokens:
 *
 *	# HOST SHA-256 of the token, in hexadecimal
 *	web1 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 *
 * In place of a host there may be the beginning of hosts' names with a * (web*), which stands for
 * all of them, or @TENANT, which stands for all hosts that the file of tenants (access_tenants.h)
 * gives it. Behind the hash there may be a right of a reader (access_tokens.h). Where there is a
 * file of tenants, a host of no tenant is refused, whatever its credential.
 *
 * A host may have several tokens, so that a new token can replace an old one without a pause.
 * Tokens are random and long, and therefore a plain hash protects them well enough. A token is
 * looked up by its hash: how long that takes tells something about hashes at most, and whoever
 * knows the hash of such a token cannot find the token.
 *
 * All files are read again when they change. If a changed file is wrong, the module reports the
 * error and keeps using the earlier content. A deleted file of tokens counts as a file without
 * tokens. From the time that a revocation list gives as its nextUpdate, every client certificate is
 * refused until a newer list is there, because certificates may have been revoked since that nobody
 * knows of. All functions are thread-safe.
 */
#ifndef ANALYZER_ACCESS_H
#define ANALYZER_ACCESS_H

#include <gnutls/abstract.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "base/text/err.h"

#define ACCESS_MAX_NAMES  8	/* hosts of one certificate */
#define ACCESS_MAX_TOKENS 65536 /* lines of the file */

/* The paths are borrowed for access_new() only; NULL means that the file is not used. */
struct access_config {
	const char *cert, *key; /* PEM; the chain begins with the server's own certificate */
	const char *client_ca;
	const char *client_crl;
	const char *tokens;
	const char *tenants;
};

struct access;

/* A zeroed identity stands for no host. */
struct access_identity {
	uint64_t generation; /* generation of the files when the identity was looked up */
	/*
	 * The name of the credential: the word before a token's hash (web1, web*, @acme), the least
	 * one where the token has several lines; or = and the first host of a certificate, so that
	 * a guest's certificate is never taken for a person's token of the same name.
	 */
	char owner[SEGMENT_NAME_BYTES + 1];
	bool may_keep; /* every line of the token has TOKEN_KEEP (access_tokens.h) */
	size_t nr;
	char hosts[ACCESS_MAX_NAMES][SEGMENT_NAME_BYTES];
};

/* Returns 0, -EINVAL, -ENOENT, ... with the file, the line and what was expected, or -ENOMEM. */
int access_new(struct access **out, const struct access_config *config, struct err *err);
void access_free(struct access *a);

/*
 * Reads the files again that have changed on disk, or all files if `all` is set. Returns 1 if new
 * content is in force, 0 if nothing changed, else -errno with one line; then the old content stays
 * in force. An error in a file is reported once until the file changes again.
 */
int access_reload(struct access *a, bool all, struct err *err);
/*
 * The generation grows with each reload: an identity of an earlier generation has to be looked up
 * again.
 */
uint64_t access_generation(struct access *a);

/* Returns whether a revocation list is past its nextUpdate. */
bool access_lists_over(struct access *a);
/* Returns true, with a line in err, once for each list that is past its nextUpdate. */
bool access_tell_lists_over(struct access *a, struct err *err);

bool access_has_tls(const struct access *a);
/* Returns whether senders must authenticate. */
bool access_asks(const struct access *a);
bool access_asks_certificate(const struct access *a);

/*
 * Gives the hosts of the session's certificate, or no host if the certificate is missing or not
 * valid.
 */
void access_by_certificate(struct access *a, gnutls_session_t session, struct access_identity *out);
/*
 * Gives the host of the token in an Authorization header (may be NULL); no host if the token is
 * unknown.
 */
void access_by_token(struct access *a, const char *authorization, struct access_identity *out);
/* Returns whether there is a file of tenants. */
bool access_has_tenants(const struct access *a);
/*
 * Copies the name of the host's tenant, "" where there is no file of tenants. Returns false where
 * the host belongs to no tenant although there is such a file.
 */
bool access_tenant_of(struct access *a, const char *host, char name[SEGMENT_NAME_BYTES]);
bool access_permits(const struct access_identity *who, const char *host);

/*
 * Gives the certificate to show, for gnutls_certificate_retrieve_function2. Returns 0 or -1. The
 * certificate stays valid for ten minutes after it was replaced.
 */
int access_certificate(struct access *a, gnutls_pcert_st **chain, unsigned int *nr,
		       gnutls_privkey_t *key);

#endif
