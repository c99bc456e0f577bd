/* SPDX-License-Identifier: Apache-2.0 */
/*
 * issuers: this module finds which processes and control groups made the requests of a trace.
 *
 * A segment names the processes and control groups of its requests. Processes of the same name are
 * added up, over hosts as well, because most processes are short. A name that comes after
 * ISSUERS_NAMES others counts with the others of workload/who.h, so that the sums are the whole.
 *
 *	issuers_init(&w);
 *	for each segment, in any order, or a part of it:
 *		issuers_segment(&w, trace, header);
 *		for each request:
 *			issuers_add(&w, r);
 *	issuers_rank(&w);
 *
 * Memory: at most 2 MiB for the names, and the ids of ISSUERS_TRACES segments.
 */
#ifndef ANALYZER_ISSUERS_H
#define ANALYZER_ISSUERS_H

#include <jansson.h>

#include "analyzer/store/scan/scan.h"
#include "base/memory/buf.h"
#include "formats/segment/segment.h"
#include "workload/who.h"

#define ISSUERS_NAMES  2048
#define ISSUERS_TRACES 256
#define ISSUERS_SHOWN  20

struct issuers_trace; /* the names of the segment of one trace that was seen last */

struct issuers {
	struct who processes, cgroups;
	struct issuers_trace *traces; /* owned; ISSUERS_TRACES, by number modulo that */
	struct issuers_trace *now;
};

int issuers_init(struct issuers *w);
void issuers_release(struct issuers *w);

/*
 * Tells to which segment the next requests belong. Calls for the segment that this trace had before
 * are cheap. Returns 0 or -ENOMEM.
 */
int issuers_segment(struct issuers *w, uint64_t trace, const struct segment_header *h);
void issuers_add(struct issuers *w, const struct request *r);
/*
 * Calls issuers_segment() and issuers_add() for a batch of requests of one segment.
 * scan_hooks.taken may be this function, with the struct issuers as ctx. Returns 0 or -ENOMEM.
 */
int issuers_taken(void *ctx, uint32_t trace, const struct segment_header *h,
		  const struct scan_request *r, size_t nr);

/*
 * Appends everything to out, for issuers_join() in another process of this build, which adds it to
 * its own. Where issuers_have_room() holds afterwards, the tables are those of one process that was
 * given all the requests in any order. Return 0, -ENOMEM or -EBADMSG.
 */
int issuers_write(const struct issuers *w, struct buf *out);
int issuers_join(struct issuers *w, struct cursor *in);
/* Returns whether every name had room, in any order of the requests. */
bool issuers_have_room(const struct issuers *w);

/* Sorts both tables. Then no request may be added any more. */
void issuers_rank(struct issuers *w);
/* Returns whether any process or control group is known by its name. */
bool issuers_are_known(const struct issuers *w);

/*
 * The functions below write the first rows of the ranked tables, and one row for all others. Each
 * share is of the table's whole. docs/api.md describes the objects, whose name is null for the
 * others and "" for those without a name.
 */
json_t *issuers_json(const struct who *w, size_t most);
/* Writes a table of both kinds, the first line with the columns. A name with a comma has quotes. */
void issuers_csv(const struct issuers *w, size_t most, struct buf *out);
/* Prints both tables for people. */
void issuers_print(const struct issuers *w, size_t most, FILE *out);
/*
 * Writes a sentence that names the process with most requests, its share and its control group.
 * Writes nothing where no process is known.
 */
void issuers_words(const struct issuers *w, struct buf *out);

#endif
