/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_state: the declarations that catalog.c and catalog_each.c share. No other file includes
 * this header.
 */
#ifndef ANALYZER_CATALOG_STATE_H
#define ANALYZER_CATALOG_STATE_H

#include <sqlite3.h>

#include "analyzer/store/index/catalog.h"

/* Statements are prepared when they are first used. */
enum statement {
	PUT_SEGMENT,
	PUT_DEVICE,
	PUT_LOSS,
	DROP_SEGMENT,
	DROP_DEVICES,
	DROP_LOSSES,
	GET_HASH,
	PUT_DAMAGED,
	GET_DAMAGED,
	DROP_DAMAGED,
	EACH_SEGMENT,
	EACH_DEVICE,
	EACH_LOSS,
	EACH_DAMAGED,
	NEXT_STREAM,
	HIGHEST_OF_STREAM,
	EACH_SEGMENT_AFTER,
	EACH_SPAN,
	EACH_SUMMARY,
	EACH_SUMMARY_OF,
	EACH_KEPT,
	FIND_SUMMARY,
	DROP_SEGMENTS_RANGE,
	DROP_DEVICES_RANGE,
	DROP_LOSSES_RANGE,
	COUNT_RANGE,
	GET_HOST,
	NR_STATEMENTS,
};

struct catalog {
	sqlite3 *db;
	sqlite3_stmt *prepared[NR_STATEMENTS];
	uint64_t last_received_ns;
};

/* Returns the statement, ready for binding, or NULL with a message in err. */
sqlite3_stmt *catalog_statement(struct catalog *c, enum statement which, struct err *err);
/* Returns SQLite's last failure as -errno, with its text in err. */
int catalog_fail(struct catalog *c, struct err *err);

#endif
