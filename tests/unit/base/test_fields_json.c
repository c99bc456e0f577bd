// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/fields_json.h"
#include "base/data/fields_schema.h"
#include "tests/support/tap.h"

struct shelf {
	double low, high;
};

struct rack {
	unsigned int policy;
	uint64_t seed;
	uint32_t depth;
	char name[8];
	char *owner;
	bool locked, has_top;
	double rate, pair[2];
	struct shelf top, shelves[3];
	size_t nr_shelves;
	size_t nr_codes;
	uint32_t *codes;
	double *weights; /* as many as there are codes */
};

static const char *const policies[] = { "fcfs", "ps", NULL };
static const char *const kinds[] = { "rack", NULL };

#define AT(type, member) .offset = offsetof(struct type, member)

static const char *shelf_check(const void *from)
{
	const struct shelf *s = from;

	return s->low <= s->high ? NULL : "low: expected no more than high";
}

static const struct field shelf_fields[] = {
	FIELD(NUMBER, "low", AT(shelf, low), .low = -INFINITY, .null = -INFINITY, .required = true),
	FIELD(NUMBER, "high", AT(shelf, high), .low = -INFINITY, .null = INFINITY,
	      .required = true),
	{ 0 },
};
static const struct fields shelf_table = { .name = "shelf",
					   .fields = shelf_fields,
					   .closed = true,
					   .check = shelf_check };
static const struct field shelf_item = FIELD(STRUCT, NULL, .of = &shelf_table);
static const struct field number_item = FIELD(NUMBER, NULL, .high = 9);
static const struct field tuple_items[] = {
	FIELD(COUNT, NULL, AT(rack, depth), .room = 4, .low = 1),
	FIELD(NUMBER, NULL, AT(rack, rate), .null = NAN),
	{ 0 },
};
static const struct field code_item = FIELD(COUNT, NULL, .room = 4);
static const struct field rack_fields[] = {
	FIELD(LIST, "weights", AT(rack, weights), .item = &number_item, .stride = sizeof(double),
	      .owned = true, .count = offsetof(struct rack, nr_codes), .counted = true,
	      .late = true),
	FIELD(LIST, "codes", AT(rack, codes), .item = &code_item, .stride = sizeof(uint32_t),
	      .owned = true, .count = offsetof(struct rack, nr_codes), .low = 1),
	FIELD(WORD, "kind", .words = kinds, .constant = true, .required = true),
	FIELD(WORD, "policy", AT(rack, policy), .words = policies, .required = true),
	FIELD(COUNT, "seed", AT(rack, seed), .low = -INFINITY),
	FIELD(TUPLE, "limit", .item = tuple_items),
	FIELD(TEXT, "name", AT(rack, name), .room = 8),
	FIELD(TEXT, "owner", AT(rack, owner)),
	FIELD(FLAG, "locked", AT(rack, locked)),
	FIELD(LIST, "pair", AT(rack, pair), .item = &number_item, .stride = sizeof(double),
	      .low = 2),
	FIELD(STRUCT, "top", AT(rack, top), .of = &shelf_table,
	      .flag = offsetof(struct rack, has_top)),
	FIELD(LIST, "shelves", AT(rack, shelves), .item = &shelf_item,
	      .stride = sizeof(struct shelf), .count = offsetof(struct rack, nr_shelves),
	      .high = 3),
	{ 0 },
};
static const struct fields rack_table = { .title = "A rack", .fields = rack_fields };

static struct err err;

static int read_rack(struct rack *rack, const char *text)
{
	struct fields_json r = { .err = &err };
	json_t *root = json_loads(text, 0, NULL);
	int ret;

	*rack = (struct rack){ 0 };
	err = (struct err){ 0 };
	ret = fields_json_read(&r, &rack_table, root, rack);
	json_decref(root);
	return ret;
}

static void rack_release(struct rack *rack)
{
	free(rack->owner);
	free(rack->codes);
	free(rack->weights);
}

/* What null cannot stand for is not written, since it could not be read again. */
static void numbers_that_are_not_finite_are_not_written(void)
{
	struct rack rack = { .owner = (char *)"me", .pair = { NAN, 1 } };
	json_t *out;

	ok_int(fields_json_make(&rack_table, &rack, &out, &err), -EDOM);
	ok(!out);
	ok_str(err.line, "a number is not finite, so that a file with it could not be read");
}

static void what_was_written_is_read_again(void)
{
	static const char *const texts[] = {
		"{\"weights\":[0.5,1.0],\"codes\":[7,8],\"kind\":\"rack\",\"policy\":\"ps\",\"seed\":-5,\"limit\":[4294967295,null],"
		"\"name\":\"ab\",\"owner\":\"me\",\"locked\":true,\"pair\":[0.5,9.0],"
		"\"top\":{\"low\":null,\"high\":1.0},"
		"\"shelves\":[{\"low\":1.0,\"high\":null},{\"low\":null,\"high\":null}]}",
		"{\"weights\":[],\"kind\":\"rack\",\"policy\":\"fcfs\",\"seed\":0,\"limit\":[1,0.25],"
		"\"name\":\"ab\",\"owner\":\"me\",\"locked\":false,\"pair\":[0.0,1.0],"
		"\"shelves\":[]}",
	};

	for (size_t i = 0; i < TAP_NR(texts); i++) {
		struct rack rack;
		json_t *out = NULL;
		char *text;

		ok_int(read_rack(&rack, texts[i]), 0);
		ok(rack.has_top == !i);
		ok_int(fields_json_write(&rack_table, &rack, &out), 0);
		text = json_dumps(out, JSON_COMPACT);
		ok_str(text, texts[i]);
		free(text);
		json_decref(out);
		rack_release(&rack);
	}
}

