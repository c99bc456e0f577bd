/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_weights: firing weights of the reads and writes of several VMs from those of the whole
 * (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015,
 * algorithms 4 and 5, after Rostami 2014), and from the share of clients.
 *
 * The printed step widths of algorithm 4 are garbled; here delta is (alpha - beta) / v for the
 * type of the larger weight and the lesser weight / v for the other, which is the one reading
 * that treats both types alike. Weights must stay above 0: those that would not are set to a
 * hundredth of the type's largest, and counted.
 */
#ifndef ANALYZER_VM_WEIGHTS_H
#define ANALYZER_VM_WEIGHTS_H

#include <stddef.h>

#include "analyzer/models/storage/storage_net.h"

/* Of all VMs together, or of one. */
struct rw_weights {
	double alpha, beta; /* above 0 */
};

/*
 * Algorithm 4: sets the weights of nr VMs from their clients. Equal weights fall by 1, 2, ... down
 * the order of clients, so they count in the caller's unit. Returns how many were clamped.
 */
size_t vm_weights_ordered(struct storage_vm *vms, size_t nr, struct rw_weights all);

/* Algorithm 5's coefficients: what writes and reads of VMs do to each other. */
#define VM_WEIGHTS_EPSILON 0.3
#define VM_WEIGHTS_C	   2

/* Algorithm 5: local[j] are the weights VM j would have alone. Returns how many were clamped. */
size_t vm_weights_adjusted(struct storage_vm *vms, size_t nr, struct rw_weights all,
			   const struct rw_weights *local);

/*
 * Each type's weight parted by clients^kappa: 0 gives every VM the same, 1 every client. Made for
 * measurements that fit neither algorithm.
 */
void vm_weights_shared(struct storage_vm *vms, size_t nr, struct rw_weights all,
		       const double kappa[2]);

/*
 * VMs get time of the storage system by min(clients, cap)^kappa, each parted by its own weights:
 * hosts that queue by themselves. service_s: mean service times of reads and writes.
 */
void vm_weights_local(struct storage_vm *vms, size_t nr, const struct rw_weights *local,
		      double kappa, double cap, const double service_s[2]);

/* Where reads are at least this many times as large as writes, see below. */
#define VM_WEIGHTS_INVERSION 4

/* The priority inversion of section 7.5.4: the VM of fewest readers swaps its two weights. */
void vm_weights_invert(struct storage_vm *vms, size_t nr);

#endif
