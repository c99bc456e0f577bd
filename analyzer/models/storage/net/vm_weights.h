/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_weights: computes the firing weights of the reads and writes of several VMs from those of the
 * whole system (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments,
 * 2015, algorithms 4 and 5, after Rostami 2014), or from each VM's share of the clients.
 *
 * The step widths of algorithm 4 are misprinted in the thesis. Here, delta is (alpha - beta) / v
 * for the type that has the larger weight, and the smaller weight / v for the other type. This is
 * the only reading that treats both types alike. Weights must stay above 0: a weight that would
 * not is set to a hundredth of the type's largest weight, and counted.
 */
#ifndef ANALYZER_VM_WEIGHTS_H
#define ANALYZER_VM_WEIGHTS_H

#include <stddef.h>

#include "analyzer/models/storage/net/storage_net.h"

/* This struct holds the weights of all VMs together, or those of one VM. */
struct rw_weights {
	double alpha, beta; /* above 0 */
};

/*
 * Algorithm 4: sets the weights of nr VMs from their clients. If alpha equals beta, the weights
 * fall by 1, 2, ... in the order of clients, so they count in the unit of the caller. Returns how
 * many weights were raised to stay above 0.
 */
size_t vm_weights_ordered(struct storage_vm *vms, size_t nr, struct rw_weights all);

/*
 * These coefficients of algorithm 5 say how strongly the writes and reads of VMs influence each
 * other.
 */
#define VM_WEIGHTS_EPSILON 0.3
#define VM_WEIGHTS_C	   2

/*
 * Algorithm 5. local[j] holds the weights that VM j would have alone. Returns how many weights
 * were raised to stay above 0.
 */
size_t vm_weights_adjusted(struct storage_vm *vms, size_t nr, struct rw_weights all,
			   const struct rw_weights *local);

/*
 * Divides the weight of each type in proportion to clients^kappa: kappa 0 gives every VM the same
 * weight, kappa 1 gives every client the same weight. This rule is for measurements that fit
 * neither algorithm.
 */
void vm_weights_shared(struct storage_vm *vms, size_t nr, struct rw_weights all,
		       const double kappa[2]);

/*
 * Divides the time of the storage system between VMs in proportion to min(clients, cap)^kappa, and
 * the time of each VM by its own weights. This rule is for hosts that queue requests themselves.
 * service_s holds the mean service times of reads and writes.
 */
void vm_weights_local(struct storage_vm *vms, size_t nr, const struct rw_weights *local,
		      double kappa, double cap, const double service_s[2]);

/* The inversion below applies if reads are at least this many times as large as writes. */
#define VM_WEIGHTS_INVERSION 4

/*
 * Applies the priority inversion of section 7.5.4: the VM that has the fewest readers swaps its two
 * weights.
 */
void vm_weights_invert(struct storage_vm *vms, size_t nr);

#endif
