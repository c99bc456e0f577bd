/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_fleet: what every device of every host does now and did in the last hour, in memory.
 *
 * One thread reads the windows of each segment as soon as serve has stored it, and the last hour of the
 * store at the start. A device has its last window and 60 minutes; the fleet has the sums of each second,
 * aligned by real time, of which the highest is the coincident peak. A request for the page copies numbers
 * and reads no file. What the store of others' folders gets is found by looking through it again, at most
 * for a hundredth of the time.
 *
 * Memory: at most PAGE_MAX_DEVICES devices of about 2 KiB; devices beyond that are counted, not shown.
 * The hour ends with the newest window, or now where that lies ahead of this machine's clock.
 */
#ifndef ANALYZER_SERVE_PAGE_FLEET_H
#define ANALYZER_SERVE_PAGE_FLEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/page_store.h"

#define PAGE_MAX_DEVICES 65536
#define PAGE_MINUTES	 60
#define PAGE_SECONDS	 3600
#define PAGE_ROWS	 64 /* of one page of the fleet, by default and at most */

struct page_fleet;

enum page_order {
	PAGE_BY_RATE,
	PAGE_BY_BYTES,
	PAGE_BY_P50,
	PAGE_BY_P99,
	PAGE_BY_IN_FLIGHT,
	PAGE_BY_LOST,
	PAGE_BY_GAP,
	PAGE_BY_AGE,
	PAGE_BY_HOST,
	PAGE_BY_DEVICE,
	NR_PAGE_ORDERS,
};
extern const char *const page_order_names[NR_PAGE_ORDERS];

struct page_fleet_question {
	enum page_order order;
	bool ascending;
	const char *words; /* part of a host's or device's name; "" or NULL: all */
	const char *host;  /* this one alone; NULL: all */
	size_t from, limit;
	/* Which hosts the reader may see; NULL: all. */
	bool (*permits)(void *ctx, const char *host);
	void *permits_ctx;
};

/* Starts the thread. store is borrowed and must outlive it. 0, -ENOMEM, ... */
int page_fleet_start(struct page_fleet **out, struct page_store *store, struct err *err);
void page_fleet_stop(struct page_fleet *f);

/* serve has stored a segment. Any thread; never waits for a file. */
void page_fleet_stored(struct page_fleet *f, const struct segment_name *n);

/* Goes up whenever something that is shown has changed. */
uint64_t page_fleet_generation(struct page_fleet *f);
/* Waits until the generation is another one, for at most wait_ms or until page_fleet_wake(); returns it. */
uint64_t page_fleet_wait(struct page_fleet *f, uint64_t generation, unsigned int wait_ms);
/* Lets every waiter return. */
void page_fleet_wake(struct page_fleet *f);

/* The object of docs/api.md, a new reference; NULL where memory is out. */
json_t *page_fleet_json(struct page_fleet *f, const struct page_fleet_question *q);

#endif
