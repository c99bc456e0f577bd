/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part: several processes ("ranks", models/num/ranks.h) characterize the hosts of a trace together.
 *
 * Each rank reads the hosts of its part (scan_filter.part) and collects their profiles. Then all
 * ranks exchange their profiles, and each continues with the profiles of all hosts, in the order of
 * one process and with the same bits:
 *
 *	part_init(&part);
 *	... replay of the part, config.room_used = &part.room, part_take() for every profile ...
 *	ret = part_exchange(&part, &together);
 *	if (part.is_whole)
 *		ret = part_each(&part, print_profile, ctx);
 *	else
 *		one process alone reads everything again
 *
 * One process shares the room of window_room.h among the windows of all hosts. The ranks get the
 * same bits as long as one process would not have run out of it, which part_exchange() finds out.
 * An error or a damaged file in one rank also makes one process read everything again, so that it
 * reports the problem in the usual way.
 *
 * Cost: the profiles of all hosts as JSON text in each rank, some 10 KiB for each device.
 */
#ifndef ANALYZER_PART_H
#define ANALYZER_PART_H

#include <stdbool.h>

#include "analyzer/characterize/issuers.h"
#include "analyzer/characterize/together.h"
#include "base/memory/buf.h"
#include "formats/profile/profile.h"
#include "workload/window_room.h"

/* The kinds of profiles. All profiles of a kind come before those of the next kind. */
enum part_kind { PART_REPLAYED, PART_COUNTED, NR_PART_KINDS };

struct part {
	/* false after the exchange: the ranks' results may differ from those of one process */
	bool is_whole;
	uint64_t nr_whole;		    /* requests of all parts (scan_whole_requests()) */
	struct window_room room;	    /* the room that the windows of this part took */
	struct buf profiles[NR_PART_KINDS]; /* of this rank, and of all after the exchange */
	/* borrowed: of this rank, and of all after the exchange; NULL: they are not wanted */
	struct issuers *issuers;
};

/* Sets is_whole. */
void part_init(struct part *part);
void part_release(struct part *part);
/* Takes a copy of a profile. Returns 0 or -ENOMEM. */
int part_take(struct part *part, enum part_kind kind, const struct profile *p);

/*
 * Exchanges the profiles and sums of the ranks. All ranks call this once; a rank that met an error
 * or a damaged file sets is_whole to false before. *together, with the sums of this rank, is
 * replaced by the sums of all. Where everything together is too large to be exchanged, is_whole
 * becomes false in all ranks. Returns 0, -ENOMEM, -ENOSPC or -EBADMSG.
 */
int part_exchange(struct part *part, struct together **together);

/*
 * Hands over the profiles of all ranks. Returns the first value other than 0 that `each` returned,
 * 0, -ENOMEM, or -EBADMSG.
 */
int part_each(const struct part *part, int (*each)(void *ctx, struct profile *p), void *ctx);

#endif
