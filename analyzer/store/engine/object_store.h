/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_store: objects in a bucket of a store that speaks S3, by libcurl, signed with AWS's
 * version 4.
 *
 * The module uses few operations, so that every S3 store supports them: put, ranged get, delete and
 * list (version 2). Keys hold letters, digits, '/', '.', '_' and '-' only. A put names the SHA-256
 * of its bytes in the signature, and the store refuses other bytes. Every request has a limit of
 * time, since some stores never answer while they are full.
 *
 * Any thread may call the functions. Requests of one object_store follow one another over one
 * connection that stays open.
 */
#ifndef ANALYZER_OBJECT_STORE_H
#define ANALYZER_OBJECT_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define OBJECT_KEY_MAX	  200 /* bytes of a key below the prefix, with the final 0 */
#define OBJECT_SHA256_HEX 65  /* with the final 0 */

struct object_store;

struct object_store_config {
	const char *url; /* http(s)://HOST:PORT/BUCKET[/PREFIX] */
	const char *access_key, *secret_key;
	const char *region; /* NULL: us-east-1 */
	const char *ca;	    /* file of the certificates that sign the store's; NULL: the system's */
	long timeout_ms;    /* of one request, and 1 ms more for each 2 KiB of it; 0: 60 000 */
};

/*
 * Makes the object without connecting to the server. Returns 0, -EINVAL or -ENOMEM. The strings are
 * copied.
 */
int object_store_new(struct object_store **out, const struct object_store_config *config,
		     struct err *err);
void object_store_free(struct object_store *o);

/*
 * Stores an object. This and the functions below return 0, or an error whose line names the
 * object's URL: -EPERM (keys), -ENXIO (no such bucket), -ENOENT (no such object), -ENOSPC, -EBADMSG
 * (the bytes arrived otherwise), -ECONNREFUSED, -ETIMEDOUT, -EREMOTEIO, -ENOMEM. A put that fails
 * may have been done all the same.
 */
int object_put(struct object_store *o, const char *key, const struct iovec *parts, int nr,
	       char sha256[OBJECT_SHA256_HEX], struct err *err);
/*
 * Reads nr bytes from offset into b, which is cleared first. Returns -EBADMSG if the object has
 * fewer.
 */
int object_get(struct object_store *o, const char *key, uint64_t offset, uint64_t nr, struct buf *b,
	       struct err *err);
/* Deletes an object. An object that does not exist counts as deleted, so this returns 0. */
int object_delete(struct object_store *o, const char *key, struct err *err);
/*
 * Calls visit for each object whose key begins with prefix, in order of keys. It ends early if
 * visit returns nonzero, and returns that value. visit may delete objects. age_s is the time since
 * the object was written by the clock of the object store, and 0 if the store gives no times.
 */
int object_list(struct object_store *o, const char *prefix,
		int (*visit)(void *ctx, const char *key, uint64_t bytes, double age_s), void *ctx,
		struct err *err);

void object_sha256(const struct iovec *parts, int nr, char out[OBJECT_SHA256_HEX]);

#endif
