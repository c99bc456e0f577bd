/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/serve/http/server_guard.h"
#include "tests/support/tap.h"

#define SECOND 1000000000ull

static const unsigned int limits[NR_GUARD_PHASES] = { [GUARD_OPEN] = 600,
						      [GUARD_IDLE] = 1200,
						      [GUARD_BODY] = 1800,
						      [GUARD_REPLY] = 2400 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Whether the phase ends its limit after some time from then to now. */
static bool ends_after(const struct connection *c, enum guard_phase phase, uint64_t from_ns)
{
	return c->phase == phase && c->end_ns >= from_ns + limits[phase] * SECOND &&
	       c->end_ns <= now_ns() + limits[phase] * SECOND;
}

static void phases_have_ends(void)
{
	static const enum guard_phase all[] = { GUARD_BODY, GUARD_REPLY, GUARD_IDLE, GUARD_BODY };
	uint64_t from_ns = now_ns();
	struct connection *c;
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	c = guard_add(g, -1, NULL);
	ok(c && ends_after(c, GUARD_OPEN, from_ns));
	for (size_t i = 0; i < TAP_NR(all); i++) {
		from_ns = now_ns();
		guard_enter(g, c, all[i]);
		ok(ends_after(c, all[i], from_ns));
	}
	guard_enter(g, c, GUARD_WORK);
	ok(c->phase == GUARD_WORK && !c->end_ns);
	ok_eq(guard_nr_shut(g), 0);
	guard_remove(g, c);
	guard_free(g);
}

/* Each piece of a body enters the phase: one byte a minute must not hold it for ever. */
static void a_phase_entered_again_goes_on(void)
{
	struct connection *c;
	struct guard *g;
	uint64_t end_ns;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	c = guard_add(g, -1, NULL);
	guard_enter(g, c, GUARD_BODY);
	end_ns = c->end_ns;
	for (int i = 0; i < 3; i++) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		guard_enter(g, c, GUARD_BODY);
		ok_eq(c->end_ns, end_ns);
	}
	guard_enter(g, c, GUARD_REPLY);
	guard_enter(g, c, GUARD_BODY);
	ok(c->end_ns > end_ns);
	guard_remove(g, c);
	guard_free(g);
}

static void connections_leave_in_any_order(void)
{
	struct connection *c[4];
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	guard_remove(g, NULL);
	guard_enter(g, NULL, GUARD_BODY);
	for (int i = 0; i < 4; i++)
		c[i] = guard_add(g, -1, NULL);
	guard_remove(g, c[1]);
	ok(c[2]->next == c[0] && c[0]->link == &c[2]->next);
	guard_remove(g, c[3]);
	ok(c[2]->next == c[0] && *c[2]->link == c[2]);
	guard_remove(g, c[0]);
	ok(!c[2]->next && *c[2]->link == c[2]);
	guard_remove(g, c[2]);
	guard_free(g);
	guard_free(NULL);
}

/* Thousands of senders that come at once must not end one another's handshakes. */
static void a_large_limit_keeps_little_room(void)
{
	struct connection *c[936];
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	guard_limit(g, 1000);
	for (size_t i = 0; i < TAP_NR(c); i++)
		c[i] = guard_add(g, -1, NULL);
	ok_eq(guard_nr_shut(g), 0);
	guard_remove(g, guard_add(g, -1, NULL));
	ok_eq(guard_nr_shut(g), 1);
	for (size_t i = 0; i < TAP_NR(c); i++)
		guard_remove(g, c[i]);
	guard_free(g);
}

/* Only bytes of handshakes and first heads that wait for this server count. */
static void unread_handshakes_are_owed(void)
{
	struct connection *c[6];
	int ends[6][2];
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	for (int i = 0; i < 6; i++) {
		ok_int(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
		c[i] = guard_add(g, ends[i][0], NULL);
	}
	ok(!guard_owes(g, 1));
	for (int i = 0; i < 5; i++)
		ok_int((int)write(ends[i][1], "x", 1), 1);
	ok(guard_owes(g, 5) && !guard_owes(g, 6) && !guard_owes(g, 7));
	guard_enter(g, c[0], GUARD_BODY);
	guard_remove(g, c[1]);
	ok(guard_owes(g, 3) && !guard_owes(g, 4));
	guard_enter(g, c[0], GUARD_IDLE);
	ok(guard_owes(g, 3) && !guard_owes(g, 4));
	for (int i = 0; i < 6; i++) {
		if (i != 1)
			guard_remove(g, c[i]);
		close(ends[i][0]);
		close(ends[i][1]);
	}
	ok(!guard_owes(g, 1));
	guard_free(g);
}

static void unknown_connections_make_room(void)
{
	struct connection *c[8];
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, NULL, NULL), 0))
		return;
	guard_limit(g, 8);
	for (int i = 0; i < 6; i++)
		c[i] = guard_add(g, -1, NULL);
	ok_eq(guard_nr_shut(g), 0);
	guard_know(g, c[0]);
	guard_enter(g, c[1], GUARD_BODY);
	guard_enter(g, c[2], GUARD_IDLE);
	c[6] = guard_add(g, -1, NULL);
	ok_eq(guard_nr_shut(g), 1);
	ok(!c[0]->is_shut && !c[1]->is_shut && c[2]->is_shut && !c[3]->is_shut);
	c[7] = guard_add(g, -1, NULL);
	ok(c[3]->is_shut && !c[4]->is_shut && !c[7]->is_shut);
	for (int i = 0; i < 8; i++)
		guard_know(g, c[i]);
	guard_remove(g, guard_add(g, -1, NULL));
	ok_eq(guard_nr_shut(g), 2);
	guard_know(g, NULL);
	for (int i = 0; i < 8; i++)
		guard_remove(g, c[i]);
	guard_free(g);
}

static void count_tick(void *ctx)
{
	atomic_fetch_add((_Atomic int *)ctx, 1);
}

static void the_tick_comes(void)
{
	_Atomic int ticks = 0;
	struct guard *g;

	if (!ok_int(guard_new(&g, limits, count_tick, &ticks), 0))
		return;
	while (!atomic_load(&ticks))
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	guard_free(g);
	ok(atomic_load(&ticks) >= 1);
}

static const struct tap_test tests[] = {
	{ "each phase has its end, the server's own work none", phases_have_ends },
	{ "a phase that is entered again ends when it would have", a_phase_entered_again_goes_on },
	{ "connections leave in any order", connections_leave_in_any_order },
	{ "the oldest connections of nobody known make room for new ones",
	  unknown_connections_make_room },
	{ "a large limit keeps little room free", a_large_limit_keeps_little_room },
	{ "handshakes that were not read yet are owed", unread_handshakes_are_owed },
	{ "the tick comes", the_tick_comes },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
