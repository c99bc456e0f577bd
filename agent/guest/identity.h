/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity: which machine this is, so that an account on a copied or restored disk is not taken for
 * this machine's own past.
 *
 * Hashes of /etc/machine-id, the product's UUID and the VM generation id, as far as they can be
 * read: a clone has another UUID or machine id, a guest restored from a snapshot another generation
 * id (QEMU hands it over in fw_cfg; readable by root). Hosts of Linux without them get 0: unknown.
 */
#ifndef AGENT_IDENTITY_H
#define AGENT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * root: a folder in place of "/", for tests; NULL: none. Never fails: 0 where nothing is readable.
 */
uint64_t identity_read(const char *root);
/* A hash of the VM generation id alone: it changes where the guest goes on from a snapshot. */
uint64_t identity_generation(const char *root);
/* Whether some source that was readable for both says so: root can read more than others. */
bool identity_differs(uint64_t a, uint64_t b);

#endif
