/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: the names under which this machine's traces are sent: host and boot id, or pseudonyms
 * where a key hides them. They are read once, before anything uses them.
 */
#ifndef AGENT_MACHINE_H
#define AGENT_MACHINE_H

#include <stdbool.h>

#include "base/text/err.h"
#include "formats/hide/pseudonym.h"

struct machine {
	char host[SEGMENT_NAME_BYTES], boot_id[SEGMENT_NAME_BYTES]; /* as they appear in traces */
	char real_host[SEGMENT_NAME_BYTES];
	bool is_hidden;
	struct pseudonym_key key; /* the key, where there is one */
};

/*
 * Reads the names and, where key_file is not NULL, the key. Returns 0 or -errno with one line in
 * err.
 */
int machine_read(struct machine *m, const char *host, const char *key_file, struct err *err);
/* Returns the key, or NULL where nothing is hidden. */
const struct pseudonym_key *machine_key(const struct machine *m);

#endif
