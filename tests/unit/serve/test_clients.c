// SPDX-License-Identifier: Apache-2.0
/* Clients that are refused because of others: nobody can choose names that displace a client. */
#include <stdio.h>
#include <string.h>

#include "analyzer/serve/http/clients.h"
#include "tests/support/tap.h"

#define NR_ATTACKERS 8

/* A sum that knows no secret (FNV-1a), by which clients competed for an entry. */
static uint32_t plain_bucket(const char *name)
{
	uint32_t sum = 2166136261u;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 16777619u;
	return sum % 1024;
}

/* One tenant has many names of hosts and keeps a slow upload of each under way. */
static void chosen_names_do_not_displace_a_client(void)
{
	const struct client_limits limits = { .rate_per_s = 200, .nr_active = 8 };
	struct client *victim = NULL, *attackers[NR_ATTACKERS];
	struct clients *c = NULL;
	unsigned int nr = 0;
	uint32_t wait_s;

	ok_int(clients_new(&c, &limits), 0);
	for (unsigned int i = 0; nr < NR_ATTACKERS; i++) {
		char name[CLIENT_NAME_BYTES];

		snprintf(name, sizeof(name), "evil%u", i);
		if (plain_bucket(name) != plain_bucket("db1"))
			continue;
		if (clients_enter(c, name, 1, &attackers[nr], &wait_s) < 0)
			attackers[nr] = NULL;
		nr++;
	}
	ok_int(clients_enter(c, "db1", 1, &victim, &wait_s), 0);
	clients_leave(c, victim, 0);
	for (unsigned int i = 0; i < NR_ATTACKERS; i++)
		clients_leave(c, attackers[i], 0);
	clients_free(c);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "names that were chosen for it do not keep another client out",
		  chosen_names_do_not_displace_a_client },
	};

	return tap_run(tests, TAP_NR(tests));
}
