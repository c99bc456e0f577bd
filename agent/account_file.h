/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_file: the layout of the account's file (account.h). Host's byte order: it never leaves
 * the machine. Each half stands twice; one bit of generation says which copy holds.
 */
#ifndef AGENT_ACCOUNT_FILE_H
#define AGENT_ACCOUNT_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/account.h"
#include "formats/segment.h"

#define ACCOUNT_MAGIC	"blkacct"
#define ACCOUNT_VERSION 1
#define MAX_LOSSES	64
#define NOT_CARRIED	UINT64_MAX

/* generation: which copy of each half is current. */
#define CAPTURE_BIT 1u
#define STREAM_BIT  2u

struct seen_device {
	uint32_t device;
	uint32_t has_base;
	uint64_t base; /* the kernel's count when watching began */
	uint64_t nr, nr_countable;
};

/* Written by the capture thread. */
struct capture_half {
	uint64_t realtime_ns; /* of the last change */
	uint32_t nr_devices, watches_all;
	struct seen_device devices[ACCOUNT_MAX_DEVICES + 1]; /* [0]: device 0, the others */
};

struct kept_loss {
	struct loss loss;
	uint64_t carried_by; /* sequence of the segment that is to carry it, or NOT_CARRIED */
};

struct counts {
	uint32_t nr;
	uint32_t device[ACCOUNT_MAX_DEVICES + 1];
	uint64_t count[ACCOUNT_MAX_DEVICES + 1];
};

/* Written under the lock. */
struct stream_half {
	struct counts accounted;
	struct counts prepared;
	uint64_t prepared_sequence;
	uint32_t is_prepared, is_acknowledged;
	uint32_t is_dropping, nr_losses;
	uint64_t dropping_epoch, dropping_sequence;
	struct kept_loss losses[MAX_LOSSES];
};

struct account_file {
	char magic[8];
	uint32_t version, size;
	_Atomic uint32_t generation;
	uint32_t reserved;
	uint64_t epoch[2];		     /* goes with the stream half */
	char boot_id[2][SEGMENT_NAME_BYTES]; /* likewise */
	struct capture_half capture[2];
	struct stream_half stream[2];
};

#endif
