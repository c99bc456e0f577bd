// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/fields.h"
#include "base/data/fields_schema.h"
#include "base/text/word_list.h"
#include "tests/support/tap.h"

struct disk {
	char *device, name[8];
	unsigned int policy;
	bool cached;
	uint64_t depth;
	double rate, low, high;
	size_t nr_parts;
};

static const char *const policies[] = { "fcfs", "ps", NULL };

static int count_part(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *to)
{
	struct disk *d = to;

	if (!strcmp(n->text, "none"))
		return fields_expected(r, f, n);
	d->nr_parts++;
	return 0;
}

static const struct field part_item = { .type = FIELD_TEXT, .read = count_part };
static const struct field tree_fields[];
static const struct fields tree_table = { .name = "tree", .fields = tree_fields };
static const struct field tree_item = { .type = FIELD_STRUCT, .of = &tree_table };
static const struct field tree_fields[] = {
	{ .name = "under", .type = FIELD_LIST, .item = &tree_item },
	{ 0 },
};
static const struct field depth_forms[] = {
	{ .type = FIELD_COUNT, .offset = offsetof(struct disk, depth), .low = 1, .high = 64 },
	{ .type = FIELD_LIST, .item = &part_item },
	{ 0 },
};
static const struct field disk_fields[] = {
	{ .name = "device",
	  .type = FIELD_TEXT,
	  .offset = offsetof(struct disk, device),
	  .required = true },
	{ .name = "name", .type = FIELD_TEXT, .offset = offsetof(struct disk, name), .room = 8 },
	{ .name = "policy",
	  .type = FIELD_WORD,
	  .words = policies,
	  .offset = offsetof(struct disk, policy) },
	{ .name = "cached", .type = FIELD_FLAG, .offset = offsetof(struct disk, cached) },
	{ .name = "depth", .type = FIELD_EITHER, .item = depth_forms, .settable = true },
	{ .name = "rate",
	  .type = FIELD_NUMBER,
	  .offset = offsetof(struct disk, rate),
	  .above = true,
	  .standard = "1",
	  .unit = "s",
	  .help = "a rate" },
	{ .name = "low",
	  .type = FIELD_NUMBER,
	  .offset = offsetof(struct disk, low),
	  .low = -INFINITY,
	  .with = "high" },
	{ .name = "high",
	  .type = FIELD_NUMBER,
	  .offset = offsetof(struct disk, high),
	  .low = -INFINITY,
	  .without = "rate" },
	{ .name = "parts", .type = FIELD_LIST, .item = &part_item, .low = 1, .high = 2, .choice = 1 },
	{ .name = "whole",
	  .type = FIELD_FLAG,
	  .choice = 1,
	  .offset = offsetof(struct disk, cached) },
	{ .name = "tree", .as = &tree_item },
	{ 0 },
};
static const struct fields disk_table = { .title = "A disk", .fields = disk_fields };

static struct disk disk;
static struct err err;

static int read_disk(const char *text, const char *setting)
{
	struct fields_reader r = { .err = &err,
				   .settings = &setting,
				   .nr_settings = setting != NULL,
				   .settings_from = "set" };
	struct yaml_tree *tree = NULL;
	int ret;

	free(disk.device);
	disk = (struct disk){ .depth = 32 };
	err = (struct err){ 0 };
	ok_int(yaml_tree_parse(&tree, "d.yaml", text, strlen(text), &err), 0);
	r.tree = tree;
	ret = fields_check_settings(&r, &disk_table);
	if (!ret)
		ret = fields_read(&r, &disk_table, yaml_tree_root(tree), &disk);
	yaml_tree_free(tree);
	return ret;
}

static void fills_a_struct(void)
{
	ok_int(read_disk(
		       "parts: [a, b]\ndevice: sda\nname: ab\npolicy: ps\ncached: true\nrate: 2.5\n",
		       NULL),
	       0);
	ok_str(disk.device, "sda");
	ok_str(disk.name, "ab");
	ok(disk.policy == 1 && disk.cached && disk.rate == 2.5 && disk.nr_parts == 2);
	ok_eq(disk.depth, 32);
	ok_int(read_disk("{device: sda, whole: false, depth: 4}", NULL), 0);
	ok_eq(disk.depth, 4);
	ok_int(read_disk("{device: sda, whole: false, depth: 4}", "depth=5"), 0);
	ok_eq(disk.depth, 5);
	ok_int(read_disk("{device: sda, whole: false, depth: [a], tree: {under: [{}, {under: []}]}}",
			 NULL),
	       0);
	ok_eq(disk.nr_parts, 1);
}

