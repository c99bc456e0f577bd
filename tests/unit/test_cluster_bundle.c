/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <string.h>

#include "analyzer/store/cluster_bundle.h"
#include "analyzer/store/segment_facts.h"
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

static const struct tap_test tests[] = {
	{ "an item of a bundle counts the bytes of its row too", an_item_counts_its_row },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
