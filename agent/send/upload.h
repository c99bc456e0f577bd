/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload: one segment by one HTTP request, and what its answer means.
 *
 * PUT URL/v1/segments/<host>/<boot id>/<epoch>/<sequence> with the segment as body and its hash in
 * Blkcast-Hash. Only a 200 or 201 whose JSON body names the same segment and hash is an
 * acknowledgement: a captive portal or a proxy can answer 200 too. No redirect is followed: a trace
 * goes to the host it was meant for. A repeated PUT is harmless: the receiver knows it by its name
 * and hash.
 *
 * https is TLS 1.2 or later with the receiver's certificate checked. Certificate, key and token are
 * read again when their files change. Proxies of the environment are not used.
 */
#ifndef AGENT_UPLOAD_H
#define AGENT_UPLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define UPLOAD_WHY_BYTES 256

enum upload_verdict {
	UPLOAD_DONE,	  /* durable at the receiver */
	UPLOAD_RETRY,	  /* no, a wrong or an unclear answer: again, later and later */
	UPLOAD_LATER,	  /* 429, 503, 507: not before retry_after_s */
	UPLOAD_DENIED,	  /* 401, 403: wait for someone to change that */
	UPLOAD_TOO_LARGE, /* 413: in parts */
	UPLOAD_CONFLICT,  /* 409: another segment has its name */
	UPLOAD_REFUSED,	  /* 400, 422: this segment, for good */
	UPLOAD_DAMAGED,	  /* not a segment: nothing was sent */
};

struct upload_answer {
	enum upload_verdict verdict;
	double retry_after_s;	    /* UPLOAD_LATER; 0: it did not say */
	char why[UPLOAD_WHY_BYTES]; /* one line for the log: the status and the receiver's reason */
};

/* How to get to the receiver, and to be known there. Strings may be NULL. */
struct upload_access {
	char *ca;	  /* PEM: who signs receivers; NULL: the system's */
	char *cert, *key; /* PEM: this host's */
	char *token_file; /* first line: sent as "Authorization: Bearer ..." */
	char *proxy;	  /* URL; NULL: none, whatever the environment says */
	bool insecure;	  /* plain http beyond loopback */
};

struct upload;

/* url: http(s)://HOST:PORT, an optional path before /v1. access is copied; abort_flag (borrowed) set
 * from elsewhere ends a transfer within a second. -EINVAL, -ENOENT, ... with one line in err,
 * -ENOMEM. */
int upload_new(struct upload **out, const char *url, const struct upload_access *access,
	       const atomic_bool *abort_flag, struct err *err);

/* Starts the thread that looks up names; before the first transfer. -EAGAIN, ... with one line in
 * err. */
int upload_start(struct upload *u, struct err *err);
void upload_free(struct upload *u);

struct upload_segment_options {
	bool ask_first; /* the receiver may have it: it is asked before the body is sent */
};

/* Blocks: at most 5 s for each name on the way (the proxy, the receiver), then 5 s to connect and
 * 60 s in all. */
void upload_segment(struct upload *u, const void *data, size_t len,
		    const struct upload_segment_options *options, struct upload_answer *answer);

/* The highest sequence that the receiver has of a stream. */
struct upload_mark {
	uint64_t epoch; /* asked for */
	bool any;	/* false: it has none */
	uint64_t sequence;
};

/* Fills *mark, whose epoch is set. -EIO: it did not tell. Blocks as upload_segment() does. */
int upload_ask_mark(struct upload *u, const char *host, const char *boot_id,
		    struct upload_mark *mark);

#endif
