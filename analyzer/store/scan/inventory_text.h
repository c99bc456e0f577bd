/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_text: writes the contents of a store for one host as JSON and as text for people. */
#ifndef ANALYZER_INVENTORY_TEXT_H
#define ANALYZER_INVENTORY_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyzer/store/scan/inventory.h"

/* Returns a new reference, or NULL where memory is out. */
json_t *inventory_host_json(const struct inventory_host *h);
/*
 * Prints the host with its devices. all: also those without requests. Returns how many devices were
 * left out.
 */
size_t inventory_host_print(const struct inventory_host *h, bool utc, bool all, FILE *out);

#endif
