/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_parts: reads and writes of several VMs on a storage system of several parts.
 *
 * The mix of Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments,
 * 2015, section 7.5.2, has one server that takes one request at a time, and weights of VMs that
 * stand for whatever queues in front of it. Here a VM lets `depth` requests on and chooses among
 * those that wait by its own alpha and beta; those under way pass a latency that does not queue,
 * then servers that both types share, then one of their own type. Service times are base + bytes
 * * size. The thesis's net is the case of depth 1 over all VMs, no shared server and one server
 * for both types.
 */
#ifndef ANALYZER_STORAGE_PARTS_H
#define ANALYZER_STORAGE_PARTS_H

#include "analyzer/models/storage/storage_model.h"
#include "analyzer/models/storage/storage_net.h"

/* The net after its parameters, as YAML; for storage_net_write(). */
void storage_parts_write(struct buf *out, const struct storage_net *n);

/* Mean service time of a shared server. */
static inline double storage_shared_at(const struct storage_shared *s, int write, double size_bytes)
{
	return s->base_s[write] + s->per_byte_s[write] * size_bytes;
}

/* Alone, one client: latency and all servers. Seconds, above 0 or the fit is beyond its range. */
double storage_parts_alone(const struct storage_parts *p, int write, double size_bytes);

/*
 * Gives a net of clients (storage_mix_net()) the parts, for requests of these sizes (0: none of the
 * type); own servers are as fast as the saturated runs alone say. Weights stay.
 */
void storage_parts_net(struct storage_net *n, const struct storage_mix *mix,
		       const struct storage_parts *p, const double sizes[2]);
/* The weights of every VM by its own phi; 1 where it has requests of one type alone. */
void storage_parts_weigh(struct storage_net *n, const struct storage_parts *p,
			 const double sizes[2]);

#endif
