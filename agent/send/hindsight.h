/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hindsight: keeps the requests of the last minutes on this machine, and sends them only if
 * somebody asks for them.
 *
 * Segments wait in the spool until they are as old as the time that is kept. If nobody has asked by
 * then, a segment is sent without its requests: its profiles and its ledger stay, and the ledger
 * says how many requests were kept back (LOSS_KEPT_BACK). After hindsight_ask(), all segments
 * within this time before and after the call are sent whole. Each segment is thus sent once, whole
 * or without its requests, and completed = sent + kept back + lost.
 *
 * An analyzer asks in its answers to uploads (docs/security.md), and may send a policy there
 * (formats/policy.md), which asks for the requests of chosen windows and of the time around
 * breaches. Each sink has an asker with the wishes of its own analyzer, so that no analyzer gets
 * requests that only another one wants. A policy decides about requests and nothing else. It keeps
 * back no more requests than the user of this machine allows (hindsight_new()). With --hindsight
 * all requests are kept back, and a policy can then choose some of them to be sent, as a question
 * can.
 *
 * At the agent's end, and where the spool is half full, segments do not wait. Questions are not
 * remembered over a restart of the agent, but the form of the segment under way is (sent_form.h).
 * All functions are thread-safe.
 */
#ifndef AGENT_HINDSIGHT_H
#define AGENT_HINDSIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "formats/policy.h"
#include "formats/segment/segment.h"

/* The usual p99 is known after this many windows; a new window has the weight 1/HINDSIGHT_USUAL. */
#define HINDSIGHT_USUAL 16

/*
 * This many periods are remembered, because segments that could not be sent for long belong to
 * periods of long ago. If there are more, the two periods with the least time between them become
 * one.
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

/*
 * The wishes of the analyzer of one sink. The sink owns the asker; only hindsight.c uses its
 * members.
 */
struct hindsight_asker {
	struct hindsight_period asked;	   /* used by the sink's thread alone */
	struct hindsight_periods breaches; /* periods around breaches of the policy */
	struct policy policy;
	struct hindsight_asker *next;
};

/* The usual p99 of one device's reads or writes. A zeroed struct is empty. */
struct hindsight_usual {
	double p99_s;
	uint32_t nr; /* windows that are in it */
};

enum hindsight_verdict {
	HINDSIGHT_WHOLE, /* send the segment as it is */
	HINDSIGHT_THIN,	 /* send the segment without its requests */
	HINDSIGHT_WAIT,	 /* not decided yet: ask again later */
};

/*
 * Makes a hindsight. keep_ns is the time for which requests are kept without a policy; 0: they are
 * not kept. The requests of least_ppm of a million windows are sent whatever a policy says. boot_id
 * is the present one of this machine and is copied. Returns 0 or -ENOMEM.
 */
int hindsight_new(struct hindsight **out, uint64_t keep_ns, uint32_t least_ppm,
		  const char *boot_id);
void hindsight_free(struct hindsight *h);
/* Begins an asker without a policy, and ends it. */
void hindsight_join(struct hindsight *h, struct hindsight_asker *a);
void hindsight_leave(struct hindsight *h, struct hindsight_asker *a);

/* Asks for the requests around now (CLOCK_MONOTONIC), on this machine. NULL is legal for h. */
void hindsight_ask(struct hindsight *h, uint64_t now_ns);
/*
 * Takes an analyzer's question for the period from begin_s to end_s seconds after now_ns (negative:
 * before it). Whatever the analyzer says, the period ends at most keep_ns after now_ns, or a minute
 * after it if no requests are kept. Returns whether the period does not touch the last one.
 */
bool hindsight_asked(struct hindsight *h, struct hindsight_asker *a, int64_t begin_s, int64_t end_s,
		     uint64_t now_ns);
/* Takes the analyzer's policy. Returns whether the policy differs from the one before. */
bool hindsight_tell(struct hindsight *h, struct hindsight_asker *a, const struct policy *policy);
/* Returns whether any policy asks for requests around breaches. Any thread, at no cost. */
bool hindsight_watches(struct hindsight *h);
/*
 * Sets the length of the windows that hindsight_window() gets. A breach is known at the end of its
 * window, so segments wait longer by this length if a policy watches for breaches.
 */
void hindsight_set_window(struct hindsight *h, uint64_t window_ns);
/*
 * Takes the p99 (NaN: unknown) of the reads or writes in a window (CLOCK_MONOTONIC) of a device. If
 * an analyzer's policy calls this p99 a breach, the requests before, in and after the window will
 * be sent to that analyzer. One thread at a time for each usual.
 */
void hindsight_window(struct hindsight *h, struct hindsight_usual *usual, double p99_s,
		      const struct hindsight_period *window);
/* Returns whether requests may be kept back from the analyzer. */
bool hindsight_limits(struct hindsight *h, const struct hindsight_asker *a);
/*
 * Decides how the segment is sent; call it if hindsight_limits(). hurry: the segment cannot wait. A
 * segment of another boot does not wait either.
 */
enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct hindsight_asker *a,
				       const struct segment_header *segment, uint64_t now_ns,
				       bool hurry);
/*
 * Appends the segment without its requests, under the same name. The same segment always gives the
 * same bytes. Returns 0, -EBADMSG or -ENOMEM.
 */
int hindsight_thin(const void *data, size_t len, struct buf *out);

#endif
