/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_state: the declarations that account.c and account_begin.c share. No other file includes
 * this header.
 */
#ifndef AGENT_ACCOUNT_STATE_H
#define AGENT_ACCOUNT_STATE_H

#include "agent/spool/account_copies.h"

struct account {
	struct account_copies copies;
	char *path;
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t identity;
	uint64_t last_epoch; /* highest epoch of the waiting segments */
	bool watches_all;
	bool has_begun;		   /* this run has been written into the file */
	bool is_damaged;	   /* the file could not be read in full */
	bool is_other_machine;	   /* the file belongs to another machine */
	uint64_t damaged_since_ns; /* CLOCK_REALTIME */
	/* the state that the run before left; all 0: there was none */
	const struct capture_half *found;
	/* held from drop_begin to drop_end, because only one intent can be noted at a time */
	pthread_mutex_t drop_lock;
	/* The members below are guarded by the lock of the copies. */
	uint64_t total[NR_LOSS_CAUSES]; /* losses of this run */
	uint64_t nr_lost_on_way;	/* lost requests that this run had captured */
	bool has_gap_on_way;
};

/* Notes a loss in the stream's half and in the totals of this run. The lock must be held. */
void account_keep_loss(struct account *a, struct stream_half *s, const struct loss *loss);
/* Returns the device's entry, or NULL. Device 0 stands for all devices beyond the bound. */
const struct seen_device *account_find_seen(const struct capture_half *c, uint32_t device);

#endif
