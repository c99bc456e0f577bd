/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/engine/cluster_url.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME	     "pg://"
#define DEFAULT_PORT "5432"

/* Each name that may follow the question mark, and where its value is stored. */
static const struct {
	const char *name;
	size_t offset;
} url_fields[] = {
	{ "objects", offsetof(struct cluster_url, objects) },
	{ "keys", offsetof(struct cluster_url, keys) },
	{ "region", offsetof(struct cluster_url, region) },
	{ "ca", offsetof(struct cluster_url, ca) },
	{ "sslmode", offsetof(struct cluster_url, sslmode) },
	{ "sslrootcert", offsetof(struct cluster_url, sslrootcert) },
	{ "sslcert", offsetof(struct cluster_url, sslcert) },
	{ "sslkey", offsetof(struct cluster_url, sslkey) },
	{ "passfile", offsetof(struct cluster_url, passfile) },
};

bool cluster_url_is(const char *name)
{
	return name && strncmp(name, SCHEME, strlen(SCHEME)) == 0;
}

void cluster_url_release(struct cluster_url *u)
{
	free(u->hosts);
	free(u->ports);
	free(u->user);
	free(u->database);
	for (size_t i = 0; i < sizeof(url_fields) / sizeof(url_fields[0]); i++)
		free(*(char **)((char *)u + url_fields[i].offset));
	*u = (struct cluster_url){ 0 };
}

static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/*
 * Decodes %XX into bytes in a new string. Returns NULL, with errno EINVAL if two digits are
 * missing or if they encode a 0 byte.
 */
