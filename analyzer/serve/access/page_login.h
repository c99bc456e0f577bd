/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_login: this module finds out who reads the live page, and which hosts the reader may see.
 *
 * A reader shows a certificate that the client CA signed, or a token (access.h). The hosts of the
 * certificate or the token are those that the reader may see; the name PAGE_ALL stands for all
 * hosts. A browser cannot store a token safely. Therefore the token is exchanged for a cookie that
 * scripts cannot read, that the browser sends to this server only, and only with requests of the
 * server's own pages (__Host-, HttpOnly, Secure, SameSite=Strict). A session lasts PAGE_SESSION_S
 * at most. It ends earlier when its token is removed from the file or when serve ends. If there are
 * more than PAGE_SESSIONS sessions, or more than PAGE_SESSIONS_EACH of one token, the oldest of
 * them ends: one reader cannot end the sessions of others. Any thread may call the functions.
 */
#ifndef ANALYZER_SERVE_ACCESS_PAGE_LOGIN_H
#define ANALYZER_SERVE_ACCESS_PAGE_LOGIN_H

#include <microhttpd.h>

#include "analyzer/serve/access/access.h"

#define PAGE_ALL	   "fleet"
#define PAGE_SESSIONS	   256
#define PAGE_SESSIONS_EACH 32
#define PAGE_SESSION_S	   43200
#define PAGE_COOKIE	   "__Host-blkcast"
#define PAGE_COOKIE_BYTES  256 /* of a Set-Cookie field */
#define PAGE_TOKEN_BYTES   256 /* of an Authorization field; longer ones are refused */

struct page_login;

struct page_reader {
	bool sees_all;
	bool has_session; /* The cookie alone told who it is, so that the reader can log out. */
	struct access_identity hosts;
};

/* Makes the login. The configuration and the errors are those of access_new(). */
int page_login_new(struct page_login **out, const struct access_config *config, struct err *err);
void page_login_free(struct page_login *l);
struct access *page_login_access(struct page_login *l);
/* Returns whether readers must authenticate. */
bool page_login_asks(const struct page_login *l);

/*
 * Finds the reader who sent the request. Returns 0, or -EACCES if the reader is unknown but must
 * authenticate.
 */
int page_login_who(struct page_login *l, struct MHD_Connection *c, struct page_reader *out);
bool page_reader_permits(const struct page_reader *r, const char *host);
/*
 * Returns the owner of the answers that the reader saves: PAGE_ALL if the reader may see all hosts,
 * else the name of the credential, so that the answers keep their owner when a token is replaced.
 */
const char *page_reader_owner(const struct page_reader *r);
/*
 * Returns whether the reader may make the agents of the hosts that it sees send the requests which
 * they keep back: its token has this right (access_tokens.h). Without a login nobody has it.
 */
bool page_reader_may_keep(const struct page_reader *r);

/*
 * Exchanges the token of the request for a cookie, a whole Set-Cookie field. Returns 0, -EACCES or
 * -EIO.
 */
int page_login_open(struct page_login *l, struct MHD_Connection *c, char cookie[PAGE_COOKIE_BYTES]);
/*
 * Ends the request's session, if there is one, and makes the field with which the browser deletes
 * the cookie.
 */
void page_login_close(struct page_login *l, struct MHD_Connection *c,
		      char cookie[PAGE_COOKIE_BYTES]);

#endif
