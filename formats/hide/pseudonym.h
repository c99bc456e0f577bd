/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pseudonym: names that hide names: a keyed hash, HMAC-SHA256 (RFC 2104, FIPS 180-4; nettle's).
 *
 * The same key turns the same name into the same pseudonym, on every machine; without the key
 * neither can a pseudonym be turned back nor a guessed name be tried. Kinds are hashed apart: a host
 * and a process of the same name have nothing in common. What is cut off a digest keeps
 * collisions unlikely: 2^-48 for a pair of process names or parts of a path, 2^-64 for hosts.
 */
#ifndef FORMATS_PSEUDONYM_H
#define FORMATS_PSEUDONYM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/segment/segment.h"

#define PSEUDONYM_KEY_MIN    16u /* bytes */
#define PSEUDONYM_KEY_MAX    4096u
#define PSEUDONYM_HASH_BYTES 32u

struct pseudonym_key {
	uint8_t bytes[PSEUDONYM_HASH_BYTES]; /* SHA-256 of what was given */
};

/* -EINVAL where len is not PSEUDONYM_KEY_MIN to PSEUDONYM_KEY_MAX. */
int pseudonym_key_set(struct pseudonym_key *k, const void *secret, size_t len);
/*
 * The whole content of a file but its line ends at the end. It must be a regular file of root or of
 * the caller that nobody else may read or write (else -EINVAL), of a length as above. -errno with one line.
 */
int pseudonym_key_read(struct pseudonym_key *k, const char *path, struct err *err);
/* A fresh one that nobody knows: what it hides can never be linked. -errno. */
int pseudonym_key_random(struct pseudonym_key *k, struct err *err);
void pseudonym_key_forget(struct pseudonym_key *k);

/* HMAC-SHA256 of kind, a zero byte, and len bytes of data. */
void pseudonym_hash(const struct pseudonym_key *k, const char *kind, const void *data, size_t len,
		    uint8_t out[PSEUDONYM_HASH_BYTES]);

/* All: an empty name stays empty; in and out may be the same array. */
/* "host-" and 16 hex digits. */
void pseudonym_host(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/* In the form of a boot id. */
void pseudonym_boot_id(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/* 12 hex digits. */
void pseudonym_comm(const struct pseudonym_key *k, const char *in, char out[SEGMENT_COMM_BYTES]);
/* A name as the kernel makes them (sda, nvme0n1, dm-3: prefix, letters and numbers) tells nothing
 * and stays; any other, of a named array or an imported trace: "dev-" and 12 hex digits. */
void pseudonym_device(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/* Part by part between the slashes, 12 hex digits each, so that what lies below what still shows;
 * cut at the front where longer. */
void pseudonym_path(const struct pseudonym_key *k, const char *in, char out[SEGMENT_PATH_BYTES]);

#endif
