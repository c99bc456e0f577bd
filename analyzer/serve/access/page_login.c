// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/access/page_login.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/system/clock.h"

#define SECRET_BYTES 32
#define SECRET_TEXT  (2 * SECRET_BYTES + 1)
#define RELOAD_NS    CLOCK_NS_PER_S /* least time between two looks at the files */

struct page_session {
	char secret[SECRET_TEXT]; /* "": the entry is free */
	/* the Authorization field, which is looked up again after a reload */
	char token[PAGE_TOKEN_BYTES];
	uint64_t begin_ns;
};

struct page_login {
	struct access *access;
	pthread_mutex_t lock; /* guards the members below */
	uint64_t looked_ns;
	struct page_session sessions[PAGE_SESSIONS];
};

int page_login_new(struct page_login **out, const struct access_config *config, struct err *err)
{
	struct page_login *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return err_set(err, ENOMEM, "no memory for the page");
	pthread_mutex_init(&l->lock, NULL);
	ret = access_new(&l->access, config, err);
	if (ret < 0) {
		page_login_free(l);
		return ret;
	}
	*out = l;
	return 0;
}

void page_login_free(struct page_login *l)
{
	if (!l)
		return;
	access_free(l->access);
	pthread_mutex_destroy(&l->lock);
	explicit_bzero(l->sessions, sizeof(l->sessions));
	free(l);
}

struct access *page_login_access(struct page_login *l)
{
	return l->access;
}

bool page_login_asks(const struct page_login *l)
{
	return access_asks(l->access);
}

/*
 * If a file is wrong, its old content stays in force. The listener for agents reads the same files
 * and reports the error.
 */
static void page_login_reload(struct page_login *l)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct err err = { 0 };
	bool due;

	pthread_mutex_lock(&l->lock);
	due = now_ns >= l->looked_ns + RELOAD_NS || l->looked_ns == 0;
	if (due)
		l->looked_ns = now_ns;
	pthread_mutex_unlock(&l->lock);
	if (due)
		access_reload(l->access, false, &err);
}

/* Compares in a time that does not depend on how many characters are equal. */
static bool page_secret_equal(const char a[SECRET_TEXT], const char b[SECRET_TEXT])
{
	unsigned char differ = 0;

	for (size_t i = 0; i < SECRET_TEXT; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

/*
 * Returns the session of the request's cookie; NULL if there is no cookie or if the session is
 * over. The caller holds the lock.
 */
static struct page_session *page_session_find(struct page_login *l, struct MHD_Connection *c)
{
	const char *field = MHD_lookup_connection_value(c, MHD_COOKIE_KIND, PAGE_COOKIE);
	char secret[SECRET_TEXT];

	if (!field || strlen(field) != SECRET_TEXT - 1)
		return NULL;
	memcpy(secret, field, SECRET_TEXT);
	for (size_t i = 0; i < PAGE_SESSIONS; i++) {
		struct page_session *s = &l->sessions[i];

		if (!s->secret[0] || !page_secret_equal(s->secret, secret))
			continue;
		if (clock_monotonic_ns() - s->begin_ns > PAGE_SESSION_S * CLOCK_NS_PER_S) {
			explicit_bzero(s, sizeof(*s));
			return NULL;
		}
		return s;
	}
	return NULL;
}

static bool page_reader_known(struct page_reader *r)
{
	for (size_t i = 0; i < r->hosts.nr; i++)
		r->sees_all |= strcmp(r->hosts.hosts[i], PAGE_ALL) == 0;
	return r->hosts.nr > 0;
}

bool page_reader_permits(const struct page_reader *r, const char *host)
{
	return r->sees_all || access_permits(&r->hosts, host);
}

const char *page_reader_owner(const struct page_reader *r)
{
	return r->sees_all ? PAGE_ALL : r->hosts.owner;
}

bool page_reader_may_keep(const struct page_reader *r)
{
	return r->hosts.may_keep;
}

int page_login_who(struct page_login *l, struct MHD_Connection *c, struct page_reader *out)
{
	const union MHD_ConnectionInfo *tls;
	char token[PAGE_TOKEN_BYTES] = "";
	struct page_session *s;

	*out = (struct page_reader){ 0 };
	if (!page_login_asks(l)) {
		out->sees_all = true;
		return 0;
	}
	page_login_reload(l);
	access_by_token(l->access, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization"),
			&out->hosts);
	if (page_reader_known(out))
		return 0;
	tls = access_asks_certificate(l->access)
		      ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION)
		      : NULL;
	if (tls && tls->tls_session)
		access_by_certificate(l->access, tls->tls_session, &out->hosts);
	if (page_reader_known(out))
		return 0;
	pthread_mutex_lock(&l->lock);
	s = page_session_find(l, c);
	if (s)
		memcpy(token, s->token, sizeof(token));
	pthread_mutex_unlock(&l->lock);
	access_by_token(l->access, token[0] ? token : NULL, &out->hosts);
	explicit_bzero(token, sizeof(token));
	out->has_session = page_reader_known(out);
	return out->has_session ? 0 : -EACCES;
}

/*
 * Returns the entry for a new session of the token: a free one, the oldest of this token where it
 * has as many as it may have, or the oldest of all. The caller holds the lock.
 */
static struct page_session *page_session_place(struct page_login *l, const char *token)
{
	struct page_session *oldest = &l->sessions[0], *own = NULL;
	unsigned int nr_own = 0;

	for (size_t i = 0; i < PAGE_SESSIONS; i++) {
		struct page_session *s = &l->sessions[i];

		if (!s->secret[0] || (oldest->secret[0] && s->begin_ns < oldest->begin_ns))
			oldest = s;
		if (!s->secret[0] || strcmp(s->token, token) != 0)
			continue;
		nr_own++;
		if (!own || s->begin_ns < own->begin_ns)
			own = s;
	}
	return nr_own >= PAGE_SESSIONS_EACH ? own : oldest;
}

int page_login_open(struct page_login *l, struct MHD_Connection *c, char cookie[PAGE_COOKIE_BYTES])
{
	const char *field = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	struct page_reader reader = { 0 };
	unsigned char random[SECRET_BYTES];
	struct page_session *s;

	page_login_reload(l);
	if (!field || strlen(field) >= PAGE_TOKEN_BYTES)
		return -EACCES;
	access_by_token(l->access, field, &reader.hosts);
	if (!page_reader_known(&reader))
		return -EACCES;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	pthread_mutex_lock(&l->lock);
	s = page_session_place(l, field);
	explicit_bzero(s, sizeof(*s));
	for (size_t i = 0; i < SECRET_BYTES; i++)
		snprintf(s->secret + 2 * i, 3, "%02x", random[i]);
	snprintf(s->token, sizeof(s->token), "%s", field);
	s->begin_ns = clock_monotonic_ns();
	snprintf(cookie, PAGE_COOKIE_BYTES,
		 PAGE_COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; Secure; SameSite=Strict",
		 s->secret, PAGE_SESSION_S);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

void page_login_close(struct page_login *l, struct MHD_Connection *c,
		      char cookie[PAGE_COOKIE_BYTES])
{
	struct page_session *s;

	pthread_mutex_lock(&l->lock);
	s = page_session_find(l, c);
	if (s)
		explicit_bzero(s, sizeof(*s));
	pthread_mutex_unlock(&l->lock);
	snprintf(cookie, PAGE_COOKIE_BYTES,
		 PAGE_COOKIE "=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict");
}
