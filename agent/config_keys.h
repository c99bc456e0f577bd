/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys: what the file's and the command line's parsers share; nobody else includes it.
 */
#ifndef AGENT_CONFIG_KEYS_H
#define AGENT_CONFIG_KEYS_H

#include "agent/config.h"

enum config_key {
	KEY_DEVICE,
	KEY_SINK,
	KEY_CGROUP,
	KEY_FILESET,
	KEY_SOURCE,
	KEY_LAYER,
	KEY_WINDOW,
	KEY_LISTEN,
	KEY_SPOOL,
	KEY_SPOOL_BYTES,
	KEY_SPOOL_DROP,
	KEY_HOST,
	KEY_ANONYMIZE,
	KEY_DURATION,
	KEY_SEGMENT_INTERVAL,
	KEY_TRACE,
	KEY_LEAVE_OUT_OWN,
	KEY_MAX_OVERHEAD,
	KEY_SEE_FILES,
	KEY_SECCOMP,
	KEY_TLS_CA,
	KEY_TLS_CERT,
	KEY_TLS_KEY,
	KEY_TOKEN_FILE,
	KEY_PROXY,
	KEY_INSECURE,
	KEY_VERBOSE, /* the last */
};
#define NR_CONFIG_KEYS (KEY_VERBOSE + 1)

/* Sets or appends one value; NULL is legal for those that are true or false. -EINVAL, -ENOMEM. */
int config_set(struct config *c, enum config_key key, const char *value, struct err *err);
/* The list that the key appends to, or NULL. */
struct config_list *config_list_of(struct config *c, enum config_key key);
void config_list_clear(struct config_list *list);

/* The key's name in the file; NULL outside the enum. */
const char *config_key_name(unsigned int key);

/* The word of the list (NULL ends it) most like text, or NULL where none is near. */
const char *config_nearest(const char *text, const char *const *words);

#endif
