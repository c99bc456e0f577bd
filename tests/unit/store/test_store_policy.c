/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/ask/store_policy.h"
#include "tests/support/tap.h"

#define NR_TENANTS 10000
#define NR_OWNERS  300
#define NR_LETTERS 3 /* so few that many patterns have the same hosts */

static int parse(struct store_policies *p, const char *words, struct err *err)
{
	struct buf text;
	int ret;

	*p = (struct store_policies){ .nr = 0 };
	buf_init(&text);
	buf_put(&text, words, strlen(words));
	ret = store_policies_parse(p, "policies", &text, err);
	buf_release(&text);
	return ret;
}

static const char *tenant_of(const struct store_policies *p, const char *host)
{
	const struct store_policy *one = store_policies_find(p, host);

	return one ? one->tenant : "none";
}

static void the_first_entry_that_names_a_host_is_its_policy(void)
{
	struct store_policies p;
	struct err err = { 0 };

	ok_int(parse(&p,
		     "policies:\n"
		     "  - {tenant: one, hosts: [web7, db*]}\n"
		     "  - {tenant: web, hosts: [web*, w]}\n"
		     "  - {tenant: rest, hosts: ['*']}\n",
		     &err),
	       0);
	ok_str(tenant_of(&p, "web7"), "one");
	ok_str(tenant_of(&p, "db"), "one");
	ok_str(tenant_of(&p, "web"), "web");
	ok_str(tenant_of(&p, "web71"), "web");
	ok_str(tenant_of(&p, "w"), "web");
	ok_str(tenant_of(&p, "we"), "rest");
	store_policies_release(&p);
	ok_str(tenant_of(&p, "web7"), "none");
}

/* A file with such an entry says something else than its author believes. */
static void hosts_that_an_entry_above_has_are_refused(void)
{
	static const struct {
		const char *hosts, *why;
	} wrong[] = {
		{ "[web7]", "hosts: web7 is among those of acme above" },
		{ "[x, mail1]", "hosts: mail1 is among those of acme above" },
		{ "[web7*]", "hosts: web7* is among those of acme above" },
		{ "['web*']", "hosts: web* is among those of acme above" },
	};
	static const char *const right[] = { "['*']", "['mail1*', 'we*', mail]", "[x, 'x*', x]" };

	for (size_t i = 0; i < TAP_NR(wrong) + TAP_NR(right); i++) {
		bool is_wrong = i < TAP_NR(wrong);
		const char *hosts = is_wrong ? wrong[i].hosts : right[i - TAP_NR(wrong)];
		struct store_policies p;
		struct err err = { 0 };
		char text[256];

		snprintf(text, sizeof(text),
			 "policies:\n  - {tenant: acme, hosts: [mail1, 'web*']}\n"
			 "  - {tenant: b, hosts: %s}\n",
			 hosts);
		ok_int(parse(&p, text, &err), is_wrong ? -EINVAL : 0);
		if (is_wrong)
			ok(strstr(err.line, wrong[i].why) != NULL);
		store_policies_release(&p);
	}
}

static void a_tenant_has_the_name_of_a_word(void)
{
	static const char *const wrong[] = { "'a*'", "'a b'", "\"a\\nb\"", "''", "../a" };

	for (size_t i = 0; i < TAP_NR(wrong); i++) {
		struct store_policies p;
		struct err err = { 0 };
		char text[128];

		snprintf(text, sizeof(text), "policies:\n  - {tenant: %s, hosts: [x]}\n", wrong[i]);
		ok_int(parse(&p, text, &err), -EINVAL);
		ok(strstr(err.line, "tenant: expected") != NULL);
		store_policies_release(&p);
	}
}

static void ten_thousand_tenants_have_each_their_own(void)
{
	struct store_policies p = { .nr = 0 };
	struct err err = { 0 };
	char host[64], tenant[64];
	struct buf text;

	buf_init(&text);
	buf_printf(&text, "policies:\n");
	for (int i = 0; i < NR_TENANTS; i++)
		buf_printf(&text, "  - {tenant: t%05d, hosts: [t%05d-*, db%d], sample: 5}\n", i, i,
			   i);
	if (ok_int(store_policies_parse(&p, "policies", &text, &err), 0)) {
		size_t nr_wrong = 0;

		for (int i = 0; i < NR_TENANTS; i++) {
			snprintf(tenant, sizeof(tenant), "t%05d", i);
			snprintf(host, sizeof(host), "t%05d-web%d", i, i);
			nr_wrong += strcmp(tenant_of(&p, host), tenant) != 0;
			snprintf(host, sizeof(host), "db%d", i);
			nr_wrong += strcmp(tenant_of(&p, host), tenant) != 0;
		}
		ok_eq(nr_wrong, 0);
		ok_str(tenant_of(&p, "other"), "none");
	}
	store_policies_release(&p);
	buf_release(&text);
}

static void random_word(char *out, size_t longest)
{
	size_t len = (size_t)rand() % longest + 1;

	for (size_t i = 0; i < len; i++)
		out[i] = (char)('a' + rand() % NR_LETTERS);
	out[len] = '\0';
}

/* The literal way looks at one pattern after the other. */
static void patterns_are_found_as_one_by_one(void)
{
	static char patterns[NR_OWNERS][SEGMENT_NAME_BYTES];
	struct host_patterns p = { 0 };
	size_t nr_wrong = 0, nr_found = 0;
	char word[SEGMENT_NAME_BYTES];

	srand(7);
	for (uint32_t i = 0; i < NR_OWNERS; i++) {
		random_word(word, 6);
		snprintf(patterns[i], sizeof(patterns[i]), "%.6s%s", word, rand() % 3 ? "" : "*");
		ok_int(host_patterns_add(&p, patterns[i], i), 0);
	}
	for (int k = 0; k < 20000; k++) {
		uint32_t first = HOST_PATTERNS_NONE;

		random_word(word, 8);
		for (uint32_t i = NR_OWNERS; i-- > 0;)
			if (segment_hosts_match(patterns[i], word))
				first = i;
		nr_wrong += host_patterns_find(&p, word) != first;
		nr_found += first != HOST_PATTERNS_NONE;
	}
	ok_eq(nr_wrong, 0);
	ok(nr_found > 1000);
	ok_eq(host_patterns_cover(&p, "*"), HOST_PATTERNS_NONE);
	host_patterns_release(&p);
}

static const struct tap_test tests[] = {
	{ "the first entry that names a host is its policy",
	  the_first_entry_that_names_a_host_is_its_policy },
	{ "hosts that an entry above has are refused", hosts_that_an_entry_above_has_are_refused },
	{ "a tenant has the name of a word", a_tenant_has_the_name_of_a_word },
	{ "ten thousand tenants have each their own", ten_thousand_tenants_have_each_their_own },
	{ "patterns are found as one by one", patterns_are_found_as_one_by_one },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
