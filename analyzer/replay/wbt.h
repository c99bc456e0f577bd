/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wbt: the throttling of write-back by Linux, as a state to which requests are told.
 *
 * The kernel lets a number of buffered writes and flushes be under way on a device, and whoever
 * sends another one waits until all of them have completed, or some on a device without a volatile
 * cache. How many may be under way depends on what is sent: 16 for what a program waits for, 8 for
 * what the kernel writes back, and 4 while reads come. That is so at the middle step. Every 100 ms
 * the kernel looks at the responses of that time. It goes to the next larger step (31, then 61, up
 * to three quarters of the queue) if writes are under way and reads are fast enough, to a smaller
 * one if they are not, and back towards the middle after some time without writes.
 *
 * So the depth of write-back is another one on another device: slow writes are under way for longer
 * and meet more larger steps. Reads, writes past the page cache and the journal of a file system
 * are not throttled.
 *
 * The law is that of block/blk-wbt.c and block/blk-rq-qos.c in Linux 4.10 to 6.18, without two
 * rules: tasks that are stopped because of too many dirty pages, and discards.
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

/* Reads that take longer let the kernel throttle more. These are its two defaults. */
#define WBT_TARGET_NS	    75000000ull /* devices that rotate, or say so: virtio's among them */
#define WBT_TARGET_FLASH_NS 2000000ull
#define WBT_NEVER	    UINT64_MAX
/* Three quarters of the 128 requests that queues have by default: more are never under way. */
#define WBT_DEPTH_MOST 96

struct wbt {
	uint64_t target_ns;
	bool cache;		      /* the device has a volatile cache of writes */
	int step;		      /* below 0: more than in the middle may be under way */
	bool most;		      /* the step cannot become larger */
	uint32_t nr;		      /* throttled requests under way */
	uint32_t nr_unknown;	      /* looks in a row that saw no write */
	uint64_t look_ns;	      /* the next look, or WBT_NEVER */
	uint64_t nr_reads, nr_writes; /* completed since the last look */
	uint64_t read_min_ns;	      /* the fastest of these reads */
	uint64_t lowered_ns;   /* when a silence last lowered the step; WBT_NEVER: none did */
	uint64_t last_read_ns; /* when one was sent or completed; WBT_NEVER: none was */
	uint64_t watched, watched_ns; /* a read under way, and when it was sent; WBT_NEVER: none */
};

/* step: 0, or below it if what came before has raised the step. */
void wbt_init(struct wbt *w, uint64_t target_ns, bool cache, int step);
/* Raises the step by one, if it can be. Returns whether it did. */
bool wbt_raise(struct wbt *w);
/* Has to be called before the others. Returns whether those who wait may try again. */
bool wbt_look(struct wbt *w, uint64_t now_ns);
/* Returns whether a throttled request may be sent now; sync: a program waits for it. */
bool wbt_admits(const struct wbt *w, uint64_t now_ns, bool sync);
void wbt_sent(struct wbt *w, uint64_t now_ns);
/* A throttled request has completed. Returns whether those who wait may try again. */
bool wbt_done(struct wbt *w, bool write);
/* A write that is not throttled has completed. */
void wbt_write_done(struct wbt *w);
/* id tells reads apart that are under way together. */
void wbt_read_sent(struct wbt *w, uint64_t now_ns, uint64_t id);
void wbt_read_done(struct wbt *w, uint64_t now_ns, uint64_t id, uint64_t response_ns);

#endif
