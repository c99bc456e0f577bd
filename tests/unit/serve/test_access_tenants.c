/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/access/access_tenants.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_TENANTS 10000
#define NR_FILES   300
#define NR_LINES   4

static void ten_thousand_tenants_have_each_their_own(void)
{
	const char *dir = sample_folder();
	struct access_tenants tenants = { .nr = 0 };
	char path[512], host[64], name[32], hosts[TENANT_MAX_HOSTS][SEGMENT_NAME_BYTES];
	struct err err = { 0 };
	size_t nr_wrong = 0;
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < NR_TENANTS; i++)
		buf_printf(&text, "t%05d t%05d-*,db%d\n", i, i, i);
	snprintf(path, sizeof(path), "%s/tenants", dir);
	sample_write(path, text.data, text.len);
	ok_int(access_tenants_read(path, &tenants, &err), 0);
	for (int i = 0; i < NR_TENANTS && tenants.nr; i++) {
		const struct access_tenant *t;

		snprintf(name, sizeof(name), "t%05d", i);
		snprintf(host, sizeof(host), "t%05d-web%d", i, i);
		t = access_tenants_of(&tenants, host);
		nr_wrong += !t || strcmp(t->name, name) != 0;
		snprintf(host, sizeof(host), "@%s", name);
		nr_wrong += access_tenants_expand(&tenants, host, hosts, TENANT_MAX_HOSTS) != 2;
	}
	ok_eq(nr_wrong, 0);
	ok(!access_tenants_of(&tenants, "other") && !access_tenants_find(&tenants, "t"));
	access_tenants_release(&tenants);
	buf_release(&text);
	sample_remove(dir);
}

/* Whether a line has a host that an earlier one has too, as each pair of patterns says. */
static bool literal_clashes(char (*patterns)[8], int line)
{
	for (int k = 0; k < line; k++)
		if (segment_hosts_match(patterns[line], patterns[k]) ||
		    segment_hosts_match(patterns[k], patterns[line]))
			return true;
	return false;
}

static void a_host_of_two_tenants_is_refused_in_its_line(void)
{
	const char *dir = sample_folder();
	char path[512], want[600], patterns[NR_LINES][8];
	size_t nr_wrong = 0, nr_clashes = 0;

	srand(11);
	snprintf(path, sizeof(path), "%s/tenants", dir);
	for (int file = 0; file < NR_FILES; file++) {
		struct access_tenants tenants = { .nr = 0 };
		struct err err = { 0 };
		bool clashes = false, is_said = false;
		struct buf text;
		int ret;

		buf_init(&text);
		for (int i = 0; i < NR_LINES; i++) {
			int len = rand() % 4 + 1;

			for (int k = 0; k < len; k++)
				patterns[i][k] = (char)('a' + rand() % 2);
			snprintf(patterns[i] + len, 2, "%s", rand() % 3 ? "" : "*");
			buf_printf(&text, "t%d %s\n", i, patterns[i]);
		}
		sample_write(path, text.data, text.len);
		buf_release(&text);
		ret = access_tenants_read(path, &tenants, &err);
		for (int i = 0; i < NR_LINES; i++) {
			snprintf(want, sizeof(want), "%s:%d: a host could belong to ", path, i + 1);
			is_said |= literal_clashes(patterns, i) &&
				   strncmp(err.line, want, strlen(want)) == 0;
			clashes |= literal_clashes(patterns, i);
		}
		nr_wrong += clashes ? ret == 0 || !is_said : ret != 0;
		nr_clashes += clashes;
		access_tenants_release(&tenants);
	}
	ok_eq(nr_wrong, 0);
	ok(nr_clashes > 10 && nr_clashes < NR_FILES - 10);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "ten thousand tenants have each their own", ten_thousand_tenants_have_each_their_own },
	{ "a host of two tenants is refused in its line",
	  a_host_of_two_tenants_is_refused_in_its_line },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
