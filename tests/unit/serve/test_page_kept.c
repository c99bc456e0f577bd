// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/serve/period/page_kept.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

static void a_level_is_bounded(void)
{
	const char *dir = sample_folder();
	struct page_kept *k = NULL;
	uint8_t data[1000];
	char path[4096];
	struct buf out;
	int nr = 0;

	buf_init(&out);
	ok_int(page_kept_open(&k, dir), 0);
	page_kept_bound(k, 20000);
	for (uint64_t key = 0; key < 100; key++) {
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)((key * 7919 + i * i * 104729) >> 5);
		page_kept_put(k, &(struct page_kept_item){ key, key == 0, data, sizeof(data) }, 1);
		nr += page_kept_get(k, key, &out) && out.len == sizeof(data) &&
		      memcmp(out.data, data, sizeof(data)) == 0;
	}
	ok_int(nr, 100);
	ok(page_kept_has(k, 0)); /* of the other level, which has room */
	ok(!page_kept_has(k, 1) && !page_kept_get(k, 50, &out));
	page_kept_close(k);
	ok_int(page_kept_open(&k, dir), 0);
	ok(page_kept_has(k, 99) && !page_kept_has(k, 1));
	page_kept_close(k);
	/* A damaged file is made again, and what is no folder gets a temporary file. */
	snprintf(path, sizeof(path), "%s/page.sqlite", dir);
	sample_write(path, data, sizeof(data));
	for (int i = 0; i < 2; i++) {
		ok_int(page_kept_open(&k, i ? "https://store.example/a" : dir), 0);
		ok(!page_kept_has(k, 99));
		page_kept_put(k, &(struct page_kept_item){ 5, 0, "five", 4 }, 1);
		ok(page_kept_get(k, 5, &out) && out.len == 4 && memcmp(out.data, "five", 4) == 0);
		page_kept_close(k);
	}
	buf_release(&out);
	sample_remove(dir);
}

static void each_file_has_a_secret(void)
{
	const char *dir = sample_folder();
	struct page_kept *k = NULL, *other = NULL;
	uint64_t secret;

	ok_int(page_kept_open(&k, dir), 0);
	ok_int(page_kept_open(&other, ""), 0);
	secret = page_kept_secret(k);
	ok(secret != page_kept_secret(other));
	page_kept_close(other);
	page_kept_close(k);
	ok_int(page_kept_open(&k, dir), 0);
	ok_eq(page_kept_secret(k), secret);
	page_kept_close(k);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "what is kept is bounded, and made again where it is damaged", a_level_is_bounded },
	{ "each file has a secret of its own, which stays", each_file_has_a_secret },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
