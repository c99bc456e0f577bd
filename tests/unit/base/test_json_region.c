/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json_region.h"
#include "tests/support/tap.h"

/* The bytes of the heap that are in use, large blocks that come from the system included. */
static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Makes a tree of nr pairs, as a histogram of a profile is one. */
static json_t *tree_of(int nr)
{
	json_t *root = json_object(), *pairs = json_array();

	for (int i = 0; i < nr; i++)
		json_array_append_new(pairs, json_pack("[ii]", i, 2 * i));
	json_object_set_new(root, "buckets", pairs);
	return root;
}

static size_t nr_printed;

static int count_printed(const char *text, size_t nr, void *ctx)
{
	(void)text, (void)ctx;
	nr_printed += nr;
	return 0;
}

static void a_tree_of_the_region_leaves_the_heap_as_it_was(void)
{
	struct json_region region = { .first = NULL };
	size_t before, used;
	json_t *root;

	json_region_enter(&region);
	json_decref(tree_of(2000));
	json_region_leave();
	before = heap_bytes();
	for (int i = 0; i < 50; i++) {
		json_region_enter(&region);
		root = tree_of(2000);
		nr_printed = 0;
		ok_int(json_dump_callback(root, count_printed, NULL, JSON_COMPACT), 0);
		ok(nr_printed > 16000);
		json_decref(root);
		json_region_leave();
	}
	used = heap_bytes();
	ok_eq(used, before);
	ok(json_region_bytes(&region) <= JSON_REGION_KEPT_BYTES);
	json_region_release(&region);
	ok_eq(json_region_bytes(&region), 0);
}

static void a_large_tree_is_whole_and_its_memory_is_given_back(void)
{
	struct json_region region = { .first = NULL };
	json_t *root, *pairs;

	json_region_enter(&region);
	root = tree_of(50000);
	pairs = json_object_get(root, "buckets");
	ok_eq(json_array_size(pairs), 50000);
	for (size_t i = 0; i < json_array_size(pairs); i++)
		if ((size_t)json_integer_value(json_array_get(json_array_get(pairs, i), 1)) !=
		    2 * i)
			ok_eq(i, 50000);
	ok(json_region_bytes(&region) > JSON_REGION_KEPT_BYTES);
	json_decref(root);
	json_region_leave();
	ok(json_region_bytes(&region) <= JSON_REGION_KEPT_BYTES);
	json_region_release(&region);
}

static void values_of_the_heap_live_beside_the_region(void)
{
	struct json_region region = { .first = NULL };
	json_t *old = json_string("made before"), *released = json_string("released within"), *new;

	json_region_enter(&region);
	new = json_string("of the region");
	json_decref(released);
	json_decref(new);
	json_region_leave();
	ok_str(json_string_value(old), "made before");
	json_decref(old);
	json_region_release(&region);
}

static const struct tap_test tests[] = {
	{ "a tree of the region leaves the heap as it was",
	  a_tree_of_the_region_leaves_the_heap_as_it_was },
	{ "a large tree is whole, and its memory is given back",
	  a_large_tree_is_whole_and_its_memory_is_given_back },
	{ "values of the heap live beside the region", values_of_the_heap_live_beside_the_region },
};

int main(void)
{
	json_region_install();
	return tap_run(tests, TAP_NR(tests));
}
