/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_fleet: this module keeps in memory what every device of every host does now and did in the
 * last hour.
 *
 * At the start, one thread reads the last hour of the store. After that it reads the windows of
 * each segment as soon as serve has stored it. The thread keeps the last window and 60 minutes of
 * each device. For the fleet it keeps the sums of each second, aligned by real time; the highest of
 * these sums is the coincident peak. A request for the page copies numbers and reads no file.
 * Segments that other programs put into the store are found by looking through the store again;
 * these looks take at most a hundredth of the time.
 *
 * Memory: at most PAGE_MAX_DEVICES devices of about 2 KiB each, of which one host has at most
 * PAGE_HOST_DEVICES, so that no guest takes the room of others. Further devices are counted, but
 * not shown. The hour ends with the newest window, or with the present time if the newest window
 * lies ahead of this machine's clock.
 */
#ifndef ANALYZER_SERVE_FLEET_PAGE_FLEET_H
#define ANALYZER_SERVE_FLEET_PAGE_FLEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/fleet/page_label.h"
#include "analyzer/serve/fleet/page_objective.h"
#include "analyzer/serve/period/page_store.h"

#define PAGE_MAX_DEVICES  65536
#define PAGE_HOST_DEVICES 4096
#define PAGE_MINUTES	  60
#define PAGE_SECONDS	  3600
#define PAGE_ROWS	  64 /* rows of one page of the fleet: the default and the maximum */

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
	/* part of a host's or device's name, or a label as "key=value"; "" or NULL: all */
	const char *words;
	const char *group; /* key of the labels by which rows are added up; NULL: none */
	const char *host;  /* only this host; NULL: all */
	size_t from, limit;
	/* Returns whether the reader may see a host; NULL: the reader may see all hosts. */
	bool (*permits)(void *ctx, const char *host);
	void *permits_ctx;
};

/*
 * Starts the thread. store and objectives (NULL: none), which are given every window, are borrowed
 * and must outlive the fleet. Returns 0, -ENOMEM, ...
 */
int page_fleet_start(struct page_fleet **out, struct page_store *store,
		     struct page_objectives *objectives, struct err *err);
void page_fleet_stop(struct page_fleet *f);

/*
 * Tells the fleet that serve has stored a segment. Any thread may call it; it never waits for a
 * file.
 */
void page_fleet_stored(struct page_fleet *f, const struct segment_name *n);

/* The generation grows whenever something that is shown has changed. */
uint64_t page_fleet_generation(struct page_fleet *f);
/*
 * Waits until the generation differs, but at most wait_ms or until page_fleet_wake(), and returns
 * the generation.
 */
uint64_t page_fleet_wait(struct page_fleet *f, uint64_t generation, unsigned int wait_ms);
/*
 * Returns the end of the hour that is shown, in seconds since 1970; 0 while the store is being read
 * at the start.
 */
double page_fleet_loaded_s(struct page_fleet *f);
/* Gives the name of a host, by its number from 0 on; returns false behind the last one. */
bool page_fleet_host_name(struct page_fleet *f, size_t i, char out[SEGMENT_NAME_BYTES]);
/* Returns whether the fleet has had windows of this host since serve was started. */
bool page_fleet_has_host(struct page_fleet *f, const char *host);
/*
 * Returns the end, in seconds since 1970, of the newest segment that the host's agent sent without
 * its requests. The agent has deleted the requests that it kept back until then. Returns NaN if the
 * agent sent all requests.
 */
double page_fleet_kept_back_s(struct page_fleet *f, const char *host);
/* Makes every waiting call of page_fleet_wait() return. */
void page_fleet_wake(struct page_fleet *f);

/*
 * Replaces the labels of the hosts. The fleet owns the new labels from now on; NULL means that
 * there are none.
 */
void page_fleet_set_labels(struct page_fleet *f, struct page_labels *labels);

/* Returns the object that docs/api.md describes, a new reference; NULL if memory is out. */
json_t *page_fleet_json(struct page_fleet *f, const struct page_fleet_question *q);

#endif
