/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_parts: models reads and writes of several VMs on a storage system that consists of
 * several parts.
 *
 * The mix of Noorshams (Modeling and Prediction of I/O Performance in Virtualized Environments,
 * 2015, section 7.5.2) has one server that serves one request at a time, and weights of VMs that
 * represent all queues in front of it. Here, a VM lets `depth` requests into the system at a time,
 * and chooses among its waiting requests by its own alpha and beta. A request in the system passes
 * a latency that does not queue, then the servers that both types share, then one server of its
 * own type. Service times are base + bytes * size. The net of the thesis is the special case of
 * depth 1 over all VMs, no shared server, and one server for both types.
 */
#ifndef ANALYZER_STORAGE_PARTS_H
#define ANALYZER_STORAGE_PARTS_H

#include "analyzer/models/storage/net/storage_model.h"
#include "analyzer/models/storage/net/storage_net.h"

/* Writes the net after its parameters as YAML, for storage_net_write(). */
void storage_parts_write(struct buf *out, const struct storage_net *n);

/* Returns the mean service time of a shared server for requests of a size. */
static inline double storage_shared_at(const struct storage_shared *s, int write, double size_bytes)
{
	return s->base_s[write] + s->per_byte_s[write] * size_bytes;
}

/*
 * Returns the response time of one client alone, in seconds: the latency plus all service times.
 * The result is above 0 unless the size is beyond the range of the fit.
 */
double storage_parts_alone(const struct storage_parts *p, int write, double size_bytes);

/*
 * Adds the parts to a net of clients (storage_mix_net()) for requests of these sizes (0: there are
 * none of that type). The speed of the own servers comes from the saturated runs of one type
 * alone. The weights do not change.
 */
void storage_parts_net(struct storage_net *n, const struct storage_mix *mix,
		       const struct storage_parts *p, const double sizes[2]);
/* Sets the weights of every VM from its own phi; 1 for a VM whose requests are all of one type. */
void storage_parts_weigh(struct storage_net *n, const struct storage_parts *p,
			 const double sizes[2]);

#endif
