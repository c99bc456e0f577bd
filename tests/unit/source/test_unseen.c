/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "agent/source/bpf/unseen.h"
#include "bpf/life.h"
#include "tests/support/tap.h"

#define NR_DISKS 4 /* no disk is number 0 */

static int64_t under_way[NR_DISKS];
static unsigned int nr_asked[NR_DISKS];

static int64_t in_flight(uint32_t device)
{
	nr_asked[device]++;
	return under_way[device];
}

struct world {
	struct unseen looks;
	struct inflight lines[INFLIGHT_NR];
	struct event_request told[8];
	size_t nr_told;
};

static struct world w;

static void on_told(void *ctx, const struct event_request *e)
{
	struct world *world = ctx;

	if (world->nr_told < TAP_NR(world->told))
		world->told[world->nr_told] = *e;
	world->nr_told++;
}

static void begin(void)
{
	memset(&w, 0, sizeof(w));
	memset(under_way, 0, sizeof(under_way));
	memset(nr_asked, 0, sizeof(nr_asked));
}

static void put(uint32_t line, uint32_t device, uint64_t sector)
{
	w.lines[line] = (struct inflight){ .key = 0x1000 + line * 8ull,
					   .arrival_ns = 77,
					   .dispatch_ns = 99,
					   .pid_tgid = 12ull << 32 | 34,
					   .sector = sector,
					   .bytes = 4096,
					   .device = device,
					   .cmd_flags = 1,
					   .requeues = 2,
					   .flags = EVENT_KERNEL_THREAD };
}

/* The end of a request is not paired with the arrival of an earlier one at its address. */
static void line_of_an_earlier_life_is_told_apart(void)
{
	enum { MASK = 0xff, READ = 0, WRITE = 1, FLUSH = 2, APPEND = 7, SYNC = 1 << 11 };
	struct inflight at = { .key = 1, .sector = 800, .bytes = 4096, .cmd_flags = WRITE | SYNC };

	ok(line_is_of(&at, 800, 4096, WRITE, MASK));
	ok(line_is_of(&at, 800, 65536, WRITE, MASK)); /* grown at its end */
	ok(line_is_of(&at, 792, 8192, WRITE, MASK));  /* and at its begin */
	ok(!line_is_of(&at, 808, 4096, WRITE, MASK));
	ok(!line_is_of(&at, 792, 4096, WRITE, MASK));
	ok(!line_is_of(&at, 800, 4096, READ, MASK));
	ok(!line_is_of(&at, 800, 0, FLUSH, MASK));
	at.cmd_flags = APPEND;
	ok(line_is_of(&at, 5000, 4096, APPEND, MASK)); /* the driver chose its place */
	at.cmd_flags = WRITE;
	at.has_parts = 1;
	ok(line_is_of(&at, 804, 2048, WRITE, MASK));
	at = (struct inflight){ .key = 1, .cmd_flags = WRITE };
	ok(line_is_of(&at, 0, 0, WRITE, MASK));
	ok(!line_is_of(&at, 800, 4096, WRITE, MASK));
}

/* A write in a flush sequence ends twice: its data, and then all of it, with nothing left. */
static void write_whose_data_ended_unseen_is_told_apart(void)
{
	enum { MASK = 0xff, READ = 0, WRITE = 1, FUA = 1 << 17 };
	struct inflight at = { .key = 1, .sector = 800, .bytes = 4096, .cmd_flags = WRITE | FUA };

	ok(!line_is_of(&at, 808, 0, WRITE, MASK));
	ok(line_lost_data_end(&at, 808, 0, WRITE, MASK));
	ok(line_lost_data_end(&at, 800, 0, WRITE, MASK));
	ok(!line_lost_data_end(&at, 804, 0, WRITE, MASK));
	ok(!line_lost_data_end(&at, 808, 4096, WRITE, MASK));
	ok(!line_lost_data_end(&at, 808, 0, READ, MASK));
	ok(!line_lost_data_end(&at, 0, 0, WRITE, MASK)); /* an empty flush */
	at.sector = 0;
	ok(line_lost_data_end(&at, 8, 0, WRITE, MASK));
	ok(!line_lost_data_end(&at, 0, 0, WRITE, MASK));
	at.bytes = 0;
	ok(!line_lost_data_end(&at, 0, 0, WRITE, MASK));
}

