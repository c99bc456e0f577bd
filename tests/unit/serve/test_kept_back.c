/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyzer/serve/http/kept_back.h"
#include "tests/support/tap.h"

#define NR_HOSTS 1000

static bool has_line(const struct buf *text, const char *line)
{
	const char *at = strstr((const char *)text->data, line);

	return at && at[strlen(line)] == '\n';
}

/* Agents may name any number of hosts, and a database of metrics keeps each for ever. */
static void a_fleet_of_any_size_has_a_bounded_number_of_series(void)
{
	struct kept_back *k = NULL;
	size_t nr_lines = 0;
	char host[32];
	struct buf text;

	buf_init(&text);
	ok_int(kept_back_new(&k), 0);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < NR_HOSTS; i++) {
			snprintf(host, sizeof(host), "h%d", i * 7919 % NR_HOSTS);
			kept_back_count(k, host, 10);
		}
	kept_back_count(k, "idle", 0);
	kept_back_print(k, &text);
	buf_put_u8(&text, 0);
	for (size_t i = 0; i < text.len; i++)
		nr_lines += text.data[i] == '\n';
	ok_eq(nr_lines, 2 * (2 + KEPT_BACK_HOSTS + 1));
	ok(has_line(&text, "blkcast_serve_kept_back_segments_total{host=\"h0\"} 2"));
	ok(has_line(&text, "blkcast_serve_kept_back_requests_total{host=\"h0\"} 20"));
	ok(has_line(&text, "blkcast_serve_kept_back_segments_total{host=\"\"} 1800"));
	ok(!strstr((const char *)text.data, "idle"));
	kept_back_free(k);
	kept_back_free(NULL);
	buf_release(&text);
}

static const struct tap_test tests[] = {
	{ "a fleet of any size has a bounded number of series",
	  a_fleet_of_any_size_has_a_bounded_number_of_series },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
