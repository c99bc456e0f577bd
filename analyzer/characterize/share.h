/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share: several processes ("ranks", models/num/ranks.h) share the profiles of one replay.
 *
 * Every rank reads the whole trace and replays it, so that all of them meet the same devices and
 * close the same periods in the same order. The devices are dealt out to the ranks as they are met.
 * A rank finds the complete profiles of its own devices. For the other devices it keeps only the
 * values that decide the order (replay_config.keeps), which takes a small part of the time. From
 * time to time the ranks exchange their profiles, and rank 0 hands them over in the order of one
 * process and with the same bits:
 *
 *	share_init(&share, most, each, ctx);
 *	config.keeps = share_keeps, config.keeps_ctx = &share, config.room_used = &share.room
 *	ret = share_begin(&share, scan);
 *	... replay, with share_take() for every profile ...
 *	ret = share_end(&share);
 *	if (ret == SHARE_ALONE)
 *		one process alone reads everything again, without the first share.nr_given profiles
 *	share_release(&share);
 *
 * Where the trace is divided by hosts (part.h), reading is shared too. Here it is not, because the
 * order of periods of several hosts depends on the requests of all of them.
 *
 * One process shares the room of window_room.h among the windows of all devices. The ranks get the
 * same bits as long as one process would not have run out of it, which each exchange finds out.
 *
 * Memory: the profiles of one round as JSON text in each rank, some 10 KiB for each.
 */
#ifndef ANALYZER_SHARE_H
#define ANALYZER_SHARE_H

#include <stdbool.h>

#include "analyzer/store/scan/scan.h"
#include "base/memory/buf.h"
#include "base/memory/u64map.h"
#include "formats/profile/profile.h"
#include "workload/window_room.h"

#define SHARE_ALONE 1 /* rank 0 reads everything again, alone */

struct share {
	struct window_room room; /* part of the room that the windows of this rank took */
	uint64_t nr_given;	 /* profiles that rank 0 has handed over */
	/* The members below are private. */
	uint64_t nr_whole; /* requests of the trace */
	size_t most;	   /* profiles in a round */
	int (*each)(void *ctx, const char *json, size_t len);
	void *ctx;
	struct u64map devices; /* hash of the names: number of the device, as they were met */
	uint32_t nr_devices;
	uint64_t tag;	  /* hash of the names and periods of all profiles so far */
	uint32_t *owners; /* owned; the rank of each profile of the round */
	size_t nr, cap;
	struct buf mine; /* the round's profiles of this rank: le64 length, JSON */
};

/*
 * The ranks exchange their profiles after every `most` of them; 0: only at the end. Rank 0 calls
 * each() for every profile, as one line of JSON; a value other than 0 ends the work and is returned
 * by share_take() or share_end().
 */
void share_init(struct share *s, size_t most, int (*each)(void *ctx, const char *json, size_t len),
		void *ctx);
void share_release(struct share *s);
/*
 * Called by all ranks after the scan is open. Returns 0, or SHARE_ALONE in all ranks where segments
 * arrived meanwhile, so that the ranks would not read the same requests.
 */
int share_begin(struct share *s, const struct scan *scan);
/* Has the type of replay_config.keeps. */
bool share_keeps(void *ctx, const struct scan_stream *stream);
/*
 * Takes the next profile. It has the type of replay_config.profile and of retained_new()'s each.
 * Returns 0, -ENOMEM, -EBADMSG, what each() returned, or SHARE_ALONE in all ranks where one process
 * might have run out of room. Ranks that do not have the same trace end with one line.
 */
int share_take(void *ctx, struct profile *p);
/* Exchanges the remaining profiles. Returns the same as share_take(). */
int share_end(struct share *s);

#endif
