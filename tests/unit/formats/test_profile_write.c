/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a profile, which is written without jansson, held against jansson's own dump. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/file.h"
#include "formats/profile/profile.h"
#include "tests/support/tap.h"

/* Returns whether no key stands there twice, and each value has the form that jansson gives it. */
static bool is_as_jansson_dumps(const struct profile *p)
{
	static const size_t flags[] = { JSON_COMPACT, JSON_INDENT(2) };
	bool is_same = true;

	for (int style = PROFILE_JSON_LINE; style <= PROFILE_JSON_PRETTY; style++) {
		struct buf out = { 0 };
		char *dumped;
		json_t *root;

		ok_int(profile_to_json(p, (enum profile_json_style)style, &out), 0);
		root = json_loadb((const char *)out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
		dumped = root ? json_dumps(root, flags[style] | JSON_REAL_PRECISION(17)) : NULL;
		is_same = is_same && dumped && strlen(dumped) == out.len &&
			  !memcmp(dumped, out.data, out.len);
		free(dumped);
		json_decref(root);
		buf_release(&out);
	}
	return is_same;
}

static void text_of_jansson(void)
{
	struct buf text = { 0 };
	struct profile p;

	profile_init(&p);
	ok_int(file_read("tests/fuzz/corpus/profile/example", 1u << 20, &text, NULL), 0);
	ok_int(profile_from_json((const char *)text.data, text.len, &p, NULL), 0);
	profile_add_pause(&p, &(struct profile_pause){ PAUSE_SUSPENDED, 1700000001.5, 2 });
	ok_int(profile_set_detail(&p, "a \"name\"", "{\"b\":[1.5,{\"c\":[]},\"\\n\"],\"d\":{}}"),
	       0);
	ok(is_as_jansson_dumps(&p));
	snprintf(p.host, sizeof(p.host), "w\x01\xff\"b");
	p.unknown = ~0u;
	ok(is_as_jansson_dumps(&p));
	profile_release(&p);
	buf_release(&text);
}

static void empty_text_of_jansson(void)
{
	struct profile p;

	profile_init(&p);
	ok(is_as_jansson_dumps(&p));
	profile_release(&p);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a profile's text is what jansson makes of the same values", text_of_jansson },
		{ "so is that of an empty profile", empty_text_of_jansson },
	};

	return tap_run(tests, TAP_NR(tests));
}
