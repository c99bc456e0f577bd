/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "analyzer/serve/http/server_head.h"
#include "tests/support/tap.h"

static void a_path_has_four_parts(void)
{
	static const char *const wrong[] = {
		"",
		"a",
		"a/b",
		"a/b/1",
		"a/b/1/2/3",
		"a/b/1/2/",
		"//1/2",
		"/b/1/2",
		"a//1/2",
		"a/b//2",
		"a/b/1/",
		"../b/1/2",
		"a/../1/2",
		".a/b/1/2",
		"a/b/-1/2",
		"a/b/0x1/2",
		"a/b/1/2e3",
		"a b/b/1/2",
		"a/b/1/\xff",
		"a\\b/b/1/2",
		"a/b/1/ 2",
		"a/b/+1/2",
		"a\n/b/1/2",
		"////",
		"a/b/99999999999999999999/1",
		"a/b/1/99999999999",
	};
	struct segment_name name;
	char text[SEGMENT_PATH_MAX + 64];

	ok_int(head_segment_path("web1/b-1/5/17", &name, NULL), 0);
	ok_str(name.host, "web1");
	ok_str(name.boot_id, "b-1");
	ok_eq(name.epoch, 5);
	ok_eq(name.sequence, 17);
	for (size_t i = 0; i < TAP_NR(wrong); i++) {
		struct err err = { 0 };

		/* The parts of a whole path lie on the stack when the wrong one is read. */
		ok_int(head_segment_path("web1/b-1/5/17", &name, NULL), 0);
		ok_int(head_segment_path(wrong[i], &name, &err), -EINVAL);
		ok(err.line[0]);
	}
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ok_int(head_segment_path(text, &name, NULL), -EINVAL);
}

static void a_hash_has_32_digits(void)
{
	char out[SEGMENT_HASH_TEXT];

	ok_int(head_segment_hash("0123456789abcdefABCDEF0123456789", out, NULL), 0);
	ok_str(out, "0123456789abcdefabcdef0123456789");
	ok_int(head_segment_hash(NULL, out, NULL), -EINVAL);
	ok_int(head_segment_hash("", out, NULL), -EINVAL);
	ok_int(head_segment_hash("0123456789abcdefABCDEF012345678", out, NULL), -EINVAL);
	ok_int(head_segment_hash("0123456789abcdefABCDEF01234567890", out, NULL), -EINVAL);
	ok_int(head_segment_hash("0123456789abcdefABCDEF012345678g", out, NULL), -EINVAL);
}

struct field {
	const char *name, *value;
};

/* What the check says to up to three fields of a head. */
static int check_fields(const struct field *fields, bool is_http_1_1, struct err *err)
{
	struct head_check check = { 0 };

	for (int i = 0; i < 3 && fields[i].name; i++)
		head_check_field(&check, fields[i].name, strlen(fields[i].name), fields[i].value,
				 strlen(fields[i].value));
	return head_check_end(&check, is_http_1_1, err);
}

static void a_head_says_once_where_the_body_ends(void)
{
	static const struct field good[][3] = {
		{ { "Host", "x" }, { "Content-Length", "0" } },
		{ { "Host", "x" }, { "content-length", "9223372036854775807" } },
		{ { "Host", "x" }, { "Transfer-Encoding", "Chunked" } },
		{ { "Host", "" }, { "X-Any", "a\tb \xc3\xa4" }, { "X-Any", "twice" } },
	};
	static const struct field wrong[][3] = {
		{ { "Content-Length", "5" }, { "Transfer-Encoding", "chunked" } },
		{ { "Transfer-Encoding", "chunked" }, { "Content-Length", "5" } },
		{ { "Content-Length", "5" }, { "Content-Length", "5" } },
		{ { "Content-Length", "5" }, { "CONTENT-LENGTH", "6" } },
		{ { "Transfer-Encoding", "chunked" }, { "Transfer-Encoding", "chunked" } },
		{ { "Transfer-Encoding", "gzip, chunked" } },
		{ { "Transfer-Encoding", "identity" } },
		{ { "Transfer-Encoding", "chunked " } },
		{ { "Transfer-Encoding", "chunke" } },
		{ { "Transfer-Encoding", "\vchunked" } },
		{ { "Transfer-Encoding ", "chunked" } },
		{ { "Transfer-Encodingchunked", "" } },
		{ { "Content-Length5", "" } },
		{ { "Content-Length\t", "5" } },
		{ { " Content-Length", "5" } },
		{ { "Content-Length", "+5" } },
		{ { "Content-Length", "-1" } },
		{ { "Content-Length", "5, 5" } },
		{ { "Content-Length", "" } },
		{ { "Content-Length", "0x5" } },
		{ { "Content-Length", "18446744073709551617" } },
		{ { "", "x" } },
		{ { "X: a", "x" } },
		{ { "X\xff", "x" } },
		{ { "X", "a\rTransfer-Encoding: chunked" } },
		{ { "X", "a\x7f" } },
		{ { "Host", "a" }, { "Host", "a" } },
		{ { "Authorization", "Bearer a" }, { "authorization", "Bearer b" } },
		{ { "Blkcast-Hash", "0" }, { "Blkcast-Hash", "1" } },
		{ { "Expect", "100-continue" }, { "Expect", "100-continue" } },
	};

	for (size_t i = 0; i < TAP_NR(good); i++)
		ok_int(check_fields(good[i], true, NULL), 0);
	for (size_t i = 0; i < TAP_NR(wrong); i++) {
		struct err err = { 0 };

		if (!ok_int(check_fields(wrong[i], true, &err), -EINVAL))
			tap_note("%s: %s", wrong[i][0].name, wrong[i][0].value);
		ok(err.line[0]);
	}
	ok_int(check_fields(good[1], false, NULL), 0);
	ok_int(check_fields(good[2], false, NULL), -EINVAL);
}

