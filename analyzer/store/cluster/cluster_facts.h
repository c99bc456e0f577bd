/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_facts: this module converts what the catalog of a cluster stores about a segment or a
 * summary: to JSON for the functions of docs/cluster.sql, and from the rows of its tables.
 */
#ifndef ANALYZER_CLUSTER_FACTS_H
#define ANALYZER_CLUSTER_FACTS_H

#include <jansson.h>
#include <libpq-fe.h>

#include "analyzer/store/index/segment_facts.h"
#include "base/text/err.h"

/*
 * Takes an array over and returns it, or NULL if it is NULL or a value could not be appended, which
 * failed says. An array that lacks a value would reach the catalog as if it were whole.
 */
json_t *cluster_whole_array(json_t *array, int failed);
/*
 * Return the name, and the facts that segments and summaries have in common; NULL if memory is
 * out.
 */
json_t *cluster_name_json(const struct segment_name *n);
json_t *cluster_facts_json(const struct segment_facts *f);
/*
 * Returns the profiles of a segment's windows as rows of table profile; NULL if memory is out. The
 * reader is one of a reader_pool: it is made if it is NULL, and is cleared on return.
 */
json_t *cluster_profiles_json(struct segment_reader **reader, const void *segment, size_t len);

/*
 * The columns that cluster_facts_take() reads, in this order, of a table s (segment or summary) and
 * its stream t; sequence is s.sequence or s.first.
 */
#define CLUSTER_FACTS_COLUMNS(sequence)                                                            \
	"t.host, t.boot_id, t.epoch, " sequence ", s.bytes, s.requests, s.captured, s.untimed, "   \
	"s.source, s.layer, s.anchors[1], s.anchors[2], s.anchors[3], s.anchors[4], s.anchors[5]," \
	" s.anchors[6], s.first_real, s.last_real, s.received, s.devices, s.losses"
#define CLUSTER_FACTS_NR_COLUMNS 21

/*
 * Fills f from the row; the caller releases f. Returns 0, -EBADMSG if blkcast cannot have
 * written the row, or -ENOMEM.
 */
int cluster_facts_take(struct segment_facts *f, const PGresult *row, struct err *err);

#endif