/* Programs write more keys from version to version, and whole numbers may have a decimal point. */
static void later_files_are_read(void)
{
	struct rack rack;

	ok_int(read_rack(&rack, "{\"policy\": \"ps\", \"more\": {}, \"limit\": [3.0, 1, 7],"
				" \"pair\": [1, 2, 3]}"),
	       0);
	ok(rack.depth == 3 && rack.rate == 1 && rack.pair[1] == 2 && !rack.has_top);
}

static void says_where_and_what_was_expected(void)
{
	static const char *const cases[][2] = {
		{ "[]", "expected an object" },
		{ "{}", "policy: missing: expected fcfs or ps" },
		{ "{\"polcy\": \"ps\"}",
		  "policy: missing: expected fcfs or ps; did you mean this by "
		  "\"polcy\"?" },
		{ "{\"policy\": \"lifo\"}", "policy: expected fcfs or ps" },
		{ "{\"policy\": 1}", "policy: expected fcfs or ps" },
		{ "{\"policy\": \"ps\", \"seed\": 0.5}", "seed: expected a whole number" },
		{ "{\"policy\": \"ps\", \"seed\": 1e300}", "seed: expected a whole number" },
		{ "{\"policy\": \"ps\", \"limit\": [4294967296, 1]}",
		  "limit[0]: expected a whole number of 1 or more" },
		{ "{\"policy\": \"ps\", \"limit\": [1, \"x\"]}",
		  "limit[1]: expected a number of 0 or more or null" },
		{ "{\"policy\": \"ps\", \"limit\": [1]}", "limit: expected a list" },
		{ "{\"policy\": \"ps\", \"name\": \"12345678\"}",
		  "name: expected a text of 1 to 7 bytes" },
		{ "{\"policy\": \"ps\", \"owner\": \"\"}", "owner: expected a text" },
		{ "{\"policy\": \"ps\", \"locked\": 1}", "locked: expected true or false" },
		{ "{\"policy\": \"ps\", \"pair\": [1]}", "pair: expected a list of 2 or more" },
		{ "{\"policy\": \"ps\", \"pair\": [1, 10]}",
		  "pair[1]: expected a number from 0 to 9" },
		{ "{\"policy\": \"ps\", \"top\": 1}", "top: expected an object" },
		{ "{\"policy\": \"ps\", \"top\": {\"low\": 1, \"high\": 0}}",
		  "top: low: expected no more than high" },
		{ "{\"policy\": \"ps\", \"shelves\": [{\"low\": 0, \"high\": 1}, {\"low\": 0}]}",
		  "shelves[1]: high: missing: expected a number" },
		{ "{\"policy\": \"ps\", \"shelves\": [{\"low\": 0, \"high\": 1, \"hihg\": 1}]}",
		  "shelves[0]: unknown key \"hihg\"" },
		{ "{\"policy\": \"ps\", \"weights\": [1], \"codes\": [1, 2]}",
		  "weights: expected a list of 2, got 1" },
		{ "{\"policy\": \"ps\", \"codes\": []}", "codes: expected a list of 1 or more" },
		{ "{\"policy\": \"ps\", \"codes\": [1, -1]}",
		  "codes[1]: expected a whole number of 0 or more" },
		{ "{\"policy\": \"ps\", \"shelves\": [{}, {}, {}, {}]}",
		  "shelves: expected a list of 0 to 3" },
	};
	struct rack rack;

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok_int(read_rack(&rack, cases[i][0]), -EINVAL);
		ok_str(err.line, cases[i][1]);
		rack_release(&rack);
	}
}

static void its_schema_has_null_and_tuples(void)
{
	json_t *schema = fields_schema(&rack_table);
	const json_t *limit = json_object_get(json_object_get(schema, "properties"), "limit");
	json_t *want = json_pack("{s:s, s:i, s:[{s:s, s:i}, {s:[s, s], s:i}]}", "type", "array",
				 "minItems", 2, "prefixItems", "type", "integer", "minimum", 1,
				 "type", "number", "null", "minimum", 0);

	ok(json_equal(limit, want));
	json_decref(want);
	json_decref(schema);
}

static const struct tap_test tests[] = {
	{ "what a table writes it reads again, to the same text", what_was_written_is_read_again },
	{ "a number that is not finite is not written",
	  numbers_that_are_not_finite_are_not_written },
	{ "unknown keys and longer lists are no error", later_files_are_read },
	{ "what is wrong is named with its path and what was expected",
	  says_where_and_what_was_expected },
	{ "the schema knows null and tuples", its_schema_has_null_and_tuples },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