static void a_nul_ends_no_value(void)
{
	struct head_check check = { 0 };

	head_check_field(&check, "Blkcast-Hash", 12, "ab\0cd", 5);
	ok_int(head_check_end(&check, true, NULL), -EINVAL);
	check = (struct head_check){ 0 };
	head_check_field(&check, "Content-Length", 14, NULL, 0);
	ok_int(head_check_end(&check, true, NULL), -EINVAL);
	check = (struct head_check){ 0 };
	head_check_field(&check, NULL, 0, NULL, 0);
	ok_int(head_check_end(&check, true, NULL), -EINVAL);
}

static void a_question_names_streams_in_one_way(void)
{
	struct head_streams asked;

	ok_int(head_streams("web1", NULL, NULL, NULL, NULL, &asked, NULL), 0);
	ok(!asked.is_boot && !asked.is_exact && !asked.from.boot_id[0] && !asked.from.epoch);
	ok_int(head_streams("web1", "b1", "5", NULL, NULL, &asked, NULL), 0);
	ok(asked.is_boot && asked.is_exact);
	ok_str(asked.from.boot_id, "b1");
	ok_eq(asked.from.epoch, 5);
	ok_int(head_streams("web1", "b1", NULL, NULL, NULL, &asked, NULL), 0);
	ok(asked.is_boot && !asked.is_exact && !asked.from.epoch);
	ok_int(head_streams("web1", NULL, NULL, "b2", "6", &asked, NULL), 0);
	ok(!asked.is_boot && !asked.is_exact);
	ok_eq(asked.from.epoch, 6);
	ok_int(head_streams("", NULL, NULL, NULL, NULL, &asked, NULL), -EINVAL);
	ok_int(head_streams("../x", NULL, NULL, NULL, NULL, &asked, NULL), -EINVAL);
	ok_int(head_streams("web1", NULL, "5", NULL, NULL, &asked, NULL), -EINVAL);
	ok_int(head_streams("web1", NULL, NULL, NULL, "5", &asked, NULL), -EINVAL);
	ok_int(head_streams("web1", "b1", NULL, "b2", NULL, &asked, NULL), -EINVAL);
	ok_int(head_streams("web1", "b1", "x", NULL, NULL, &asked, NULL), -EINVAL);
	ok_int(head_streams("web1", "b1", "9223372036854775808", NULL, NULL, &asked, NULL),
	       -EINVAL);
	ok_int(head_streams("web1", "b/1", "1", NULL, NULL, &asked, NULL), -EINVAL);
}

static const struct tap_test tests[] = {
	{ "a path of an upload has four parts, also behind a longer one", a_path_has_four_parts },
	{ "a hash has 32 hexadecimal digits", a_hash_has_32_digits },
	{ "a head says once, and in one way, where its body ends",
	  a_head_says_once_where_the_body_ends },
	{ "a question names streams in one way", a_question_names_streams_in_one_way },
	{ "a NUL ends no value, and a missing value is none", a_nul_ends_no_value },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
