/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload: sends one segment by one HTTP request, and judges the answer.
 *
 * PUT URL/v1/segments/<host>/<boot id>/<epoch>/<sequence> with the segment as body and its hash in
 * Blkcast-Hash. Only a 200 or 201 whose JSON body names the same segment and hash is an
 * acknowledgement, because a captive portal or a proxy can answer 200 as well. No redirect is
 * followed, so that a trace goes only to the host that the user named. A repeated PUT is harmless:
 * the receiver recognizes the segment by its name and hash.
 *
 * https means TLS 1.2 or later, and the receiver's certificate is checked. Certificate, key and
 * token are read again when their files change. Proxies that the environment names are not used.
 *
 * One connection is kept and used again for the segments that follow. It ends when the machine at
 * its other end shows no sign of life, or takes no more data, for 15 s. It is replaced after five
 * to ten minutes, so that agents behind a balancer spread over the receivers that there are.
 */
#ifndef AGENT_UPLOAD_H
#define AGENT_UPLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/policy.h"

#define UPLOAD_WHY_BYTES 256
#define UPLOAD_ASK_MAX_S 2678400 /* 31 days; a question for a time further away is ignored */

enum upload_verdict {
	UPLOAD_DONE,  /* the segment is durable at the receiver */
	UPLOAD_RETRY, /* no answer, or one that is wrong or unclear: try again with growing waits */
	UPLOAD_LATER, /* 429, 503, 507: try again, not before retry_after_s */
	UPLOAD_DENIED,	  /* 401, 403: wait until somebody grants access */
	UPLOAD_TOO_LARGE, /* 413: send it in parts */
	UPLOAD_CONFLICT,  /* 409: the receiver has another segment under this name */
	UPLOAD_REFUSED,	  /* 400, 422: the receiver will never take this segment */
	UPLOAD_DAMAGED,	  /* the data is not a segment: nothing was sent */
};

struct upload_answer {
	enum upload_verdict verdict;
	/*
	 * With UPLOAD_DONE: the receiver asks for the requests from ask_begin_s to ask_end_s
	 * seconds after its answer (negative: before it).
	 */
	bool is_asking;
	int64_t ask_begin_s, ask_end_s;
	/*
	 * With UPLOAD_DONE: the receiver's policy, POLICY_NONE where it has none. The policy is
	 * valid only if policy_why is empty; otherwise policy_why says what is wrong with it.
	 */
	struct policy policy;
	struct err policy_why;
	double retry_after_s;	    /* with UPLOAD_LATER; 0: the receiver named no time */
	char why[UPLOAD_WHY_BYTES]; /* one line for the log: the status and the receiver's reason */
};

/* The settings by which the receiver is reached and accepts this agent. Strings may be NULL. */
struct upload_access {
	char *ca;	  /* PEM: the authorities that sign receivers; NULL: the system's */
	char *cert, *key; /* PEM: this host's */
	char *token_file; /* first line: sent as "Authorization: Bearer ..." */
	char *proxy;	  /* URL; NULL: none, whatever the environment says */
	bool insecure;	  /* plain http beyond loopback */
	/*
	 * Seconds without a sign of life from the other machine after which the connection is given
	 * up, and seconds for which a connection is used again. 0: 15 s, and 5 to 10 minutes. Tests
	 * set them.
	 */
	int silent_s, life_s;
};

struct upload;

/*
 * url: http(s)://HOST:PORT, an optional path before /v1. access is copied; setting abort_flag
 * (borrowed) ends a transfer within a second. Returns 0, -ENOMEM, or -EINVAL, -ENOENT, ... with one
 * line in err.
 */
int upload_new(struct upload **out, const char *url, const struct upload_access *access,
	       const atomic_bool *abort_flag, struct err *err);

/*
 * Starts the thread that looks up names. Call it before the first transfer. Returns 0, or -errno
 * with one line in err.
 */
int upload_start(struct upload *u, struct err *err);
void upload_free(struct upload *u);

struct upload_segment_options {
	bool ask_first; /* the receiver may have the segment: ask before the body is sent */
};

/*
 * Sends the segment and fills in answer. Blocks for at most 5 s per name on the way (proxy,
 * receiver), then 5 s to connect and 60 s in all, or 15 s after the last sign of life, or after the
 * receiver took the last byte that it has room for.
 */
void upload_segment(struct upload *u, const void *data, size_t len,
		    const struct upload_segment_options *options, struct upload_answer *answer);

/* The receiver's mark: the highest sequence that it has of one epoch of a stream. */
struct upload_mark {
	uint64_t epoch; /* set by the caller */
	bool any;	/* false: the receiver has none */
	uint64_t sequence;
};

/*
 * Asks for the mark of mark->epoch. Returns 0, or -EIO if the receiver gave no answer. Blocks as
 * upload_segment() does.
 */
int upload_ask_mark(struct upload *u, const char *host, const char *boot_id,
		    struct upload_mark *mark);

#endif
