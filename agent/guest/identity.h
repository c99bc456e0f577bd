/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity: identifies this machine, so that an account on a copied or restored disk is not
 * mistaken for this machine's own past.
 *
 * An identity consists of hashes of /etc/machine-id, the product UUID and the VM generation id, as
 * far as they can be read. A clone has another UUID or machine id; a guest restored from a snapshot
 * has another generation id (QEMU passes it in fw_cfg, readable by root). A Linux machine that has
 * none of these gets 0, which means unknown.
 */
#ifndef AGENT_IDENTITY_H
#define AGENT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * root is a folder used in place of "/" by tests; NULL: none. The function never fails; it returns
 * 0 where nothing is readable.
 */
uint64_t identity_read(const char *root);
/*
 * Returns a hash of the VM generation id alone. It changes when the guest continues from a
 * snapshot.
 */
uint64_t identity_generation(const char *root);
/*
 * Returns whether any source that was readable for both identities differs. Root can read more
 * sources than other users can.
 */
bool identity_differs(uint64_t a, uint64_t b);

#endif
