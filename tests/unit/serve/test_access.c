/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/serve/access/access.h"
#include "tests/support/tap.h"

#define NR_TOKENS 5000

static unsigned long nr_comparisons;

/* This definition takes the place of the library's own, and counts its calls. */
int gnutls_memcmp(const void *a, const void *b, size_t len)
{
	nr_comparisons++;
	return memcmp(a, b, len);
}

static void put_line(FILE *f, const char *owner, const char *token)
{
	uint8_t hash[32];

	gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), hash);
	fprintf(f, "%s ", owner);
	for (size_t i = 0; i < sizeof(hash); i++)
		fprintf(f, "%02x", hash[i]);
	fputc('\n', f);
}

/* The hosts h0, h1, ... with the tokens token-0, token-1, ...; and a token that has three lines. */
static struct access *access_of_many(size_t nr)
{
	char path[] = "/tmp/blkcast-test.XXXXXX", owner[32], token[32];
	struct access_config config = { .tokens = path };
	struct access *a = NULL;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return NULL;
	put_line(f, "zoo", "shared");
	for (size_t i = 0; i < nr; i++) {
		snprintf(owner, sizeof(owner), "h%zu", i);
		snprintf(token, sizeof(token), "token-%zu", i);
		put_line(f, owner, token);
		if (i == nr / 2)
			put_line(f, "ape*", "shared");
	}
	put_line(f, "bee", "shared");
	fclose(f);
	ok_int(access_new(&a, &config, NULL), 0);
	unlink(path);
	return a;
}

static void a_token_is_found_by_few_comparisons(void)
{
	struct access *a = access_of_many(NR_TOKENS);
	char header[64], host[32];
	struct access_identity who;
	size_t nr_wrong = 0;

	nr_comparisons = 0;
	for (size_t i = 0; i < NR_TOKENS; i++) {
		snprintf(header, sizeof(header), "Bearer token-%zu", i);
		snprintf(host, sizeof(host), "h%zu", i);
		access_by_token(a, header, &who);
		nr_wrong += who.nr != 1 || strcmp(who.hosts[0], host) != 0;
	}
	ok_eq(nr_wrong, 0);
	ok(nr_comparisons <= 2 * NR_TOKENS);
	access_free(a);
}

static void the_lines_of_one_token_keep_their_order(void)
{
	struct access *a = access_of_many(100);
	struct access_identity who;

	access_by_token(a, "Bearer shared", &who);
	ok_eq(who.nr, 3);
	ok_str(who.hosts[0], "zoo");
	ok_str(who.hosts[1], "ape*");
	ok_str(who.hosts[2], "bee");
	access_free(a);
}

static void an_unknown_token_stands_for_no_host(void)
{
	static const char *const wrong[] = { "Bearer token-100", "Bearer token-", "Bearer ",
					     "token-1", "Bearer Token-1" };
	struct access *a = access_of_many(100), *empty;
	struct access_identity who;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		access_by_token(a, wrong[i], &who);
		ok_eq(who.nr, 0);
	}
	access_by_token(a, NULL, &who);
	ok_eq(who.nr, 0);
	access_free(a);
	empty = access_of_many(0);
	access_by_token(empty, "Bearer token-0", &who);
	ok_eq(who.nr, 0);
	access_free(empty);
}

static const struct tap_test tests[] = {
	{ "a token is found by few comparisons, however many there are",
	  a_token_is_found_by_few_comparisons },
	{ "the lines of one token keep their order", the_lines_of_one_token_keep_their_order },
	{ "an unknown token stands for no host", an_unknown_token_stands_for_no_host },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
