// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/later.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory/array.h"

void later_init(struct later *l, uint64_t window_ns)
{
	*l = (struct later){ .window_ns = window_ns };
}

static void list_release(struct later_list *list)
{
	free(list->requests);
	free(list->order);
	*list = (struct later_list){ 0 };
}

void later_release(struct later *l)
{
	for (size_t i = 0; i < LATER_NEAR; i++)
		list_release(&l->near[i]);
	list_release(&l->due);
	list_release(&l->spare);
	free(l->far);
	*l = (struct later){ 0 };
}

static int list_reserve(struct later_list *list, size_t nr)
{
	int ret = array_grow(&list->requests, &list->cap_requests, nr, sizeof(*list->requests));

	return ret ? ret : array_grow(&list->order, &list->cap_order, nr, sizeof(*list->order));
}

static void list_swap(struct later_list *a, struct later_list *b)
{
	struct later_list was = *a;

	*a = *b;
	*b = was;
}

/* The caller has made room. */
static void list_put(struct later_list *list, const struct request *r, uint64_t order)
{
	if (!list->nr || r->completion_ns < list->first_ns)
		list->first_ns = r->completion_ns;
	list->requests[list->nr] = *r;
	list->order[list->nr++] = order;
}

/* Puts an item at the top of the heap and moves it down until the heap is ordered again. */
static void far_sift_down(struct later_far *heap, size_t nr, struct later_far item)
{
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && heap[child + 1].r.completion_ns < heap[child].r.completion_ns)
			child++;
		if (heap[child].r.completion_ns >= item.r.completion_ns)
			break;
		heap[at] = heap[child];
	}
	heap[at] = item;
}

static int far_keep(struct later *l, const struct request *r)
{
	size_t at;

	if (array_grow(&l->far, &l->cap_far, l->nr_far + 1, sizeof(*l->far)))
		return -ENOMEM;
	for (at = l->nr_far++; at; at = (at - 1) / 2) {
		if (l->far[(at - 1) / 2].r.completion_ns <= r->completion_ns)
			break;
		l->far[at] = l->far[(at - 1) / 2];
	}
	l->far[at] = (struct later_far){ *r, l->nr_kept };
	return 0;
}

int later_keep(struct later *l, const struct request *r, uint64_t end_ns)
{
	struct later_list *list;
	uint64_t period;
	int ret = 0;

	period = l->window_ns ? r->completion_ns / l->window_ns : UINT64_MAX;
	if (period == UINT64_MAX || period - end_ns / l->window_ns >= LATER_NEAR) {
		ret = far_keep(l, r);
		if (ret)
			return ret;
	} else {
		list = &l->near[period % LATER_NEAR];
		if (!list->cap_requests)
			list_swap(list, &l->spare);
		ret = list_reserve(list, list->nr + 1);
		if (ret)
			return ret;
		list_put(list, r, l->nr_kept);
	}
	l->nr_kept++;
	l->nr++;
	return 0;
}

/*
 * Returns whether all requests of a list completed before end_ns. A list is of one period, so
 * either all or none did.
 */
static bool list_is_due(const struct later_list *list, uint64_t end_ns)
{
	return list->nr && list->first_ns < end_ns;
}

static int far_compare_order(const void *a, const void *b)
{
	const struct later_far *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Appends the requests of the heap that are due to an array, in any order. */
static int far_take(struct later *l, uint64_t end_ns, struct later_far **out, size_t *nr,
		    size_t *cap)
{
	while (l->nr_far && l->far[0].r.completion_ns < end_ns) {
		if (array_grow(out, cap, *nr + 1, sizeof(**out)))
			return -ENOMEM;
		(*out)[(*nr)++] = l->far[0];
		l->nr_far--;
		far_sift_down(l->far, l->nr_far, l->far[l->nr_far]);
	}
	return 0;
}

/*
 * Collects all due requests in l->due, sorted by order, where they come from several lists or from
 * the heap.
 */
static int take_several(struct later *l, uint64_t end_ns)
{
	struct later_far *all = NULL;
	size_t nr = 0, cap = 0;
	int ret = far_take(l, end_ns, &all, &nr, &cap);

	for (size_t i = 0; i < LATER_NEAR && !ret; i++) {
		struct later_list *list = &l->near[i];

		if (!list_is_due(list, end_ns))
			continue;
		ret = array_grow(&all, &cap, nr + list->nr, sizeof(*all));
		if (ret)
			break;
		for (size_t k = 0; k < list->nr; k++)
			all[nr++] = (struct later_far){ list->requests[k], list->order[k] };
		list_release(list);
	}
	if (!ret)
		ret = list_reserve(&l->due, nr);
	if (ret)
		goto out;
	qsort(all, nr, sizeof(*all), far_compare_order);
	for (size_t i = 0; i < nr; i++)
		list_put(&l->due, &all[i].r, all[i].order);
out:
	free(all);
	return ret;
}

int later_take(struct later *l, uint64_t end_ns, const struct request **out, size_t *nr)
{
	bool is_far_due = l->nr_far && l->far[0].r.completion_ns < end_ns;
	struct later_list *only = NULL;
	size_t nr_due = 0;
	int ret = 0;

	l->due.nr = 0;
	for (size_t i = 0; i < LATER_NEAR; i++) {
		if (!list_is_due(&l->near[i], end_ns))
			continue;
		only = &l->near[i];
		nr_due++;
	}
	if (nr_due == 1 && !is_far_due) {
		/* A list keeps its memory only while it is in use. */
		list_release(&l->spare);
		list_swap(&l->spare, &l->due);
		list_swap(&l->due, only);
	} else if (nr_due || is_far_due) {
		ret = take_several(l, end_ns);
	}
	*out = l->due.requests;
	*nr = l->due.nr;
	l->nr -= l->due.nr;
	return ret;
}

uint64_t later_first_ns(const struct later *l)
{
	uint64_t first = l->nr_far ? l->far[0].r.completion_ns : UINT64_MAX;

	for (size_t i = 0; i < LATER_NEAR && l->nr; i++)
		if (l->near[i].nr && l->near[i].first_ns < first)
			first = l->near[i].first_ns;
	return first;
}
