/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unseen: finds requests whose end the kernel side did not see, by the line that they still occupy
 * in the table of requests in flight.
 *
 * A line of a disk that has nothing in flight is no proof: a request may wait in a scheduler, or be
 * about to be issued before the kernel counts it. So a line is reported once two successive looks
 * find the disk idle and the same request in the line; the caller looks seconds apart. The request
 * can still end after that, where a driver held its queue back for seconds. So the line stays,
 * marked INFLIGHT_TOLD, and its end is not recorded a second time.
 */
#ifndef AGENT_UNSEEN_H
#define AGENT_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

#define UNSEEN_KEEP_LOOKS 3600 /* number of looks for which a reported line is kept */

struct unseen {
	uint16_t last_look
		/*
		 * by line: the request in it (0: none), or the number of looks since it was
		 * reported
		 */
		[INFLIGHT_NR];
};

/*
 * Returns the number of requests that the kernel counts as in flight: device_in_flight(), or a
 * test's own function.
 */
typedef int64_t (*unseen_in_flight)(uint32_t device);

/*
 * Marks the lines of requests that ended unseen and hands each of them to tell(). is_last: no
 * program runs any more that could end a request, so a single look is enough and the line is freed.
 * Lines of a disk for which the kernel keeps no count of requests in flight are left alone. Each
 * call costs one pass over the table.
 */
void unseen_settle(struct unseen *u, struct inflight *lines, unseen_in_flight in_flight,
		   bool is_last, void (*tell)(void *ctx, const struct event_request *e), void *ctx);

#endif
