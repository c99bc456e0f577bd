// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/yaml_tree.h"
#include "tests/support/tap.h"

static struct yaml_tree *tree;
static struct err err;

static int parse(const char *text)
{
	yaml_tree_free(tree);
	tree = NULL;
	err = (struct err){ 0 };
	return yaml_tree_parse(&tree, "t.yaml", text, strlen(text), &err);
}

static void keeps_lines(void)
{
	const struct yaml_node *b;

	ok_int(parse("a: 1\nb:\n  - x\n  - {c: 'y z'}\n"), 0);
	b = yaml_node_get(yaml_tree_root(tree), "b");
	ok(b && b->kind == YAML_LIST && b->nr == 2 && b->line == 2);
	ok_eq(b->items[0]->line, 3);
	ok_str(yaml_node_get(b->items[1], "c")->text, "y z");
	ok(yaml_node_get(b->items[1], "c")->quoted && !b->items[0]->quoted);
	ok(!yaml_node_get(b, "c") && !yaml_node_get(NULL, "c"));
	ok_int(yaml_tree_error(tree, b, &err, "no %d", 5), -EINVAL);
	ok_str(err.line, "t.yaml:2: no 5");
	ok_int(parse(""), 0);
	ok(yaml_tree_root(tree)->kind == YAML_MAP && yaml_tree_root(tree)->nr == 0);
}

static void refuses(void)
{
	static const char *const cases[][2] = {
		{ "a: 1\nb: 2\na: 3\n", "t.yaml:3: key \"a\" stands there twice, first in line 1" },
		{ "a: &x 1\n", "t.yaml:1: anchors and tags are not taken" },
		{ "a: 1\n---\nb: 2\n", "t.yaml:2: a second document: one per file is taken" },
		{ "a: *x\n", "t.yaml:1: aliases (*name) are not taken" },
		{ "a: !int 1\n", "t.yaml:1: anchors and tags are not taken" },
		{ "[a]: 1\n", "t.yaml:1: expected a plain key" },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok_int(parse(cases[i][0]), -EINVAL);
		ok_str(err.line, cases[i][1]);
	}
	ok_int(parse("a: [1, 2\nb: 3\n"), -EINVAL);
	ok(!strncmp(err.line, "t.yaml:2: not YAML: ", 20));
	ok_int(yaml_tree_read(&tree, "/nonexistent.yaml", &err), -ENOENT);
}

/* As many keys as a hostile file may hold: compared with each other, they would take minutes. */
static void reads_many_keys(void)
{
	enum { KEYS = 400000, KEY_BYTES = 12 };
	size_t room = (size_t)KEYS * KEY_BYTES + 64, at = 0;
	char *text = malloc(room);

	for (int i = 0; i < KEYS; i++)
		at += (size_t)snprintf(text + at, room - at, "k%d: 1\n", i);
	ok_int(parse(text), 0);
	ok_eq(yaml_tree_root(tree)->nr, KEYS);
	snprintf(text + at, room - at, "k7: 1\n");
	ok_int(parse(text), -EINVAL);
	ok_str(err.line, "t.yaml:400001: key \"k7\" stands there twice, first in line 8");
	ok_int(parse("a: {x: 1, y: 2}\nb: {x: 1, y: 2}\n"), 0);
	free(text);
	yaml_tree_free(tree);
	tree = NULL;
}

static void refuses_deep(void)
{
	char text[2 * YAML_MAX_DEPTH + 10];

	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ok_int(parse(text), -EINVAL);
	ok_str(err.line, "t.yaml:1: nested too deeply");
}

static const struct tap_test tests[] = {
	{ "every node knows its line", keeps_lines },
	{ "what is not plain data is refused with its line", refuses },
	{ "depth is bounded", refuses_deep },
	{ "a mapping of any length is read, and a key twice in it is found", reads_many_keys },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
