/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_file: the layout and the check of the file in which an agent keeps its account
 * (agent/spool/account.h).
 *
 * The file has the host's byte order, because it never leaves the machine. It has two halves, each
 * written by one thread and each stored four times. To change a half, a copy is written that is
 * neither current nor on the disk nor on its way there; a serial number and a checksum seal it, and
 * it becomes the current one. If the agent dies between any two stores, or a power cut keeps any
 * set of sectors, each copy is either whole or recognizably not.
 *
 * Which copy is valid: for the stream, the sealed copy with the highest serial; for the capture,
 * the same among the copies of the stream's epoch. `published` says up to which serial copies were
 * sealed. Where none with that serial is found, something was lost and is_damaged is set.
 */
#ifndef FORMATS_ACCOUNT_FILE_H
#define FORMATS_ACCOUNT_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/segment/segment.h"

#define ACCOUNT_MAGIC	    "blkacct"
#define ACCOUNT_VERSION	    2
#define ACCOUNT_MAX_DEVICES 64 /* further devices are counted together, as device 0 */
#define ACCOUNT_MAX_LOSSES  64
#define ACCOUNT_NOT_CARRIED UINT64_MAX
#define ACCOUNT_COPIES	    4
#define ACCOUNT_SERIAL_MAX  (UINT64_MAX / 2) /* when an account is opened */

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

/* This half is written by the capture thread. */
struct capture_half {
	struct account_seal seal;
	uint64_t realtime_ns; /* time of the last change */
	uint32_t nr_devices, watches_all;
	/* one entry is for device 0, which stands for all others */
	struct seen_device devices[ACCOUNT_MAX_DEVICES + 1];
};

struct kept_loss {
	struct loss loss;
	uint64_t carried_by; /* sequence of the segment that is to carry the loss, or NOT_CARRIED */
};

struct counts {
	uint32_t nr, reserved;
	uint32_t device[ACCOUNT_MAX_DEVICES + 1];
	uint64_t count[ACCOUNT_MAX_DEVICES + 1];
};

/* This half is written under the account's lock. */
struct stream_half {
	struct account_seal seal;
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t identity; /* identity of the machine (agent/guest/identity.h); 0: unknown */
	struct counts accounted;
	struct counts prepared;
	uint64_t prepared_sequence;
	uint32_t is_prepared, is_acknowledged;
	uint32_t is_dropping, nr_losses;
	uint64_t dropping_epoch, dropping_sequence;
	uint64_t done_epoch, done_sequence; /* the last segment that was acknowledged */
	uint32_t has_done, reserved;
	uint64_t nr_pending;
	struct loss pending[ACCOUNT_MAX_LOSSES]; /* what will be lost once the drop is complete */
	struct kept_loss losses[ACCOUNT_MAX_LOSSES];
};

struct account_file {
	char magic[8];
	uint32_t version, size;
	_Atomic uint64_t published_capture, published_stream;
	struct capture_half capture[ACCOUNT_COPIES];
	struct stream_half stream[ACCOUNT_COPIES];
};

/* Ends the change of a copy. serial is one above that of the copy before. */
void account_seal_capture(struct capture_half *h, uint64_t serial);
void account_seal_stream(struct stream_half *h, uint64_t serial);

struct account_choice {
	unsigned int stream; /* index of the valid copy */
	int capture;	     /* index of the valid copy; -1: there is none of that epoch */
	bool is_damaged;     /* a later copy was sealed but cannot be read */
	/* the latest instant in any readable copy; 0: none */
	uint64_t last_realtime_ns;
};

/* Makes the account of an agent that has never run. */
void account_file_clear(struct account_file *f);
/* Returns whether the file is all zero, that is, made but never written. */
bool account_file_is_new(const struct account_file *f);
/*
 * Chooses the valid copies. Returns 0, or -EBADMSG with the reason where the file is not an
 * account, has another version, or holds no readable copy of the stream; last_realtime_ns is set
 * even then.
 */
int account_file_choose(const struct account_file *f, struct account_choice *out, struct err *err);
/*
 * Numbers the chosen copies anew, from 1, if a serial is above ACCOUNT_SERIAL_MAX. An agent never
 * comes that far, but a damaged file may say so, and the serial after the largest would be 0, which
 * marks a copy as not written: no change could be stored any more. An agent that dies meanwhile
 * leaves a file without a readable copy, which counts as damaged.
 */
void account_file_make_room(struct account_file *f, const struct account_choice *c);

#endif
