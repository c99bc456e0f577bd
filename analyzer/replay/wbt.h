/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wbt: this module is the throttling of write-back by Linux, as a state machine that is told of
 * each request.
 *
 * The kernel admits a number of buffered writes and flushes on a device. A thread that sends one
 * more waits until all of them have completed; on a device without a volatile cache it waits until
 * some have. The number depends on the request: it is 16 for requests that a program waits for, 8
 * for write-back by the kernel, and 4 for write-back within 100 ms after a read. These numbers are
 * those of the middle step. Every 100 ms the kernel looks at the responses of that time. If writes
 * are under way and reads are fast enough, it goes to the next larger step (31 requests, then 61,
 * up to three quarters of the queue). If reads are too slow, it goes to a smaller step. After five
 * such times without writes it goes back one step towards the middle.
 *
 * So the depth of write-back changes with the device: on a slow one writes are under way for
 * longer, and the step is larger. Reads, writes past the page cache and the journal of a file
 * system are not throttled.
 *
 * The law was read from block/blk-wbt.c and block/blk-rq-qos.c of Linux 6, and is held against 6.18
 * (tests/system/throttle.sh); older versions were not tried. Two of its rules are left out: tasks
 * that are stopped because of too many dirty pages, and discards.
 *
 * Times are in ns of any clock that does not go back. Requests are told in order of time:
 *
 *	wbt_init(&w, WBT_TARGET_NS, true, 0);
 *	wbt_look(&w, now_ns);
 *	if (wbt_admits(&w, now_ns, sync))
 *		wbt_sent(&w, now_ns);
 */
#ifndef ANALYZER_WBT_H
#define ANALYZER_WBT_H

#include <stdbool.h>
#include <stdint.h>

/* If reads take longer than this, the kernel throttles more. It has two defaults. */
#define WBT_TARGET_NS	    75000000ull /* devices that rotate, or say so: virtio's among them */
#define WBT_TARGET_FLASH_NS 2000000ull
#define WBT_NEVER	    UINT64_MAX
/* Three quarters of the 128 requests that queues have by default: more are never under way. */
#define WBT_DEPTH_MOST 96

struct wbt {
	uint64_t target_ns;	      /* reads that take longer are slow */
	bool cache;		      /* the device has a volatile cache of writes */
	int step;		      /* below 0: more than in the middle may be under way */
	bool most;		      /* the step cannot become larger */
	uint32_t nr;		      /* throttled requests under way */
	uint32_t nr_unknown;	      /* looks in a row that saw no write */
	uint64_t look_ns;	      /* the next look, or WBT_NEVER */
	uint64_t nr_reads, nr_writes; /* completed since the last look */
	uint64_t read_min_ns;	      /* the fastest of these reads */
	uint64_t lowered_ns; /* when a time without writes last moved the step back, or WBT_NEVER */
	uint64_t last_read_ns;	      /* when a read was last sent or completed, or WBT_NEVER */
	uint64_t watched, watched_ns; /* id of a read under way, or WBT_NEVER; when it was sent */
};

/* step is that at the beginning: 0, or below it if earlier requests have raised it. */
void wbt_init(struct wbt *w, uint64_t target_ns, bool cache, int step);
/* Raises the step by one, if it can be. Returns whether it did. */
bool wbt_raise(struct wbt *w);
/* Tells the time, before each other call. Returns whether those who wait may try again. */
bool wbt_look(struct wbt *w, uint64_t now_ns);
/* Returns whether a throttled request may be sent now; sync: a program waits for it. */
bool wbt_admits(const struct wbt *w, uint64_t now_ns, bool sync);
/* A throttled request is sent. */
void wbt_sent(struct wbt *w, uint64_t now_ns);
/* A throttled request has completed, a write or a flush. Returns as wbt_look() does. */
bool wbt_done(struct wbt *w, bool write);
/* A write that is not throttled has completed. */
void wbt_write_done(struct wbt *w);
/* A read is sent, or has completed. id tells reads apart that are under way together. */
void wbt_read_sent(struct wbt *w, uint64_t now_ns, uint64_t id);
void wbt_read_done(struct wbt *w, uint64_t now_ns, uint64_t id, uint64_t response_ns);

#endif
