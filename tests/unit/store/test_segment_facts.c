/* SPDX-License-Identifier: Apache-2.0 */
/* What a store refuses of segments that the format itself allows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/index/segment_facts.h"
#include "analyzer/store/scan/scan_piece.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define BEGIN_NS (2 * SEGMENT_MAX_SPAN_NS)
#define DAY_NS	 86400000000000ull

static struct sample one(void)
{
	return (struct sample){ .host = "web1",
				.boot_id = "b",
				.epoch = 1,
				.begin_ns = BEGIN_NS,
				.end_ns = BEGIN_NS + 1000 };
}

/* Makes a segment of one request and returns what the store says of it. */
static int told(const struct sample *s, uint64_t arrival_ns, uint64_t completion_ns,
		struct err *err)
{
	struct request r = { .device = 8u << 20,
			     .bytes = 4096,
			     .arrival_ns = arrival_ns,
			     .dispatch_ns = arrival_ns,
			     .completion_ns = completion_ns };
	struct segment_facts f;
	struct buf data = { 0 };
	int ret;

	sample_segment(s, &r, 1, &data);
	ret = segment_facts_read(&f, data.data, data.len, err);
	if (ret == 0)
		segment_facts_release(&f);
	buf_release(&data);
	return ret;
}

static void spans_are_bounded(void)
{
	struct sample s = one();
	struct err err = { 0 };

	ok_int(told(&s, BEGIN_NS, BEGIN_NS + 500, NULL), 0);
	ok_int(told(&s, BEGIN_NS, BEGIN_NS + SEGMENT_MAX_SPAN_NS, NULL), 0);
	ok_int(told(&s, BEGIN_NS - SEGMENT_MAX_SPAN_NS, BEGIN_NS, NULL), 0);
	ok_int(told(&s, BEGIN_NS, BEGIN_NS + SEGMENT_MAX_SPAN_NS + DAY_NS, &err), -EBADMSG);
	ok_str(err.line,
	       "segment: some of its times lie 367 days from its begin, expected 366 at most");
	ok_int(told(&s, 0, BEGIN_NS, &err), -EBADMSG);
	ok_str(err.line,
	       "segment: some of its times lie 732 days from its begin, expected 366 at most");
	s.end_ns = s.begin_ns + SEGMENT_MAX_SPAN_NS + 1;
	ok_int(told(&s, BEGIN_NS, BEGIN_NS + 500, &err), -EBADMSG);
	ok(strstr(err.line, "366 days from its begin") != NULL);
}

static char *profile_of(const char *host)
{
	struct buf json = { 0 };
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "%s", host);
	snprintf(p.device, sizeof(p.device), "8:0");
	p.begin_s = 1;
	p.end_s = 2;
	profile_grade(&p);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &json), 0);
	buf_put(&json, "", 1);
	profile_release(&p);
	return (char *)json.data;
}

static void profiles_are_of_their_host(void)
{
	struct sample s = one();
	struct err err = { 0 };
	char *own = profile_of("web1"), *other = profile_of("db1");

	s.profile = own;
	ok_int(told(&s, BEGIN_NS, BEGIN_NS + 500, &err), 0);
	s.profile = other;
	ok_int(told(&s, BEGIN_NS, BEGIN_NS + 500, &err), -EINVAL);
	ok_str(err.line, "segment header: profiles: number 0 is of host 'db1', expected 'web1'");
	free(own);
	free(other);
}

/* Writes a segment without requests to a file, and returns what its readers say of the file. */
static int told_of_file(const struct sample *s, const char *path, struct err *err)
{
	const struct scan_filter all = { .hosts = NULL };
	struct scan_pieces pieces = { .items = NULL };
	struct buf data = { 0 };
	FILE *f = fopen(path, "w");
	int ret;

	sample_segment(s, NULL, 0, &data);
	ok(f && fwrite(data.data, 1, data.len, f) == data.len && !fclose(f));
	ret = scan_pieces_of_files(&pieces, &path, 1, &all, err);
	ok(ret || pieces.nr == 1);
	scan_pieces_release(&pieces);
	buf_release(&data);
	return ret;
}

/* A file given by name may be anybody's; what is in it agrees about its host all the same. */
static void profiles_of_a_file_are_of_its_host(void)
{
	char path[] = "/tmp/facts.XXXXXX", expected[160];
	struct sample s = one();
	struct err err = { 0 };
	char *own = profile_of("web1"), *other = profile_of("db1");
	int fd = mkstemp(path);

	if (!ok(fd >= 0))
		return;
	close(fd);
	s.profile = own;
	ok_int(told_of_file(&s, path, &err), 0);
	s.profile = other;
	ok_int(told_of_file(&s, path, &err), -EINVAL);
	snprintf(expected, sizeof(expected),
		 "%s: segment at 0: segment header: profiles: number 0 is of host 'db1', expected "
		 "'web1'",
		 path);
	ok_str(err.line, expected);
	unlink(path);
	free(own);
	free(other);
}

static const struct tap_test tests[] = {
	{ "a segment spans 366 days at most", spans_are_bounded },
	{ "a profile in a segment is of the host of the segment", profiles_are_of_their_host },
	{ "so is a profile in a file that is given by name", profiles_of_a_file_are_of_its_host },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
