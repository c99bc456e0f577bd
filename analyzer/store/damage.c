// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/damage.h"

#include <errno.h>
#include <string.h>

#include "base/text/shown.h"

#define PATH_BYTES 512
#define WHY_BYTES  256

static struct {
	char dir[PATH_BYTES];
	char path[DAMAGE_KEPT][PATH_BYTES];
	char why[DAMAGE_KEPT][WHY_BYTES];
	bool is_unread[DAMAGE_KEPT];
	bool has_damaged;
	size_t nr;
} damage;

static bool is_noted(const char *path)
{
	for (size_t i = 0; i < damage.nr && i < DAMAGE_KEPT; i++)
		if (strncmp(damage.path[i], path, PATH_BYTES - 1) == 0)
			return true;
	return false;
}

bool damage_is_unread(int status)
{
	return status < 0 && status != -EBADMSG && status != -EPROTONOSUPPORT &&
	       status != -EINVAL && status != -EFBIG;
}

void damage_note(const char *store_dir, const char *path, bool is_unread, const char *why)
{
	size_t at = damage.nr;

	if (is_noted(path))
		return;
	damage.nr++;
	damage.has_damaged |= !is_unread;
	if (at >= DAMAGE_KEPT)
		return;
	snprintf(damage.dir, sizeof(damage.dir), "%s", store_dir);
	snprintf(damage.path[at], PATH_BYTES, "%s", path);
	snprintf(damage.why[at], WHY_BYTES, "%s", why);
	damage.is_unread[at] = is_unread;
}

struct wanted {
	struct store *store;
	const char *const *hosts;
	size_t nr_hosts;
};

/* The host is the second part of a segment's path. A path without a host may belong to any host. */
static int note_damaged(void *ctx, const char *path, bool is_unread, const char *why)
{
	const struct wanted *w = ctx;
	const char *slash = strchr(path, '/'), *host = slash ? slash + 1 : "";
	size_t len = strcspn(host, "/");
	bool is_wanted = w->nr_hosts == 0 || !host[0];

	for (size_t i = 0; i < w->nr_hosts && !is_wanted; i++)
		is_wanted = strlen(w->hosts[i]) == len && memcmp(w->hosts[i], host, len) == 0;
	if (is_wanted)
		damage_note(store_dir(w->store), path, is_unread, why);
	return 0;
}

int damage_note_store(struct store *store, const char *const *hosts, size_t nr_hosts,
		      struct err *err)
{
	struct wanted wanted = { store, hosts, nr_hosts };

	return catalog_each_damaged(store_catalog(store), note_damaged, &wanted, err);
}

size_t damage_count(void)
{
	return damage.nr;
}

bool damage_has_damaged(void)
{
	return damage.has_damaged;
}

void damage_print(const char *command, FILE *out)
{
	for (size_t i = 0; i < damage.nr && i < DAMAGE_KEPT; i++) {
		fprintf(out, "blkcast %s: ", command);
		shown_print(damage.path[i], out);
		fprintf(out,
			": %s, left out: ", damage.is_unread[i] ? "cannot be read" : "damaged");
		shown_print(damage.why[i], out);
		fputc('\n', out);
	}
	if (damage.nr > DAMAGE_KEPT)
		fprintf(out, "blkcast %s: %zu files more are left out\n", command,
			damage.nr - DAMAGE_KEPT);
}

const char *damage_store(void)
{
	return damage.dir;
}
