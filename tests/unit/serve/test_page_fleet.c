// SPDX-License-Identifier: Apache-2.0
/* What the live page keeps of the fleet is bounded, and no host takes the room of others. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/serve/fleet/page_fleet_state.h"
#include "tests/support/tap.h"

#define BEGIN_S 1700000000.0

static void test_add(struct page_fleet *f, struct page_host *host, unsigned int device)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "%s", host->name);
	snprintf(p.device, sizeof(p.device), "8:%u", device);
	p.begin_s = BEGIN_S;
	p.end_s = BEGIN_S + 1;
	ok_int(page_fleet_add(f, host, &p), 0);
	profile_release(&p);
}

/* Nothing but tables: the thread that reads a store is not started. */
static struct page_fleet *test_fleet(void)
{
	struct page_fleet *f = calloc(1, sizeof(*f));

	u64map_init(&f->by_name);
	u64map_init(&f->by_host);
	return f;
}

static void test_free(struct page_fleet *f)
{
	for (size_t i = 0; i < f->nr_devices; i++)
		free(f->devices[i]);
	for (size_t i = 0; i < f->nr_hosts; i++)
		free(f->hosts[i]);
	free(f->devices);
	free(f->hosts);
	u64map_release(&f->by_name);
	u64map_release(&f->by_host);
	free(f);
}

static void a_host_has_its_share_of_devices(void)
{
	struct page_fleet *f = test_fleet();
	struct page_host *evil = page_fleet_host(f, "evil", BEGIN_S, BEGIN_S + 1, 1);
	struct page_host *good = page_fleet_host(f, "good", BEGIN_S, BEGIN_S + 1, 1);

	for (unsigned int i = 0; i < PAGE_HOST_DEVICES + 100; i++)
		test_add(f, evil, i);
	ok_eq(f->nr_devices, PAGE_HOST_DEVICES);
	ok_eq(f->nr_refused, 100);
	test_add(f, evil, 7); /* One that is shown already goes on. */
	ok_eq(f->nr_refused, 100);
	for (unsigned int i = 0; i < 10; i++)
		test_add(f, good, i);
	ok_eq(f->nr_devices, PAGE_HOST_DEVICES + 10);
	test_free(f);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a host with ever more devices does not take the room of others",
		  a_host_has_its_share_of_devices },
	};

	return tap_run(tests, TAP_NR(tests));
}
