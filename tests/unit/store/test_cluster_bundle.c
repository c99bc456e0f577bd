/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/cluster/cluster_bundle.h"
#include "analyzer/store/cluster/cluster_facts.h"
#include "analyzer/store/index/segment_facts.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_REQUESTS 100

static void make_segment(uint64_t sequence, struct buf *out)
{
	struct sample s = { .host = "h1",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = sequence,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .begin_ns = 1000000000,
			    .end_ns = 2000000000 };
	struct request r[NR_REQUESTS];

	sample_requests(sequence + 1, s.begin_ns, s.end_ns, r, NR_REQUESTS);
	sample_segment(&s, r, NR_REQUESTS, out);
}

static void an_item_counts_its_row(void)
{
	struct segment_reader *reader = NULL;

	for (uint64_t i = 0; i < 3; i++) { /* the reader is used again */
		struct bundle_item item = { .row = NULL };
		struct segment_facts facts;
		struct buf segment;
		json_t *row;

		buf_init(&segment);
		make_segment(i, &segment);
		ok_int(segment_facts_read(&facts, segment.data, segment.len, NULL), 0);
		item.segment = (struct home_segment){ &facts, segment.data, segment.len };
		ok_int(bundle_item_init(&item, &reader, NULL), 0);
		ok_eq(bundle_item_bytes(&item), segment.len + strlen(item.row));
		row = json_loads(item.row, 0, NULL);
		ok_str(json_string_value(json_object_get(row, "host")), "h1");
		ok_eq(json_integer_value(json_object_get(row, "sequence")), i);
		ok_eq(json_integer_value(json_object_get(row, "requests")), NR_REQUESTS);
		ok(json_is_array(json_object_get(row, "profiles")));
		json_decref(row);
		bundle_item_release(&item);
		bundle_item_release(&item);
		segment_facts_release(&facts);
		buf_release(&segment);
	}
	segment_reader_free(reader);
}

static uint64_t nr_allocated, failing_allocation; /* 0: none fails */

static void *allocate_or_fail(size_t bytes)
{
	return ++nr_allocated == failing_allocation ? NULL : malloc(bytes);
}

/* Makes the text of a profile with a request in each direction. */
static void make_profile(struct buf *out)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "h1");
	snprintf(p.device, sizeof(p.device), "8:0");
	p.begin_s = 1;
	p.end_s = 2;
	p.requests[OPERATION_READ] = 3;
	p.requests[OPERATION_WRITE] = 4;
	profile_grade(&p);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, out), 0);
	buf_put(out, "", 1);
	profile_release(&p);
}

struct json_source {
	json_t *(*make)(struct json_source *s);
	struct segment_facts facts;
	struct buf segment;
	struct segment_reader *reader;
};

static json_t *make_facts(struct json_source *s)
{
	return cluster_facts_json(&s->facts);
}

static json_t *make_profiles(struct json_source *s)
{
	return cluster_profiles_json(&s->reader, s->segment.data, s->segment.len);
}

/*
 * Fails each allocation of JSON in turn, except those from first_left_out to last_left_out. Returns
 * how often something was made that is not the whole.
 */
static uint64_t nr_partial(struct json_source *s, uint64_t first_left_out, uint64_t last_left_out)
{
	uint64_t nr, nr_wrong = 0;
	json_t *whole, *made;

	nr_allocated = 0;
	whole = s->make(s);
	nr = nr_allocated;
	ok(whole && nr > last_left_out);
	for (uint64_t at = 1; at <= nr; at++) {
		if (at >= first_left_out && at <= last_left_out)
			continue;
		nr_allocated = 0;
		failing_allocation = at;
		made = s->make(s);
		failing_allocation = 0;
		nr_wrong += made && !json_equal(made, whole);
		json_decref(made);
	}
	json_decref(whole);
	return nr_wrong;
}

static void source_init(struct json_source *s, const char *profile)
{
	struct loss lost = { .count = 5, .count_known = true, .end_real_ns = 1 };
	struct ledger ledger;
	struct sample sample = { .host = "h1",
				 .boot_id = "b",
				 .epoch = 1,
				 .real_offset_ns = SAMPLE_REAL_NS,
				 .end_ns = 1000000000,
				 .ledger = &ledger,
				 .profile = profile };
	struct request r[NR_REQUESTS];

	ledger_init(&ledger);
	ok_int(ledger_add(&ledger, &lost), 0);
	sample_requests(1, sample.begin_ns, sample.end_ns, r, NR_REQUESTS);
	*s = (struct json_source){ .reader = NULL };
	buf_init(&s->segment);
	sample_segment(&sample, r, NR_REQUESTS, &s->segment);
	ok_int(segment_facts_read(&s->facts, s->segment.data, s->segment.len, NULL), 0);
	ok(s->facts.nr_devices > 0 && s->facts.ledger.nr > 0);
	ledger_release(&ledger);
}

static void source_release(struct json_source *s)
{
	segment_reader_free(s->reader);
	segment_facts_release(&s->facts);
	buf_release(&s->segment);
}

static void no_value_is_lost_for_want_of_memory(void)
{
	uint64_t reader_first;
	struct buf profile;
	struct json_source s;
	struct profile p;

	buf_init(&profile);
	make_profile(&profile);
	source_init(&s, (const char *)profile.data);
	json_set_alloc_funcs(allocate_or_fail, free);
	s.make = make_facts;
	ok_eq(nr_partial(&s, 0, 0), 0);
	/* The reader of profiles is left out: jansson reports its lack of memory as bad syntax. */
	s.make = make_profiles;
	nr_allocated = 0;
	json_decref(json_array());
	reader_first = nr_allocated + 1;
	profile_init(&p);
	ok_int(profile_from_json((const char *)profile.data, profile.len - 1, &p, NULL), 0);
	profile_release(&p);
	ok_eq(nr_partial(&s, reader_first, nr_allocated), 0);
	json_set_alloc_funcs(malloc, free);
	source_release(&s);
	buf_release(&profile);
}

static const struct tap_test tests[] = {
	{ "an item of a bundle counts the bytes of its row too", an_item_counts_its_row },
	{ "a want of memory loses no value of a segment's row and no profile",
	  no_value_is_lost_for_want_of_memory },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
