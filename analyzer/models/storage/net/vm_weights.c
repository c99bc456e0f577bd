// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdbool.h>

#include "analyzer/models/storage/net/vm_weights.h"

#define LEAST_SHARE 0.01

/* Sorts the numbers of VMs by key, stably; this permutation is pi in the algorithms. */
static void order_by(size_t *order, const double *key, size_t nr, bool descending)
{
	for (size_t i = 0; i < nr; i++) {
		size_t at = i;

		while (at &&
		       (descending ? key[order[at - 1]] < key[i] : key[order[at - 1]] > key[i])) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

static size_t nr_distinct(const double *sorted, size_t nr)
{
	size_t distinct = nr > 0;

	for (size_t i = 1; i < nr; i++)
		distinct += sorted[i] != sorted[i - 1];
	return distinct;
}

static size_t vm_weights_clamp(struct storage_vm *vms, size_t nr)
{
	size_t clamped = 0;

	for (int w = 0; w < 2; w++) {
		double largest = 0;

		for (size_t j = 0; j < nr; j++)
			largest = fmax(largest, vms[j].weight[w]);
		largest = largest > 0 ? largest : 1;
		for (size_t j = 0; j < nr; j++) {
			if (vms[j].weight[w] >= LEAST_SHARE * largest)
				continue;
			vms[j].weight[w] = LEAST_SHARE * largest;
			clamped += vms[j].clients[w] > 0;
		}
	}
	return clamped;
}

/* Computes one type of algorithm 4: lines 16 - 27 if delta is 0, otherwise lines 36 - 53. */
static void vm_weights_descend(struct storage_vm *vms, size_t nr, int w, double weight,
			       double delta)
{
	double clients[STORAGE_VMS_MAX] = { 0 }, eta = 1;
	size_t order[STORAGE_VMS_MAX];

	for (size_t j = 0; j < nr; j++)
		clients[j] = vms[j].clients[w];
	order_by(order, clients, nr, true);
	vms[order[0]].weight[w] = (double)nr * weight;
	for (size_t i = 1; i < nr; i++) {
		struct storage_vm *vm = &vms[order[i]];

		vm->weight[w] = vms[order[i - 1]].weight[w];
		if (vm->clients[w] == vms[order[i - 1]].clients[w])
			continue;
		vm->weight[w] -= delta > 0 ? delta * eta : eta;
		eta++;
	}
}

size_t vm_weights_ordered(struct storage_vm *vms, size_t nr, struct rw_weights all)
{
	double v = (double)nr, delta[2] = { 0, 0 };

	if (all.alpha > all.beta) {
		delta[0] = (all.alpha - all.beta) / v;
		delta[1] = all.beta / v;
	} else if (all.alpha < all.beta) {
		delta[0] = all.alpha / v;
		delta[1] = (all.beta - all.alpha) / v;
	}
	vm_weights_descend(vms, nr, 0, all.alpha, delta[0]);
	vm_weights_descend(vms, nr, 1, all.beta, delta[1]);
	return vm_weights_clamp(vms, nr);
}

/*
 * Runs lines 24 - 51 of algorithm 5: sets read weights in ascending order of clients, outwards from
 * the VMs of the largest local write weight.
 */
static void adjust_reads(struct storage_vm *vms, size_t nr, const size_t *order, const double *t,
			 const bool *top, double highest, double delta)
{
	size_t first = nr, last = 0;
	double a[STORAGE_VMS_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		if (!top[order[i]])
			continue;
		a[i] = highest;
		first = first < i ? first : i;
		last = i;
	}
	for (size_t i = first; i-- > 0;)
		a[i] = t[order[i]] == t[order[i + 1]] ? a[i + 1] : a[i + 1] + delta;
	for (size_t i = last + 1; i < nr; i++)
		a[i] = t[order[i]] == t[order[i - 1]] ? a[i - 1] : a[i - 1] - delta;
	for (size_t i = 1; i + 1 < nr; i++)
		if (a[i] == 0)
			a[i] = a[i - 1];
	for (size_t i = 0; i < nr; i++)
		vms[order[i]].weight[0] = a[i];
}

/*
 * Runs lines 52 - 66 of algorithm 5: corrects the write weights in two cases, in descending order
 * of clients.
 */
static void adjust_writes(struct storage_vm *vms, size_t nr, const size_t *order, const double *t)
{
	double sorted[STORAGE_VMS_MAX], epsilon = VM_WEIGHTS_EPSILON;
	bool disordered = false;
	size_t distinct;

	for (size_t i = 0; i < nr; i++)
		sorted[i] = t[order[i]];
	distinct = nr_distinct(sorted, nr);
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < nr; j++)
			disordered |= t[i] < t[j] && vms[i].weight[1] >= vms[j].weight[1];
	if (distinct == nr && disordered) {
		for (size_t i = 0; i < nr; i++) {
			vms[order[i]].weight[1] *= 1 - epsilon;
			if (i && distinct > 1)
				epsilon *= (double)(distinct - 2) / (double)(distinct - 1);
		}
	} else if (distinct == 2 && sorted[nr - 1] != sorted[nr - 2]) {
		vms[order[nr - 1]].weight[1] *= 1 + epsilon;
	}
}

size_t vm_weights_adjusted(struct storage_vm *vms, size_t nr, struct rw_weights all,
			   const struct rw_weights *local)
{
	double t[STORAGE_VMS_MAX] = { 0 }, readers[STORAGE_VMS_MAX] = { 0 }, most = 0;
	double highest, delta;
	size_t ascending[STORAGE_VMS_MAX], descending[STORAGE_VMS_MAX];
	bool top[STORAGE_VMS_MAX];

	for (size_t j = 0; j < nr; j++) {
		t[j] = vms[j].clients[0] + vms[j].clients[1];
		readers[j] = vms[j].clients[0];
		most = fmax(most, local[j].beta);
		vms[j].weight[1] = local[j].beta;
	}
	highest = all.alpha / all.beta * most;
	for (size_t j = 0; j < nr; j++)
		top[j] = local[j].beta == most;
	order_by(ascending, readers, nr, false);
	for (size_t i = 0; i < nr; i++)
		readers[i] = vms[ascending[i]].clients[0];
	delta = (highest - most) / (VM_WEIGHTS_C * (double)nr_distinct(readers, nr));
	order_by(ascending, t, nr, false);
	order_by(descending, t, nr, true);
	adjust_reads(vms, nr, ascending, t, top, highest, delta);
	adjust_writes(vms, nr, descending, t);
	return vm_weights_clamp(vms, nr);
}

void vm_weights_shared(struct storage_vm *vms, size_t nr, struct rw_weights all,
		       const double kappa[2])
{
	for (int w = 0; w < 2; w++) {
		double sum = 0;

		for (size_t j = 0; j < nr; j++)
			if (vms[j].clients[w] > 0)
				sum += pow(vms[j].clients[w], kappa[w]);
		for (size_t j = 0; j < nr; j++)
			vms[j].weight[w] = vms[j].clients[w] > 0
						   ? (w ? all.beta : all.alpha) *
							     pow(vms[j].clients[w], kappa[w]) / sum
						   : all.beta;
	}
}

void vm_weights_local(struct storage_vm *vms, size_t nr, const struct rw_weights *local,
		      double kappa, double cap, const double service_s[2])
{
	for (size_t j = 0; j < nr; j++) {
		struct storage_vm *vm = &vms[j];
		double share = pow(fmin(vm->clients[0] + vm->clients[1], cap), kappa);
		double alpha = vm->clients[0] > 0 ? local[j].alpha : 0;
		double beta = vm->clients[1] > 0 ? local[j].beta : 0;

		/*
		 * requests = time / mean service time of the VM's mix, in units of the read
		 * service time
		 */
		share *= service_s[0] / (alpha * service_s[0] + beta * service_s[1]);
		vm->weight[0] = share * (alpha > 0 ? alpha : 1);
		vm->weight[1] = share * (beta > 0 ? beta : 1);
	}
}

void vm_weights_invert(struct storage_vm *vms, size_t nr)
{
	size_t fewest = nr;
	double weight;

	for (size_t j = 0; j < nr; j++)
		if (vms[j].clients[0] > 0 &&
		    (fewest == nr || vms[j].clients[0] < vms[fewest].clients[0]))
			fewest = j;
	if (fewest == nr)
		return;
	weight = vms[fewest].weight[0];
	vms[fewest].weight[0] = vms[fewest].weight[1];
	vms[fewest].weight[1] = weight;
}
