/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"
#include "tests/support/tap.h"

/* Of all reads, the first nr_timed have a response time of 1 ms. */
static struct profile reads_of(uint64_t nr, uint64_t nr_timed)
{
	struct profile p;

	profile_init(&p);
	p.source = SOURCE_BPF;
	p.begin_s = 0;
	p.end_s = 100;
	p.quality.coverage_ratio = 1;
	p.requests[OPERATION_READ] = nr;
	for (uint64_t i = 0; i < nr_timed; i++)
		histogram_add(&p.read.response.stage[STAGE_TOTAL], 1000000);
	return p;
}

static void graded(struct profile *p, char want, const char *why)
{
	profile_grade(p);
	if (!ok_eq((uint64_t)p->quality.grade, (uint64_t)want))
		tap_note("%c: %s", p->quality.grade, p->quality.why);
	if (!ok(strstr(p->quality.why, why) != NULL))
		tap_note("%s", p->quality.why);
}

static void untimed_lower_the_grade(void)
{
	struct profile p = reads_of(20000, 19990);

	graded(&p, 'A', "(10 of them without response time)");
	p.requests[OPERATION_READ] = 20090;
	graded(&p, 'B', "0.498 %");
	p.requests[OPERATION_READ] = 20200;
	graded(&p, 'C', "1.04 %");
	p.unknown = UNKNOWN_OPERATION;
	graded(&p, 'C', "operation");
	profile_release(&p);
}

static json_t *quality_of(const struct profile *p)
{
	struct buf out = { 0 };
	json_t *root, *quality;

	ok_int(profile_to_json(p, PROFILE_JSON_LINE, &out), 0);
	root = json_loadb((const char *)out.data, out.len, 0, NULL);
	quality = json_incref(json_object_get(root, "quality"));
	json_decref(root);
	buf_release(&out);
	return quality;
}

static void quality_has_the_keys(void)
{
	struct profile p = reads_of(20000, 19990);
	json_t *q;

	p.quality.coverage_ratio = 0.75;
	q = quality_of(&p);
	ok_eq((uint64_t)json_integer_value(json_object_get(q, "untimed_requests")), 10);
	ok_near(json_real_value(json_object_get(q, "untimed_ratio")), 10 / 20000.0, 1e-15);
	ok_near(json_real_value(json_object_get(q, "watched_s")), 75, 1e-12);
	json_decref(q);
	p.source = SOURCE_DISKSTATS;
	p.quality.coverage_ratio = NAN;
	q = quality_of(&p);
	ok(json_is_null(json_object_get(q, "untimed_requests")));
	ok(json_is_null(json_object_get(q, "untimed_ratio")));
	ok(json_is_null(json_object_get(q, "watched_s")));
	json_decref(q);
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "requests without a response time lower the grade", untimed_lower_the_grade },
	{ "the quality counts untimed requests and watched seconds", quality_has_the_keys },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
