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

/* right: the word behind the hash, or "" */
static void put_line_right(FILE *f, const char *owner, const char *token, const char *right)
{
	uint8_t hash[32];

	gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), hash);
	fprintf(f, "%s ", owner);
	for (size_t i = 0; i < sizeof(hash); i++)
		fprintf(f, "%02x", hash[i]);
	fprintf(f, " %s\n", right);
}

static void put_line(FILE *f, const char *owner, const char *token)
{
	put_line_right(f, owner, token, "");
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
	ok_str(who.owner, "ape*"); /* the least of the names */
	ok(!who.may_keep);
	access_free(a);
}

/* A token in several lines has the right to what agents keep back if each of them gives it. */
static void a_right_stands_in_each_line(void)
{
	static const struct {
		const char *token, *first, *second;
		bool may_keep;
	} cases[] = { { "both", "keep", "keep", true },
		      { "first", "keep", "", false },
		      { "second", "", "keep", false },
		      { "none", "", "", false } };
	char path[] = "/tmp/blkcast-test.XXXXXX", header[64];
	struct access_config config = { .tokens = path };
	struct access_identity who;
	struct access *a = NULL;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!ok(f != NULL))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_line_right(f, "web1", cases[i].token, cases[i].first);
		put_line_right(f, "web2", cases[i].token, cases[i].second);
	}
	fclose(f);
	ok_int(access_new(&a, &config, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(header, sizeof(header), "Bearer %s", cases[i].token);
		access_by_token(a, header, &who);
		ok_eq(who.nr, 2);
		ok_str(who.owner, "web1");
		ok(who.may_keep == cases[i].may_keep);
	}
	access_by_token(a, "Bearer unknown", &who);
	ok(!who.may_keep);
	access_free(a);
	unlink(path);
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
	{ "a right stands in each line of its token", a_right_stands_in_each_line },
	{ "the lines of one token keep their order", the_lines_of_one_token_keep_their_order },
	{ "an unknown token stands for no host", an_unknown_token_stands_for_no_host },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
