/* SPDX-License-Identifier: Apache-2.0 */
/* store_replace: one summary in the place of segments and of earlier summaries, all or nothing. */
#ifndef ANALYZER_STORE_REPLACE_H
#define ANALYZER_STORE_REPLACE_H

#include "analyzer/store/store.h"
#include "analyzer/store/store_summary.h"

struct store_replacement {
	const struct summary *summary;	   /* the new one */
	const struct segment_facts *facts; /* of it, as summary_facts() makes them */
	const struct buf *data;		   /* and its bytes */
	const struct segment_name *names;  /* segments whose place it takes */
	size_t nr_names;
	const struct summary_file *replaced; /* summaries whose place it takes */
	size_t nr_replaced;
};

/*
 * Returns 0 when the summary is durable and in the catalog and the replaced files are no longer in
 * it. After an error nothing has changed.
 */
int store_replace(struct store *s, const struct store_replacement *r, struct err *err);

#endif
