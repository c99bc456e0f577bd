/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_login: who looks at the live page, and which hosts he may see.
 *
 * A reader shows a certificate that the client CA signed, or a token (access.h). The hosts of either are those he
 * may see; the name PAGE_ALL stands for all of them. A browser cannot keep a token safely, so it is exchanged
 * for a cookie that scripts cannot read, that goes to this server alone, and that is sent with requests of
 * its own pages only (__Host-, HttpOnly, Secure, SameSite=Strict). A session lasts PAGE_SESSION_S at most, ends
 * when its token is taken out of the file, and is forgotten when serve ends; past PAGE_SESSIONS the oldest
 * one ends. Any thread.
 */
#ifndef ANALYZER_SERVE_PAGE_LOGIN_H
#define ANALYZER_SERVE_PAGE_LOGIN_H

#include <microhttpd.h>

#include "analyzer/serve/access.h"

#define PAGE_ALL	  "fleet"
#define PAGE_SESSIONS	  256
#define PAGE_SESSION_S	  43200
#define PAGE_COOKIE	  "__Host-blkcast"
#define PAGE_COOKIE_BYTES 256 /* of a Set-Cookie field */
#define PAGE_TOKEN_BYTES  256 /* of an Authorization field; longer ones are refused */

struct page_login;

struct page_reader {
	bool sees_all;
	struct access_identity hosts;
};

/* As access_new(). */
int page_login_new(struct page_login **out, const struct access_config *config, struct err *err);
void page_login_free(struct page_login *l);
struct access *page_login_access(struct page_login *l);
/* Whether readers must say who they are. */
bool page_login_asks(const struct page_login *l);

/* Who sent the request: 0, or -EACCES where nobody is known and somebody must be. */
int page_login_who(struct page_login *l, struct MHD_Connection *c, struct page_reader *out);
bool page_reader_permits(const struct page_reader *r, const char *host);

/* Exchanges the token of the request for a cookie, a whole Set-Cookie field. 0, -EACCES, -EIO. */
int page_login_open(struct page_login *l, struct MHD_Connection *c, char cookie[PAGE_COOKIE_BYTES]);
/* Ends the session of the request, if it has one, and makes the field that lets the browser forget it. */
void page_login_close(struct page_login *l, struct MHD_Connection *c,
		      char cookie[PAGE_COOKIE_BYTES]);

#endif
