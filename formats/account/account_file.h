/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_file: the file in which an agent keeps its account (agent/spool/account.h), and its check.
 *
 * Host's byte order: it never leaves the machine. Two halves, each written by one thread, each
 * standing four times: a copy that is neither current, nor on the disk, nor on its way there is
 * written, sealed by a serial number and a checksum of its own, and so becomes the current one. A
 * death between any two stores, or a power cut that kept any
 * set of sectors, leaves each copy whole or recognizably not.
 *
 * Which copy holds: of the stream, the sealed one with the highest serial; of the capture, the same
 * among those of the stream's epoch. `published` says up to which serial copies were sealed: where
 * none as late is found, something was lost and is_damaged is set.
 */
#ifndef FORMATS_ACCOUNT_FILE_H
#define FORMATS_ACCOUNT_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/ledger.h"
#include "formats/segment/segment.h"

#define ACCOUNT_MAGIC	    "blkacct"
#define ACCOUNT_VERSION	    2
#define ACCOUNT_MAX_DEVICES 64 /* further ones are counted together, as device 0 */
#define ACCOUNT_MAX_LOSSES  64
#define ACCOUNT_NOT_CARRIED UINT64_MAX
#define ACCOUNT_COPIES	    4

struct account_seal {
	uint64_t checksum; /* XXH3-64 of the rest of the copy */
	uint64_t serial;   /* 1, 2, ... */
	uint64_t epoch;
};

struct seen_device {
	uint32_t device;
	uint32_t has_base;
	uint64_t base; /* the kernel's count when watching began */
	uint64_t nr, nr_countable;
};

/* Written by the capture thread. */
struct capture_half {
	struct account_seal seal;
	uint64_t realtime_ns; /* of the last change */
	uint32_t nr_devices, watches_all;
	struct seen_device devices[ACCOUNT_MAX_DEVICES + 1]; /* one for device 0, the others */
};

struct kept_loss {
	struct loss loss;
	uint64_t carried_by; /* sequence of the segment that is to carry it, or NOT_CARRIED */
};

struct counts {
	uint32_t nr, reserved;
	uint32_t device[ACCOUNT_MAX_DEVICES + 1];
	uint64_t count[ACCOUNT_MAX_DEVICES + 1];
};

/* Written under the account's lock. */
struct stream_half {
	struct account_seal seal;
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t identity; /* of the machine, 0 unknown: agent/guest/identity.h */
	struct counts accounted;
	struct counts prepared;
	uint64_t prepared_sequence;
	uint32_t is_prepared, is_acknowledged;
	uint32_t is_dropping, nr_losses;
	uint64_t dropping_epoch, dropping_sequence;
	uint64_t done_epoch, done_sequence; /* acknowledged up to here */
	uint32_t has_done, reserved;
	uint64_t nr_pending;
	struct loss pending[ACCOUNT_MAX_LOSSES]; /* what is lost once the drop is done */
	struct kept_loss losses[ACCOUNT_MAX_LOSSES];
};

struct account_file {
	char magic[8];
	uint32_t version, size;
	_Atomic uint64_t published_capture, published_stream;
	struct capture_half capture[ACCOUNT_COPIES];
	struct stream_half stream[ACCOUNT_COPIES];
};

/* Ends the change of a copy: serial counts up from before's. */
void account_seal_capture(struct capture_half *h, uint64_t serial);
void account_seal_stream(struct stream_half *h, uint64_t serial);

struct account_choice {
	unsigned int stream; /* index of the copy that holds */
	int capture;	     /* likewise, or -1: none of that epoch */
	bool is_damaged;     /* a later copy was sealed and is not to be read */
	/* the latest instant that any readable copy names; 0 none */
	uint64_t last_realtime_ns;
};

/* Makes it that of an agent that has never run. */
void account_file_clear(struct account_file *f);
/* Whether it is all zero: made, and never written. */
bool account_file_is_new(const struct account_file *f);
/*
 * Chooses the copies. -EBADMSG with the reason where it is no account, of another version, or holds
 * no readable copy of the stream; last_realtime_ns is set then too.
 */
int account_file_choose(const struct account_file *f, struct account_choice *out, struct err *err);

#endif