static void length_of_what_ended_in_parts(void)
{
	struct inflight at = { .key = 1, .bytes = 4096, .has_parts = 1 };

	ok_eq(line_bytes(&at, 0), 4096); /* the end of the data was not seen */
	at.ended_bytes = 4096;
	ok_eq(line_bytes(&at, 0), 4096);
	at.ended_bytes = 8192; /* both programs saw it */
	ok_eq(line_bytes(&at, 0), 4096);
	at.bytes = 65536;
	ok_eq(line_bytes(&at, 57344), 65536);
}

enum { NR_CLAIMS = 300000 };

struct claimer {
	struct inflight *set;
	uint64_t first_key;
	size_t nr_shared; /* lines that somebody else took or freed while they were ours */
};

static void *claim_and_free(void *arg)
{
	struct claimer *c = arg;

	for (uint64_t key = c->first_key; key < c->first_key + 8 * NR_CLAIMS; key += 8) {
		struct inflight *at;

		while (!(at = line_claim(c->set, key)))
			sched_yield();
		for (int i = 0; i < 8; i++)
			c->nr_shared += __atomic_load_n(&at->key, __ATOMIC_ACQUIRE) != key;
		__atomic_store_n(&at->key, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Two processors that look for a line of one set at the same instant get different ones. */
static void claimed_once(void)
{
	struct inflight set[INFLIGHT_WAYS] = { 0 };
	struct claimer claimers[] = { { set, 1ull << 40, 0 }, { set, 2ull << 40, 0 } };
	pthread_t thread;

	ok_int(pthread_create(&thread, NULL, claim_and_free, &claimers[0]), 0);
	claim_and_free(&claimers[1]);
	pthread_join(thread, NULL);
	ok_eq(claimers[0].nr_shared, 0);
	ok_eq(claimers[1].nr_shared, 0);
	for (size_t i = 0; i < INFLIGHT_WAYS; i++)
		ok_int(line_claim(set, 8 * (i + 1)) != NULL, true);
	ok(!line_claim(set, 80));
}

/* A line that was taken away stays with its new owner, and the end of the old one is no record. */
static void released_by_its_owner_alone(void)
{
	struct inflight at = { .key = 8 };

	ok_int(line_release(&at, 8), 1);
	ok_eq(at.key, 0);
	at.key = 16;
	ok_int(line_release(&at, 8), 0);
	ok_eq(at.key, 16);
	at.key = 8 | INFLIGHT_TOLD; /* The agent has recorded the end. */
	ok_int(line_release(&at, 8), 0);
	ok_eq(at.key, 0);
}

/* Between the search for a line and its use the line can be freed, told or taken away. */
static void taken_over_only_under_its_key(void)
{
	struct inflight at = { .key = 8 };

	ok_int(line_take_over(&at, 8), LINE_UNSEEN);
	ok_eq(at.key, 8);
	at.key = 8 | INFLIGHT_TOLD;
	ok_int(line_take_over(&at, 8), LINE_TOLD);
	ok_eq(at.key, 8);
	at.key = 0;
	ok_int(line_take_over(&at, 8), LINE_GONE);
	ok_eq(at.key, 0);
	at.key = 16;
	ok_int(line_take_over(&at, 8), LINE_GONE);
	ok_eq(at.key, 16);
}

static size_t look(bool is_last)
{
	size_t before = w.nr_told;

	unseen_settle(&w.looks, w.lines, in_flight, is_last, on_told, &w);
	return w.nr_told - before;
}

static void told_at_the_second_look(void)
{
	begin();
	put(5, 1, 800);
	ok_eq(look(false), 0);
	ok(w.lines[5].key);
	ok_eq(look(false), 1);
	ok_eq(w.lines[5].key, (0x1000 + 5 * 8) | INFLIGHT_TOLD); /* in case it ends after all */
	ok_eq(w.told[0].kind, EVENT_REQUEST);
	ok_eq(w.told[0].flags, EVENT_KERNEL_THREAD | EVENT_NO_COMPLETION);
	ok_eq(w.told[0].arrival_ns, 77);
	ok_eq(w.told[0].completion_ns, 0);
	ok_eq(w.told[0].sector, 800);
	ok_eq(w.told[0].bytes, 4096);
	ok_eq(w.told[0].device, 1);
	ok_eq(w.told[0].cmd_flags, 1);
	ok_eq(w.told[0].requeues, 2);
	ok_eq(w.told[0].tid, 34);
	ok_eq(w.told[0].pid, 12);
	ok_eq(w.told[0].cgroup_id, 0); /* a request's line holds its dispatch there */
	ok_eq(look(false), 0);
}

static void kept_for_a_while(void)
{
	begin();
	put(5, 1, 800);
	look(false);
	ok_eq(look(false), 1);
	for (int i = 1; i < UNSEEN_KEEP_LOOKS; i++)
		look(false);
	ok(w.lines[5].key);
	look(false);
	ok_eq(w.lines[5].key, 0);
	ok_eq(w.nr_told, 1);
	put(5, 1, 800); /* begun anew */
	ok_eq(look(false), 0);
	ok_eq(look(false), 1);
}

static void told_then_the_last_look(void)
{
	begin();
	put(5, 1, 800);
	look(false);
	ok_eq(look(false), 1);
	ok_eq(look(true), 0);
	begin();
	put(5, 1, 800);
	ok_eq(look(true), 1);
	ok_eq(w.lines[5].key, 0);
}

static void busy_between(void)
{
	begin();
	put(5, 1, 800);
	ok_eq(look(false), 0);
	under_way[1] = 1;
	ok_eq(look(false), 0); /* it runs after all */
	under_way[1] = 0;
	ok_eq(look(false), 0); /* the first look again */
	ok_eq(look(false), 1);
}

static void another_life(void)
{
	begin();
	put(5, 1, 800);
	ok_eq(look(false), 0);
	put(5, 1, 1600); /* the same address, another request */
	ok_eq(look(false), 0);
	w.lines[5].arrival_ns++; /* and another of that place */
	ok_eq(look(false), 0);
	ok_eq(look(false), 1);
	ok_eq(w.told[0].sector, 1600);
}

static void ended_between(void)
{
	begin();
	put(5, 1, 800);
	ok_eq(look(false), 0);
	w.lines[5].key = 0;
	ok_eq(look(false), 0);
	put(5, 1, 800); /* begun anew: what was seen before it ended counts no more */
	ok_eq(look(false), 0);
}

static void by_disk(void)
{
	begin();
	put(1, 3, 8);
	put(2, 1, 8);
	put(3, 2, 8);
	put(4, 1, 16);
	under_way[1] = 3;
	under_way[2] = -ENODATA;
	ok_eq(look(false), 0);
	ok_eq(look(false), 1); /* that of the idle disk */
	ok_eq(w.told[0].device, 3);
	under_way[1] = 0;
	ok_eq(look(false), 0);
	ok_eq(look(false), 2);
	ok(w.lines[3].key);
}

static void the_last_look(void)
{
	begin();
	put(1, 3, 8);
	put(2, 1, 8);
	put(INFLIGHT_NR - 1, 3, 16);
	under_way[1] = 1;
	ok_eq(look(true), 2);
	ok(w.lines[2].key);
}

static void bios(void)
{
	begin();
	put(1, 3, 8);
	w.lines[1].flags = EVENT_BIO;
	w.lines[1].cgroup_id = 4711;
	ok_eq(look(true), 1);
	ok_eq(w.told[0].cgroup_id, 4711);
}

static const struct tap_test tests[] = {
	{ "a line of the table has one owner when two processors claim at once", claimed_once },
	{ "a line is released by its owner alone", released_by_its_owner_alone },
	{ "a line is taken over only while it has the key that was looked for",
	  taken_over_only_under_its_key },
	{ "a line of an earlier life is told apart", line_of_an_earlier_life_is_told_apart },
	{ "a write whose data ended unseen is told from an empty flush",
	  write_whose_data_ended_unseen_is_told_apart },
	{ "the length of what ended in parts", length_of_what_ended_in_parts },
	{ "a line is told when two looks find its disk idle, with all it holds",
	  told_at_the_second_look },
	{ "a line that was told stays for an hour of looks, and is not told again",
	  kept_for_a_while },
	{ "nor at the end; what is told there frees its line", told_then_the_last_look },
	{ "a disk that is busy in between begins the looks anew", busy_between },
	{ "another request at the same address begins them anew", another_life },
	{ "so does one that ended in between", ended_between },
	{ "disks are told apart; one that keeps no count is left alone", by_disk },
	{ "at the end one look is enough, and a busy disk's are left", the_last_look },
	{ "a bio's line holds its cgroup", bios },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
