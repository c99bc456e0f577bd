/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: the names under which this machine's traces go: host and boot id, or pseudonyms for
 * them where a key hides them. Read once, before anything takes a name.
 */
#ifndef AGENT_MACHINE_H
#define AGENT_MACHINE_H

#include <stdbool.h>

#include "base/err.h"
#include "formats/hide/pseudonym.h"

struct machine {
	char host[SEGMENT_NAME_BYTES], boot_id[SEGMENT_NAME_BYTES]; /* as they leave */
	char real_host[SEGMENT_NAME_BYTES];
	bool is_hidden;
	struct pseudonym_key key; /* where it is */
};

/* key_file NULL: nothing is hidden. -errno with one line in err. */
int machine_read(struct machine *m, const char *host, const char *key_file, struct err *err);
/* The key, or NULL where nothing is hidden. */
const struct pseudonym_key *machine_key(const struct machine *m);

#endif