static char *url_decode(const char *from, size_t len)
{
	char *out = malloc(len + 1);
	size_t at = 0;

	for (size_t i = 0; out && i < len; i++) {
		int high = from[i] == '%' && i + 2 < len ? hex_digit(from[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(from[i + 2]) : -1;

		if (from[i] == '%' && (low < 0 || high * 16 + low == 0)) {
			free(out);
			errno = EINVAL;
			return NULL;
		}
		out[at++] = from[i] == '%' ? (char)(high * 16 + low) : from[i];
		i += from[i] == '%' ? 2 : 0;
	}
	if (out)
		out[at] = '\0';
	return out;
}

static int url_set(char **field, const char *what, const char *from, size_t len, struct err *err)
{
	if (*field)
		return err_set(err, EINVAL, "store URL: %s stands there twice", what);
	errno = ENOMEM;
	*field = url_decode(from, len);
	if (*field)
		return 0;
	if (errno == EINVAL)
		return err_set(err, EINVAL,
			       "store URL: %s: expected two hexadecimal digits after %%", what);
	return err_set(err, ENOMEM, "out of memory");
}

static int url_append(char **list, const char *from, size_t len)
{
	size_t had = *list ? strlen(*list) : 0;
	char *more = realloc(*list, had + len + 2);

	if (!more)
		return -ENOMEM;
	if (*list)
		more[had++] = ',';
	memcpy(more + had, from, len);
	more[had + len] = '\0';
	*list = more;
	return 0;
}

/* Parses one HOST, HOST:PORT or [ADDRESS]:PORT. */
static int url_host(struct cluster_url *u, const char *from, size_t len, struct err *err)
{
	const char *end = from + len, *port = NULL, *host = from;
	size_t host_len;
	int ret;

	if (len && from[0] == '[') {
		const char *close = memchr(from, ']', len);

		if (!close)
			return err_set(err, EINVAL, "store URL: host: expected ] after an address");
		host = from + 1;
		host_len = (size_t)(close - host);
		port = close + 1 < end && close[1] == ':' ? close + 2 : NULL;
	} else {
		port = memchr(from, ':', len);
		host_len = port ? (size_t)(port - from) : len;
		port = port ? port + 1 : NULL;
	}
	if (!host_len)
		return err_set(err, EINVAL, "store URL: expected a host after %s[USER@]", SCHEME);
	for (const char *p = port; p && p < end; p++)
		if (!isdigit((unsigned char)*p))
			return err_set(err, EINVAL, "store URL: port: expected a number");
	ret = url_append(&u->hosts, host, host_len);
	if (ret == 0 && port && port < end)
		ret = url_append(&u->ports, port, (size_t)(end - port));
	else if (ret == 0)
		ret = url_append(&u->ports, DEFAULT_PORT, strlen(DEFAULT_PORT));
	return ret < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int url_hosts(struct cluster_url *u, const char *from, size_t len, struct err *err)
{
	int ret = 0;

	for (const char *end = from + len; ret == 0; from++) {
		const char *comma = memchr(from, ',', (size_t)(end - from));
		size_t one = comma ? (size_t)(comma - from) : (size_t)(end - from);

		ret = url_host(u, from, one, err);
		from += one;
		if (!comma)
			break;
	}
	return ret;
}

static int url_parameter(struct cluster_url *u, const char *from, size_t len, struct err *err)
{
	const char *equals = memchr(from, '=', len);
	size_t name = equals ? (size_t)(equals - from) : len;

	for (size_t i = 0; i < sizeof(url_fields) / sizeof(url_fields[0]); i++) {
		if (strlen(url_fields[i].name) != name ||
		    memcmp(url_fields[i].name, from, name) != 0)
			continue;
		if (!equals || name + 1 == len)
			return err_set(err, EINVAL, "store URL: %s: expected a value",
				       url_fields[i].name);
		return url_set((char **)((char *)u + url_fields[i].offset), url_fields[i].name,
			       equals + 1, len - name - 1, err);
	}
	return err_set(err, EINVAL,
		       "store URL: expected objects, keys, region, ca, sslmode, sslrootcert, "
		       "sslcert, sslkey or passfile after the question mark, got '%.*s'",
		       (int)(name > 40 ? 40 : name), from);
}

static int url_parameters(struct cluster_url *u, const char *from, struct err *err)
{
	int ret = 0;

	while (ret == 0 && *from) {
		size_t len = strcspn(from, "&");

		ret = url_parameter(u, from, len, err);
		from += len + (from[len] == '&');
	}
	return ret;
}

/* Checks the scheme, the host and at least the bucket, and drops a slash at the end. */
static int url_check_objects(struct cluster_url *u, struct err *err)
{
	const char *rest;
	size_t len;

	if (!u->objects)
		return err_set(err, EINVAL,
			       "store URL: expected ?objects=https://HOST:PORT/BUCKET at its end");
	len = strlen(u->objects);
	while (len && u->objects[len - 1] == '/')
		u->objects[--len] = '\0';
	rest = strncmp(u->objects, "https://", 8) == 0	? u->objects + 8
	       : strncmp(u->objects, "http://", 7) == 0 ? u->objects + 7
							: NULL;
	if (!rest || !strchr(rest, '/') || rest[0] == '/')
		return err_set(err, EINVAL,
			       "store URL: objects: expected https://HOST:PORT/BUCKET");
	if (memchr(rest, '@', strcspn(rest, "/")))
		return err_set(
			err, EINVAL,
			"store URL: objects: expected no keys in it; they come from the file "
			"that keys= names, or from the environment");
	if (strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			 "-._:/[]") != strlen(rest))
		return err_set(err, EINVAL,
			       "store URL: objects: expected letters, digits, '-', '.', '_' and "
			       "'/' only");
	return 0;
}

int cluster_url_parse(struct cluster_url *out, const char *text, struct err *err)
{
	const char *at, *slash, *question;
	size_t len;
	int ret = 0;

	*out = (struct cluster_url){ 0 };
	if (!cluster_url_is(text) || strlen(text) > CLUSTER_URL_MAX)
		return err_set(err, EINVAL, "store URL: expected %s... of at most %d bytes", SCHEME,
			       CLUSTER_URL_MAX);
	text += strlen(SCHEME);
	len = strcspn(text, "/?");
	slash = text[len] == '/' ? text + len : NULL;
	question = strchr(text, '?');
	at = memchr(text, '@', len);
	if (at && memchr(text, ':', (size_t)(at - text)))
		return err_set(err, EINVAL,
			       "store URL: expected no password in it; it comes from PGPASSWORD, "
			       "~/.pgpass or the file that passfile= names");
	if (!slash || !slash[1] || slash[1] == '?')
		return err_set(err, EINVAL, "store URL: expected /DATABASE after the host");
	if (at)
		ret = url_set(&out->user, "user", text, (size_t)(at - text), err);
	at = at ? at + 1 : text;
	if (ret == 0)
		ret = url_hosts(out, at, (size_t)(slash - at), err);
	if (ret == 0)
		ret = url_set(&out->database, "database", slash + 1,
			      question ? (size_t)(question - slash - 1) : strlen(slash + 1), err);
	if (ret == 0 && question)
		ret = url_parameters(out, question + 1, err);
	return ret == 0 ? url_check_objects(out, err) : ret;
}
