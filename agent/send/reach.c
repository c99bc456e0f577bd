/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "agent/send/lookup.h"
#include "agent/send/reach.h"
#include "base/system/clock.h"

#define KEEP_S 60.0 /* libcurl keeps its own answers as long */

#ifndef CURLU_PUNYCODE /* The constant is missing before libcurl 7.88. */
#define CURLU_PUNYCODE 0
#endif

/* A host and port that libcurl connects to, or lets a proxy connect to. */
struct name {
	char *host; /* NULL: nothing to look up */
	char *port;
	struct buf entry; /* "HOST:PORT:ADDRESS,..."; empty until known */
	double found_s;	  /* time of the last answer; -KEEP_S: the addresses are in doubt */
};

enum { RECEIVER, PROXY, NR_NAMES };

struct reach {
	struct lookup *lookup;
	struct name names[NR_NAMES];
	struct curl_slist *list; /* the list that curl refers to */
};

/* Returns whether libcurl knows the address of this host without a look-up. */
static bool needs_no_lookup(const char *host)
{
	static const char local[] = "localhost";
	size_t len = strlen(host), tail = sizeof(local) - 1;
	struct in_addr four;

	if (host[0] == '[' || inet_pton(AF_INET, host, &four) == 1 || !strcasecmp(host, local))
		return true;
	return len > tail && host[len - tail - 1] == '.' && !strcasecmp(host + len - tail, local);
}

/* Takes host and port from url. A proxy without a port has libcurl's default port for proxies. */
static int take_name(struct name *name, const char *url, bool is_proxy, struct err *err)
{
	CURLU *parts = curl_url();
	char *host = NULL, *port = NULL, *scheme = NULL;
	int ret = 0;

	if (!parts ||
	    curl_url_set(parts, CURLUPART_URL, url,
			 is_proxy ? CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME : 0) ||
	    curl_url_get(parts, CURLUPART_HOST, &host, CURLU_PUNYCODE) ||
	    curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0))
		ret = is_proxy
			      ? err_set(err, EINVAL,
					"proxy: the host in this URL cannot be looked up: expected "
					"SCHEME://[USER:PASSWORD@]HOST:PORT (it is not shown, for "
					"it may hold a password)")
			      : err_set(err, EINVAL,
					"sink: expected a host that can be looked up: %s", url);
	else if (curl_url_get(parts, CURLUPART_PORT, &port, is_proxy ? 0 : CURLU_DEFAULT_PORT))
		port = NULL;
	if (ret)
		goto out;
	if (!needs_no_lookup(host)) {
		name->host = strdup(host);
		name->port = strdup(port ? port : !strcmp(scheme, "https") ? "443" : "1080");
		ret = name->host && name->port ? 0 : err_set(err, ENOMEM, "no memory");
	}
out:
	curl_free(host);
	curl_free(port);
	curl_free(scheme);
	curl_url_cleanup(parts);
	return ret;
}

/*
 * Returns whether the proxy itself looks the receiver up. A SOCKS proxy of version 4 or 5 does so
 * only where its scheme ends in "a" or "h"; otherwise it is given the receiver's address.
 */
static bool proxy_looks_up(const char *proxy)
{
	return strncasecmp(proxy, "socks4:", 7) && strncasecmp(proxy, "socks5:", 7);
}

int reach_new(struct reach **out, const char *url, const char *proxy, struct err *err)
{
	struct reach *r = calloc(1, sizeof(*r));
	int ret;

	if (!r || lookup_new(&r->lookup)) {
		free(r);
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	}
	for (int i = 0; i < NR_NAMES; i++) {
		buf_init(&r->names[i].entry);
		r->names[i].found_s = -KEEP_S;
	}
	ret = proxy && *proxy ? take_name(&r->names[PROXY], proxy, true, err) : 0;
	if (ret)
		goto out;
	if (!proxy || !*proxy || !proxy_looks_up(proxy))
		ret = take_name(&r->names[RECEIVER], url, false, err);
	if (ret)
		goto out;
	*out = r;
	return 0;
out:
	reach_free(r);
	return ret;
}

int reach_start(struct reach *r, struct err *err)
{
	bool any = false;

	for (int i = 0; i < NR_NAMES; i++)
		any |= r->names[i].host != NULL;
	return any ? lookup_start(r->lookup, err) : 0;
}

void reach_free(struct reach *r)
{
	if (!r)
		return;
	lookup_free(r->lookup);
	for (int i = 0; i < NR_NAMES; i++) {
		free(r->names[i].host);
		free(r->names[i].port);
		buf_release(&r->names[i].entry);
	}
	curl_slist_free_all(r->list);
	free(r);
}

/*
 * Looks the name up again. Returns 0 also where the look-up failed and older addresses are still
 * known.
 */
static int reach_renew(struct reach *r, struct name *name, double wait_s,
		       const atomic_bool *abort_flag, struct err *err)
{
	struct buf found, old;
	int ret;

	if (!name->host || clock_monotonic_s() - name->found_s < KEEP_S)
		return 0;
	buf_init(&found);
	buf_printf(&found, "%s:%s:", name->host, name->port);
	ret = lookup_addresses(r->lookup, name->host, wait_s, abort_flag, &found, err);
	if (ret)
		goto out;
	ret = buf_put_u8(&found, 0);
	if (ret)
		goto out;
	old = name->entry;
	name->entry = found;
	found = old;
	name->found_s = clock_monotonic_s();
out:
	buf_release(&found);
	return ret && name->entry.len && ret != -ECANCELED ? 0 : ret;
}

int reach_find(struct reach *r, CURL *curl, double wait_s, const atomic_bool *abort_flag,
	       struct err *err)
{
	struct curl_slist *list = NULL;
	int ret;

	for (int i = 0; i < NR_NAMES; i++) {
		struct name *name = &r->names[i];
		struct curl_slist *more;

		ret = reach_renew(r, name, wait_s, abort_flag, err);
		if (ret)
			goto out;
		if (!name->host)
			continue;
		more = curl_slist_append(list, (const char *)name->entry.data);
		ret = more ? 0 : err_set(err, ENOMEM, "no memory for the HTTP sink");
		if (ret)
			goto out;
		list = more;
	}
	if (curl_easy_setopt(curl, CURLOPT_RESOLVE, list))
		ret = err_set(err, ENOMEM, "no memory for the HTTP sink");
	else
		ret = 0;
	if (ret)
		goto out;
	curl_slist_free_all(r->list);
	r->list = list;
	return 0;
out:
	curl_slist_free_all(list);
	return ret;
}

void reach_doubt(struct reach *r)
{
	for (int i = 0; i < NR_NAMES; i++)
		r->names[i].found_s = -KEEP_S;
}
