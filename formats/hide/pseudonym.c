/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hide/pseudonym.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHORT_DIGITS 12u /* digits for a process name or a part of a path */

_Static_assert(PSEUDONYM_HASH_BYTES == SHA256_DIGEST_SIZE, "a digest fits");

int pseudonym_key_set(struct pseudonym_key *k, const void *secret, size_t len)
{
	struct sha256_ctx sha;

	if (len < PSEUDONYM_KEY_MIN || len > PSEUDONYM_KEY_MAX)
		return -EINVAL;
	sha256_init(&sha);
	sha256_update(&sha, len, secret);
	sha256_digest(&sha, sizeof(k->bytes), k->bytes);
	explicit_bzero(&sha, sizeof(sha));
	return 0;
}

/* Returns why the file must not be used as a secret, or NULL. */
static const char *file_fault(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "expected a regular file";
	if (st->st_uid && st->st_uid != geteuid())
		return "it belongs to another user: expected root or one's own";
	if (st->st_mode & (S_IRWXG | S_IRWXO))
		return "others may use it: expected mode 0600 or 0400";
	return NULL;
}

/* Reads up to size bytes. Returns their number or -errno. */
static ssize_t read_all(int fd, uint8_t *out, size_t size)
{
	size_t nr = 0;
	ssize_t got;

	while (nr < size && (got = read(fd, out + nr, size - nr))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		nr += (size_t)got;
	}
	return (ssize_t)nr;
}

int pseudonym_key_read(struct pseudonym_key *k, const char *path, struct err *err)
{
	uint8_t secret[PSEUDONYM_KEY_MAX + 3]; /* room for a line end, and for one byte too many */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret = 0;
	struct stat st;
	ssize_t nr = 0;

	if (fd < 0)
		return err_set(err, errno, "key: %s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		ret = err_set(err, errno, "key: %s: %s", path, strerror(errno));
	else if (file_fault(&st))
		ret = err_set(err, EINVAL, "key: %s: %s", path, file_fault(&st));
	else
		nr = read_all(fd, secret, sizeof(secret));
	close(fd);
	if (nr < 0)
		ret = err_set(err, (int)-nr, "key: %s: %s", path, strerror((int)-nr));
	while (nr > 0 && (secret[nr - 1] == '\n' || secret[nr - 1] == '\r'))
		nr--;
	if (ret)
		goto out;
	if (pseudonym_key_set(k, secret, (size_t)nr))
		ret = err_set(err, EINVAL, "key: %s: expected %u to %u bytes", path,
			      PSEUDONYM_KEY_MIN, PSEUDONYM_KEY_MAX);
out:
	explicit_bzero(secret, sizeof(secret));
	return ret;
}

int pseudonym_key_random(struct pseudonym_key *k, struct err *err)
{
	ssize_t got = getrandom(k->bytes, sizeof(k->bytes), 0);

	if (got == (ssize_t)sizeof(k->bytes))
		return 0;
	return err_set(err, EIO, "no random key: %s", strerror(got < 0 ? errno : EIO));
}

void pseudonym_key_forget(struct pseudonym_key *k)
{
	explicit_bzero(k, sizeof(*k));
}

void pseudonym_hash(const struct pseudonym_key *k, const char *kind, const void *data, size_t len,
		    uint8_t out[PSEUDONYM_HASH_BYTES])
{
	struct hmac_sha256_ctx hmac;

	hmac_sha256_set_key(&hmac, sizeof(k->bytes), k->bytes);
	hmac_sha256_update(&hmac, strlen(kind) + 1, (const uint8_t *)kind);
	hmac_sha256_update(&hmac, len, data);
	hmac_sha256_digest(&hmac, PSEUDONYM_HASH_BYTES, out);
	explicit_bzero(&hmac, sizeof(hmac));
}

/* Writes nr hexadecimal digits of the name's hash, and a final 0. */
static void pseudonym_digits(const struct pseudonym_key *k, const char *kind, const char *in,
			     size_t len, char *out, size_t nr)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t hash[PSEUDONYM_HASH_BYTES];

	pseudonym_hash(k, kind, in, len, hash);
	for (size_t i = 0; i < nr; i++)
		out[i] = hex[hash[i / 2] >> (i % 2 ? 0 : 4) & 15];
	out[nr] = 0;
}

void pseudonym_host(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES])
{
	char name[17];
	bool is_empty = !*in;

	pseudonym_digits(k, "host", in, strlen(in), name, 16);
	snprintf(out, SEGMENT_NAME_BYTES, "%s%s", is_empty ? "" : "host-", is_empty ? "" : name);
}

void pseudonym_boot_id(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES])
{
	char d[33];
	bool is_empty = !*in;

	pseudonym_digits(k, "boot_id", in, strlen(in), d, 32);
	out[0] = 0;
	if (!is_empty)
		snprintf(out, SEGMENT_NAME_BYTES, "%.8s-%.4s-%.4s-%.4s-%.12s", d, d + 8, d + 12,
			 d + 16, d + 20);
}

void pseudonym_comm(const struct pseudonym_key *k, const char *in, char out[SEGMENT_COMM_BYTES])
{
	if (*in)
		pseudonym_digits(k, "comm", in, strlen(in), out, SHORT_DIGITS);
	else
		out[0] = 0;
}

/*
 * Returns whether the kernel names its disks in this way: a known prefix, up to three letters, then
 * numbers.
 */
static bool is_kernel_name(const char *name)
{
	static const char *const prefixes[] = {
		"sd",	"vd",	"hd",	"xvd",	  "nvme",  "dm-",   "md",     "loop",
		"zram", "dasd", "nbd",	"rbd",	  "sr",	   "pmem",  "ram",    "scm",
		"fd",	"zd",	"drbd", "bcache", "ublkb", "nullb", "mmcblk",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);
		const char *at = name + len;

		if (strncmp(name, prefixes[i], len) || !*at)
			continue;
		at += strspn(at, "abcdefghijklmnopqrstuvwxyz") <= 3
			      ? strspn(at, "abcdefghijklmnopqrstuvwxyz")
			      : 0;
		if (!at[strspn(at, "0123456789npc")])
			return true;
	}
	return false;
}

void pseudonym_device(const struct pseudonym_key *k, const char *in, char out[SEGMENT_NAME_BYTES])
{
	char name[SHORT_DIGITS + 1];

	if (!*in || is_kernel_name(in)) {
		memmove(out, in, strlen(in) + 1);
		return;
	}
	pseudonym_digits(k, "device", in, strlen(in), name, SHORT_DIGITS);
	snprintf(out, SEGMENT_NAME_BYTES, "dev-%s", name);
}

void pseudonym_path(const struct pseudonym_key *k, const char *in, char out[SEGMENT_PATH_BYTES])
{
	/*
	 * In the worst case every other byte is a slash, and each part grows to the length of its
	 * digits.
	 */
	char hidden[SEGMENT_PATH_BYTES * (SHORT_DIGITS + 1)];
	size_t nr = 0;

	while (*in) {
		size_t len = strcspn(in, "/");

		if (len) {
			pseudonym_digits(k, "path", in, len, hidden + nr, SHORT_DIGITS);
			nr += SHORT_DIGITS;
		} else {
			hidden[nr++] = '/';
			len = 1;
		}
		in += len;
	}
	hidden[nr] = 0;
	snprintf(out, SEGMENT_PATH_BYTES, "%s",
		 nr < SEGMENT_PATH_BYTES ? hidden : hidden + nr - (SEGMENT_PATH_BYTES - 1));
}
