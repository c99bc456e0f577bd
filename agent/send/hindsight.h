/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hindsight: keeps the requests of the last minutes on this machine, and sends them only where
 * somebody wants to know what happened.
 *
 * Segments wait in the spool until they are as old as the time that is kept. Where nobody
 * asked by then, a segment is sent without its requests: its profiles and its ledger stay, and
 * the ledger says how many requests were kept back (LOSS_KEPT_BACK). hindsight_ask() makes all
 * segments go whole that lie within this time before and after it. So each segment is sent
 * once, whole or without its requests, and completed = sent + kept back + lost.
 *
 * An analyzer asks in its answers to uploads (docs/security.md), and may tell a policy there
 * (formats/policy.md): it then wants the requests of chosen windows, and those around breaches.
 * Each sink has an asker for what its own analyzer wants, so that no analyzer gets what only
 * another one wants. A policy decides on requests and nothing else. It keeps back no more of them
 * than the user of this machine allows (hindsight_new()); where all are kept back anyway
 * (--hindsight), it can choose some, as a question can.
 *
 * At the agent's end, and where the spool is half full, segments do not wait. What was asked
 * is not remembered over a restart of the agent, but the form of the segment under way is
 * (sent_form.h). All functions are thread-safe.
 */
#ifndef AGENT_HINDSIGHT_H
#define AGENT_HINDSIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "formats/policy.h"
#include "formats/segment/segment.h"

/* The usual p99 is known after so many windows; each weighs one part in so many. */
#define HINDSIGHT_USUAL 16

/*
 * So many periods are remembered. Segments that could not be sent for long belong to periods of
 * long ago; where there are more, the two with the least time between them become one.
 */
#define HINDSIGHT_PERIODS 32

struct hindsight;

/* A period of CLOCK_MONOTONIC whose requests are wanted; until_ns 0: none are. */
struct hindsight_period {
	uint64_t from_ns, until_ns;
};

/* Periods in order of time that do not touch. */
struct hindsight_periods {
	struct hindsight_period all[HINDSIGHT_PERIODS];
	size_t nr;
};

/* What the analyzer of one sink wants. The sink owns it; only hindsight.c uses its members. */
struct hindsight_asker {
	struct hindsight_period asked;	   /* used by the sink's thread alone */
	struct hindsight_periods breaches; /* around breaches of the policy */
	struct policy policy;
	struct hindsight_asker *next;
};

/* The usual p99 of one device's reads or writes. It begins zeroed. */
struct hindsight_usual {
	double p99_s;
	uint32_t nr; /* windows that are in it */
};

enum hindsight_verdict {
	HINDSIGHT_WHOLE, /* send it as it is */
	HINDSIGHT_THIN,	 /* send it without its requests */
	HINDSIGHT_WAIT,	 /* it is not decided yet */
};

/*
 * keep_ns: the time for which requests are kept where no policy says so; 0: they are not. The
 * requests of least_ppm of a million windows are sent whatever a policy says. boot_id is that of
 * this machine now and is copied. 0 or -ENOMEM.
 */
int hindsight_new(struct hindsight **out, uint64_t keep_ns, uint32_t least_ppm,
		  const char *boot_id);
void hindsight_free(struct hindsight *h);
/* Begins an asker without a policy, and ends it. */
void hindsight_join(struct hindsight *h, struct hindsight_asker *a);
void hindsight_leave(struct hindsight *h, struct hindsight_asker *a);

/* Somebody wants the requests around now (CLOCK_MONOTONIC). NULL is legal for h. */
void hindsight_ask(struct hindsight *h, uint64_t now_ns);
/*
 * The analyzer asks for the period from begin_s to end_s seconds after now_ns (negative: before
 * it). It ends at most the time that is kept after now_ns, and a minute where none is, whatever an
 * analyzer says. Returns whether the period does not touch the last one.
 */
bool hindsight_asked(struct hindsight *h, struct hindsight_asker *a, int64_t begin_s, int64_t end_s,
		     uint64_t now_ns);
/* The analyzer tells its policy. Returns whether it differs from the one before. */
bool hindsight_tell(struct hindsight *h, struct hindsight_asker *a, const struct policy *policy);
/* Whether any policy wants to know of breaches. Any thread, at no cost. */
bool hindsight_watches(struct hindsight *h);
/*
 * Says how long the windows are that hindsight_window() hears of. A breach is known at the end of
 * its window, so segments wait longer by so much where a policy watches for breaches.
 */
void hindsight_set_window(struct hindsight *h, uint64_t window_ns);
/*
 * A window of a device (CLOCK_MONOTONIC) had this p99 (NaN: unknown) of its reads or writes. It
 * makes the requests before, in and after it be sent to those whose policies call this a breach.
 * One thread at a time for each usual.
 */
void hindsight_window(struct hindsight *h, struct hindsight_usual *usual, double p99_s,
		      const struct hindsight_period *window);
/* Whether requests may be kept back from the analyzer. */
bool hindsight_limits(struct hindsight *h, const struct hindsight_asker *a);
/*
 * To be called where hindsight_limits(). hurry: the segment cannot wait. A segment of another boot
 * does not wait either.
 */
enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct hindsight_asker *a,
				       const struct segment_header *segment, uint64_t now_ns,
				       bool hurry);
/*
 * Appends the segment without its requests, under the same name. The same segment always gives
 * the same bytes. 0, -EBADMSG or -ENOMEM.
 */
int hindsight_thin(const void *data, size_t len, struct buf *out);

#endif
