/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unseen: requests whose end the kernel side was not shown, found by the line they still take.
 *
 * A line on a disk that has nothing under way is not proof: a request waits in a scheduler or is
 * just being issued before the kernel counts it. So a line is told where two looks in a row find
 * the disk idle and the same request in it; the caller looks seconds apart. Even then it may end
 * after all, where a driver held its queue back for seconds: the line stays, marked INFLIGHT_TOLD,
 * and its end is not recorded a second time.
 */
#ifndef AGENT_UNSEEN_H
#define AGENT_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

#define UNSEEN_KEEP_LOOKS 3600 /* for which a line that was told is kept */

struct unseen {
	uint16_t last_look
		[INFLIGHT_NR]; /* of each line, what request was in it, 0: none; or looks since told */
};

/* Requests that the kernel counts as under way: device_in_flight(), or a test's own. */
typedef int64_t (*unseen_in_flight)(uint32_t device);

/*
 * Marks the lines of requests that ended unseen and hands each to tell(). is_last: nothing runs any
 * more that could end one, so a single look is enough and the line is freed. Lines of a disk that
 * keeps no count of what is under way are left alone. One look costs a pass over the table.
 */
void unseen_settle(struct unseen *u, struct inflight *lines, unseen_in_flight in_flight,
		   bool is_last, void (*tell)(void *ctx, const struct event_request *e), void *ctx);

#endif
