/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_keys: the declarations that the table of keys and the parser of the command line share. No
 * other file includes it.
 */
#ifndef AGENT_CONFIG_KEYS_H
#define AGENT_CONFIG_KEYS_H

#include "agent/config.h"

/*
 * Sets or appends one value, as the option --KEY VALUE does. NULL stands for true. Returns 0,
 * -EINVAL or -ENOMEM.
 */
int config_set(struct config *c, const struct field *f, const char *value, struct err *err);
/* Returns the list to which the key appends, or NULL. */
struct config_list *config_list_of(struct config *c, const struct field *f);
void config_list_clear(struct config_list *list);

#endif
