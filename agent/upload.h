/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload: one segment by one HTTP request, and what its answer means.
 *
 * PUT URL/v1/segments/<host>/<boot id>/<epoch>/<sequence> with the segment as body and its hash in
 * Blkcast-Hash. Only a 200 or 201 whose JSON body names the same segment and hash is an
 * acknowledgement: a captive portal or a proxy can answer 200 too. No redirect is followed: a trace
 * goes to the host it was meant for. A repeated PUT is harmless: the receiver knows it by its name
 * and hash.
 */
#ifndef AGENT_UPLOAD_H
#define AGENT_UPLOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/err.h"

enum upload_verdict {
	UPLOAD_DONE,	/* durable at the receiver */
	UPLOAD_RETRY,	/* no, a wrong or an unclear answer: again, later and later */
	UPLOAD_LATER,	/* asked to wait: not before retry_after_s */
	UPLOAD_DENIED,	/* 401, 403: wait for someone to change that */
	UPLOAD_REFUSED, /* 400, 413, 422: this segment, for good */
	UPLOAD_DAMAGED, /* not a segment: nothing was sent */
};

struct upload_answer {
	enum upload_verdict verdict;
	double retry_after_s; /* UPLOAD_LATER; 0: it did not say */
	char why[160];	      /* one line for the log */
};

struct upload;

/* url: http(s)://HOST:PORT, an optional path before /v1. abort_flag (borrowed) set from elsewhere
 * ends a transfer within a second. -EINVAL with one line in err, -ENOMEM. */
int upload_new(struct upload **out, const char *url, const atomic_bool *abort_flag,
	       struct err *err);
void upload_free(struct upload *u);
/* Blocks: at most 5 s to connect and 60 s in all. */
void upload_segment(struct upload *u, const void *data, size_t len, struct upload_answer *answer);

#endif
