/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles read and written on a machine that runs out of memory: each allocation is made to fail,
 * one after another, alone or with all that follow it. The allocator's functions are defined here,
 * before those of the C library; under a sanitizer only those of the JSON library fail.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/file.h"
#include "formats/profile/profile.h"
#include "tests/support/tap.h"

static long nr_left = -1; /* allocations that still succeed; below 0: all */

static bool fails_once; /* later allocations succeed again */

static bool is_scarce(void)
{
	if (nr_left < 0)
		return false;
	if (nr_left) {
		nr_left--;
		return false;
	}
	nr_left = fails_once ? -1 : 0;
	errno = ENOMEM;
	return true;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
static void *scarce_malloc(size_t nr)
{
	return is_scarce() ? NULL : malloc(nr);
}

static void make_scarce(void)
{
	json_set_alloc_funcs(scarce_malloc, free);
}
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return is_scarce() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return is_scarce() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return is_scarce() ? NULL : __libc_realloc(p, size);
}

static void make_scarce(void)
{
}
#endif

/* Reads the text with ever more memory. Returns how often its want was told as another error. */
static long read_in_want(const struct buf *text, struct profile *q, long *nr_failed)
{
	long nr_wrong = 0;
	struct err err;
	int ret = -1;

	*nr_failed = 0;
	for (long nr = 0; ret && nr < 100000; nr++) {
		err = (struct err){ 0 };
		nr_left = nr;
		ret = profile_from_json((const char *)text->data, text->len, q, &err);
		nr_left = -1;
		*nr_failed += ret != 0;
		if (ret && (ret != -ENOMEM || strcmp(err.line, "profile: out of memory") != 0))
			nr_wrong++;
	}
	ok_int(ret, 0);
	tap_note("%ld allocations failed, each with all that follow it", *nr_failed);
	return nr_wrong;
}

/*
 * Without memory the JSON library reports a wrong token at some allocations. A profile that is
 * taken for a wrong one would have its whole segment refused for good.
 */
static void no_memory_is_no_wrong_profile(void)
{
	struct buf text = { 0 };
	struct profile p, q;
	struct err err;
	long nr_failed;

	profile_init(&p);
	profile_init(&q);
	snprintf(p.host, sizeof(p.host), "web1");
	p.end_s = 1;
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &text), 0);
	ok_eq((uint64_t)read_in_want(&text, &q, &nr_failed), 0);
	ok_str(q.host, "web1");
	ok(nr_failed > 50);
	errno = ENOMEM; /* of an earlier failure */
	ok_int(profile_from_json("{", 1, &q, &err), -EINVAL);
	profile_release(&q);
	profile_release(&p);
	buf_release(&text);
}

/* A profile with everything that one can have: histograms, lists, details of its source. */
static void no_memory_is_no_wrong_list(void)
{
	struct buf text = { 0 };
	struct profile q;
	long nr_failed;

	profile_init(&q);
	if (!ok_int(file_read("tests/fuzz/corpus/profile/example", 1u << 20, &text, NULL), 0))
		return;
	ok_eq((uint64_t)read_in_want(&text, &q, &nr_failed), 0);
	ok_str(q.host, "web1");
	ok(nr_failed > 200);
	profile_release(&q);
	buf_release(&text);
}

static void no_memory_is_no_wrong_detail(void)
{
	long nr_wrong = 0, nr_failed = 0;
	struct profile p;
	int ret = -1;

	profile_init(&p);
	ok_int(profile_set_detail(&p, "first", "{\"a\": [1, 2, \"three\"]}"), 0);
	for (long nr = 0; ret && nr < 1000; nr++) {
		nr_left = nr;
		ret = profile_set_detail(&p, "second", "{\"b\": {\"c\": 1.5}}");
		nr_left = -1;
		nr_failed += ret != 0;
		nr_wrong += ret && ret != -ENOMEM;
	}
	ok_int(ret, 0);
	ok(nr_failed > 5);
	ok_eq((uint64_t)nr_wrong, 0);
	errno = ENOMEM;
	ok_int(profile_set_detail(&p, "third", "{"), -EINVAL);
	ok_int(profile_set_detail(&p, "third", "[]"), -EINVAL);
	ok_str(p.source_detail,
	       "{\"first\":{\"a\":[1,2,\"three\"]},\"second\":{\"b\":{\"c\":1.5}}}");
	profile_release(&p);
}

/* A detail for which there was no memory was written as null, as if the source had none. */
static void no_memory_writes_no_wrong_profile(void)
{
	struct buf whole = { 0 }, text = { 0 };
	long nr_wrong = 0, nr_failed = 0;
	bool has_all = false;
	struct profile p;
	int ret = -1;

	profile_init(&p);
	ok_int(profile_set_detail(&p, "first", "{\"a\": [1, 2, \"three\"]}"), 0);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &whole), 0);
	fails_once = true;
	for (long nr = 0; !has_all && nr < 100000; nr++) {
		buf_clear(&text);
		nr_left = nr;
		ret = profile_to_json(&p, PROFILE_JSON_LINE, &text);
		has_all = nr_left >= 0;
		nr_left = -1;
		nr_failed += ret != 0;
		nr_wrong += ret ? ret != -ENOMEM
				: text.len != whole.len || memcmp(text.data, whole.data, whole.len);
	}
	fails_once = false;
	ok_int(ret, 0);
	ok(nr_failed > 10);
	ok_eq((uint64_t)nr_wrong, 0);
	buf_release(&text);
	buf_release(&whole);
	profile_release(&p);
}

/*
 * A trace that rests for a year has a profile of 6 KiB for each of tens of thousands of idle
 * periods, which took most of a minute as trees of JSON values.
 */
static void writing_takes_no_memory(void)
{
	struct buf whole = { 0 }, text = { 0 };
	struct profile p;

	if (!ok_int(file_read("tests/fuzz/corpus/profile/example", 1u << 20, &whole, NULL), 0))
		return;
	profile_init(&p);
	ok_int(profile_from_json((const char *)whole.data, whole.len, &p, NULL), 0);
	free(p.source_detail); /* JSON of any shape, which is read before it is written */
	p.source_detail = NULL;
	ok_int(buf_reserve(&text, 1u << 20), 0);
	nr_left = 0;
	for (int style = PROFILE_JSON_LINE; style <= PROFILE_JSON_PRETTY; style++)
		ok_int(profile_to_json(&p, (enum profile_json_style)style, &text), 0);
	nr_left = -1;
	ok(text.len > 2 * 3000);
	profile_release(&p);
	buf_release(&text);
	buf_release(&whole);
}

static const struct tap_test tests[] = {
	{ "a profile for which there is no memory is not taken for a wrong one",
	  no_memory_is_no_wrong_profile },
	{ "nor is one with histograms, lists and details", no_memory_is_no_wrong_list },
	{ "nor is a detail that is added to a profile", no_memory_is_no_wrong_detail },
	{ "a profile for which there is no memory is not written without its detail",
	  no_memory_writes_no_wrong_profile },
	{ "a profile is written without any memory but that of its text", writing_takes_no_memory },
};

int main(void)
{
	make_scarce();
	return tap_run(tests, TAP_NR(tests));
}
