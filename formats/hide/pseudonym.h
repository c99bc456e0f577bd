/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pseudonym: replaces names by a keyed hash, HMAC-SHA256 (RFC 2104, FIPS 180-4; by nettle).
 *
 * The same key turns the same name into the same pseudonym on every machine. Without the key a
 * pseudonym cannot be turned back, and a guessed name cannot be tested. Each kind of name is hashed
 * differently: a host and a process of the same name have unrelated pseudonyms. The digest is cut
 * so that collisions stay unlikely: 2^-48 for a pair of process names or parts of a path, 2^-64 for
 * hosts.
 */
#ifndef FORMATS_PSEUDONYM_H
#define FORMATS_PSEUDONYM_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/segment/segment.h"

#define PSEUDONYM_KEY_MIN    16u /* in bytes */
#define PSEUDONYM_KEY_MAX    4096u
#define PSEUDONYM_HASH_BYTES 32u

struct pseudonym_key {
	uint8_t bytes[PSEUDONYM_HASH_BYTES]; /* SHA-256 of the secret */
};

/* Returns 0, or -EINVAL where len is not between PSEUDONYM_KEY_MIN and PSEUDONYM_KEY_MAX. */
int pseudonym_key_set(struct pseudonym_key *k, const void *secret, size_t len);
/*
 * Reads the secret: the whole content of a file without the line ends at its end. The file must be
 * a regular file of root or of the caller that nobody else may read or write (otherwise -EINVAL),
 * and have a length as above. Returns 0 or -errno with one line in err.
 */
int pseudonym_key_read(struct pseudonym_key *k, const char *path, struct err *err);
/*
 * Makes a new random key that nobody knows, so that the names hidden by it can never be linked.
 * Returns 0 or -errno.
 */
int pseudonym_key_random(struct pseudonym_key *k, struct err *err);
void pseudonym_key_forget(struct pseudonym_key *k);

/* Computes HMAC-SHA256 of kind, a zero byte, and len bytes of data. */
void pseudonym_hash(const struct pseudonym_key *k, const char *kind, const void *data, size_t len,
		    uint8_t out[PSEUDONYM_HASH_BYTES]);

/* In all functions below an empty name stays empty, and in and out may be the same array. */
/* Writes "host-" and 16 hexadecimal digits. */
void pseudonym_host(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/* Writes a pseudonym in the form of a boot id. */
void pseudonym_boot_id(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/* Writes 12 hexadecimal digits. */
void pseudonym_comm(const struct pseudonym_key *k, const char *in, char out[SEGMENT_COMM_BYTES]);
/*
 * A name that the kernel makes (sda, nvme0n1, dm-3: prefix, letters and numbers) reveals nothing
 * and stays. Any other name, such as that of a named array or an imported trace, becomes "dev-" and
 * 12 hexadecimal digits.
 */
void pseudonym_device(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES]);
/*
 * Hides each part between slashes separately, as 12 hexadecimal digits, so that the hierarchy
 * remains visible. A path that is too long loses its beginning.
 */
void pseudonym_path(const struct pseudonym_key *k, const char *in, char out[SEGMENT_PATH_BYTES]);

#endif
