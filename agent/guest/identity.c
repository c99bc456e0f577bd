/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/guest/identity.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Each source has one field of the identity; a field is 0 where its source could not be read. */
#define NR_FIELDS  3u
#define FIELD_BITS 21u
#define FIELD_MASK ((1ull << FIELD_BITS) - 1)

#define GENERATION "/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw"

/* Returns a hash of the file's content, which is never 0, or 0 where the file cannot be read. */
static uint64_t hash_file(const char *root, const char *name)
{
	char path[PATH_MAX], id[4096];
	ssize_t nr = -1;
	int fd;

	if (snprintf(path, sizeof(path), "%s%s", root ? root : "", name) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		nr = read(fd, id, sizeof(id));
		close(fd);
	}
	return nr > 0 ? XXH3_64bits(id, (size_t)nr) % FIELD_MASK + 1 : 0;
}

uint64_t identity_read(const char *root)
{
	static const char *const sources[NR_FIELDS] = {
		"/etc/machine-id",
		"/sys/class/dmi/id/product_uuid",
		GENERATION,
	};
	uint64_t identity = 0;

	for (unsigned int i = 0; i < NR_FIELDS; i++)
		identity |= hash_file(root, sources[i]) << (i * FIELD_BITS);
	return identity;
}

uint64_t identity_generation(const char *root)
{
	return hash_file(root, GENERATION);
}

bool identity_differs(uint64_t a, uint64_t b)
{
	for (unsigned int i = 0; i < NR_FIELDS; i++, a >>= FIELD_BITS, b >>= FIELD_BITS)
		if ((a & FIELD_MASK) && (b & FIELD_MASK) && (a & FIELD_MASK) != (b & FIELD_MASK))
			return true;
	return false;
}