static void says_what_was_expected(void)
{
	static const char *const cases[][2] = {
		{ "whole: true\n", "d.yaml:1: device: missing: expected a text" },
		{ "device: sda\nwhole: true\npolcy: ps\n",
		  "d.yaml:3: unknown key \"polcy\": expected one of device, name, policy, cached, depth, "
		  "rate, low, high, parts, whole, tree; did you mean \"policy\"?" },
		{ "device: sda\nwhole: true\nzzzzzzzzz: ps\n",
		  "d.yaml:3: unknown key \"zzzzzzzzz\": expected one of device, name, policy, cached, "
		  "depth, rate, low, high, parts, whole, tree" },
		{ "{device: [], whole: true}",
		  "d.yaml:1: device: expected a text, got a list of 0" },
		{ "{device: sda, whole: true,\nname: 12345678}",
		  "d.yaml:2: name: expected a text of 1 to 7 bytes, got '12345678'" },
		{ "{device: sda, whole: true, policy: lifo}",
		  "d.yaml:1: policy: expected fcfs or ps, got 'lifo'" },
		{ "{device: sda, whole: yes}",
		  "d.yaml:1: whole: expected true or false, got 'yes'" },
		{ "{device: sda, whole: true, depth: 65}",
		  "d.yaml:1: depth: expected a whole number from 1 to 64, got '65'" },
		{ "{device: sda, whole: true, depth: 1.5}",
		  "d.yaml:1: depth: expected a whole number from 1 to 64, got '1.5'" },
		{ "{device: sda, whole: true, rate: nan}",
		  "d.yaml:1: rate: expected a number above 0, got 'nan'" },
		{ "{device: sda, whole: true, rate: 0}",
		  "d.yaml:1: rate: expected a number above 0, got '0'" },
		{ "{device: sda, whole: true, low: 1}",
		  "d.yaml:1: low: expected \"high\" beside it" },
		{ "{device: sda, whole: true, high: 1, rate: 2}",
		  "d.yaml:1: \"high\" and \"rate\": expected one of them" },
		{ "device: sda\n", "d.yaml:1: expected either parts or whole" },
		{ "{device: sda, whole: true, parts: [a]}",
		  "d.yaml:1: expected only one of \"whole\" and \"parts\"" },
		{ "{device: sda, parts: [a, b, c]}",
		  "d.yaml:1: parts: expected a list of 1 to 2, got a list of 3" },
		{ "{device: sda, parts: [a, none]}", "d.yaml:1: expected a text, got 'none'" },
		{ "{device: sda, whole: true, depth: {}}",
		  "d.yaml:1: depth: expected a value, got a mapping of 0" },
		{ "[a]", "d.yaml:1: expected a mapping of keys to values" },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok_int(read_disk(cases[i][0], NULL), -EINVAL);
		ok_str(err.line, cases[i][1]);
	}
	ok_int(read_disk("{device: sda, whole: true}", "depth=x"), -EINVAL);
	ok_str(err.line, "set depth: expected a whole number from 1 to 64, got 'x'");
	ok_int(read_disk("{device: sda, whole: true}", "device=x"), -EINVAL);
	ok_str(err.line, "set: expected KEY=VALUE with depth; got 'device=x'");
}

static void writes_its_schema(void)
{
	json_t *schema = fields_schema(&disk_table);
	const json_t *rate = json_object_get(json_object_get(schema, "properties"), "rate");
	json_t *want = json_pack("{s:s, s:i, s:s, s:i}", "type", "number", "exclusiveMinimum", 0,
				 "description", "a rate; in s without a unit", "default", 1);

	ok(json_equal(rate, want));
	ok_str(json_string_value(json_array_get(json_object_get(schema, "required"), 0)), "device");
	ok_eq(json_array_size(json_object_get(schema, "oneOf")), 2);
	ok(json_object_get(json_object_get(schema, "$defs"), "tree"));
	json_decref(want);
	json_decref(schema);
}

static void finds_the_nearest_word(void)
{
	static const char *const words[] = { "window", "listen", "sink", NULL };
	char text[200];

	ok_str(word_list_nearest("widnow", words), "window");
	ok_str(word_list_nearest("listn", words), "listen");
	ok(!word_list_nearest("qqqq", words));
	memset(text, 'w', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ok(!word_list_nearest(text, words));
}

static const struct tap_test tests[] = {
	{ "a table of fields fills a struct", fills_a_struct },
	{ "what is wrong is named with its line, its key and what was expected",
	  says_what_was_expected },
	{ "a table of fields writes its schema, also of what contains itself", writes_its_schema },
	{ "the nearest word is found, and none for a long one", finds_the_nearest_word },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
