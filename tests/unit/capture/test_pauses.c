/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals in which nothing ran: found, told apart, kept out of what is measured. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/show/board.h"
#include "agent/guest/identity.h"
#include "agent/guest/machine_watch.h"
#include "agent/capture/pause_watch.h"
#include "agent/capture/pipeline.h"
#include "agent/send/sender.h"
#include "agent/capture/stream.h"
#include "tests/support/sample.h"
#include "tests/support/segment_files.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define DEVICE device_make(7, 77)
#define MS     1000000ull
#define S      (1000 * MS)
#define T0     (1000 * S)
#define REAL0  (1700000000 * S)

/* ---- the looks of the capture thread ---- */

/* So much on each clock after T0, having meant to wait so long and worked so long. */
static bool look(struct pause_watch *w, uint64_t mono_ns, uint64_t asleep_ns, uint64_t wait_ns,
		 uint64_t cpu_ns, struct pause *out)
{
	struct pause_look now = { .at = { T0 + mono_ns, T0 + mono_ns + asleep_ns,
					  REAL0 + mono_ns + asleep_ns },
				  .cpu_ns = cpu_ns,
				  .wait_ns = wait_ns };

	return pause_watch_look(w, &now, out);
}

static void waiting_and_working_are_no_pause(void)
{
	struct pause_watch w = { 0 };
	struct pause p;

	ok(!look(&w, 0, 0, 10 * MS, 0, &p));
	ok(!look(&w, 250 * MS, 0, 250 * MS, 0, &p));
	ok(!look(&w, 1240 * MS, 0, 0, 0, &p));	       /* late, but not as late as that */
	ok(!look(&w, 4240 * MS, 0, 0, 2500 * MS, &p)); /* it had work to do */
	ok(!look(&w, 4230 * MS, 0, 0, 2500 * MS, &p)); /* no clock goes back; if one did */
}

static void a_stall_is_what_was_not_meant(void)
{
	struct pause_watch w = { 0 };
	struct pause p = { 0 };

	look(&w, 0, 0, 0, 0, &p);
	ok(look(&w, 5250 * MS, 0, 200 * MS, 50 * MS, &p));
	ok_int(p.cause, PAUSE_STALLED);
	ok_eq(p.length_ns, 5 * S);
	ok_eq(p.from.monotonic_ns, T0 + 250 * MS);
	ok_eq(p.to.monotonic_ns, T0 + 5250 * MS);
	ok_eq(p.from.boottime_ns, T0 + 250 * MS);
	ok_eq(p.from.realtime_ns, REAL0 + 250 * MS);
	ok(!look(&w, 5260 * MS, 0, 10 * MS, 50 * MS, &p)); /* once */
	/* As long as the bound it is one, by a nanosecond less none. */
	ok(!look(&w, 5270 * MS + PAUSE_STALL_NS - 1, 0, 10 * MS, 50 * MS, &p));
	ok(look(&w, 5270 * MS + 2ull * PAUSE_STALL_NS - 1, 0, 0, 50 * MS, &p));
	ok_eq(p.length_ns, PAUSE_STALL_NS);
}

static void asleep_the_clocks_part(void)
{
	struct pause_watch w = { 0 };
	struct pause p = { 0 };

	look(&w, 0, 7 * S, 0, 0, &p); /* suspended before it looked: not its time */
	ok(!look(&w, 10 * MS, 7 * S, 10 * MS, 0, &p));
	ok(look(&w, 30 * MS, 3607 * S, 10 * MS, 0, &p));
	ok_int(p.cause, PAUSE_SUSPENDED);
	ok_eq(p.length_ns, 3600 * S);
	ok_eq(p.from.monotonic_ns, T0 + 10 * MS);
	ok_eq(p.to.realtime_ns, REAL0 + 3607 * S + 30 * MS);
	ok(!look(&w, 40 * MS, 3607 * S + PAUSE_SUSPEND_NS - 1, 10 * MS, 0, &p));
	ok(look(&w, 50 * MS, 3607 * S + 2ull * PAUSE_SUSPEND_NS - 1, 10 * MS, 0, &p));
	ok_eq(p.length_ns, PAUSE_SUSPEND_NS);
	/* Late after it too: one pause, the suspension. */
	ok(look(&w, 5000 * MS, 3700 * S, 10 * MS, 0, &p));
	ok_int(p.cause, PAUSE_SUSPENDED);
}

static struct request times(uint64_t arrival_ns, uint64_t dispatch_ns, uint64_t completion_ns)
{
	return (struct request){ .arrival_ns = arrival_ns,
				 .dispatch_ns = dispatch_ns,
				 .completion_ns = completion_ns };
}

static void requests_tell_who_stood_still(void)
{
	struct stall stall = { 1000, 5000 }, later = { 10000, 14000 };
	struct request across = times(900, 950, 5100), before = times(900, 950, 1200),
		       within = times(900, 3000, 5100), after = times(5000, 5001, 5100),
		       woken = times(900, 950, 4200);
	struct stalls s = { 0 };

	ok(stall_holds(&stall, &across) && !stall_is_refuted(&stall, &across));
	ok(!stall_holds(&stall, &before) && !stall_is_refuted(&stall, &before));
	ok(stall_is_refuted(&stall, &within));
	ok(!stall_holds(&stall, &after) && !stall_is_refuted(&stall, &after));
	ok(stall_holds(&stall, &woken)); /* the end is not known to the ns */
	ok(!stalls_hold(&s, &across));
	stalls_add(&s, &stall);
	stalls_add(&s, &later);
	ok(stalls_hold(&s, &across));
	for (int i = 0; i < STALLS_MAX; i++)
		stalls_add(&s, &later);
	ok(!stalls_hold(&s, &across)); /* forgotten */
}

/* ---- the hardware's clock, and the generation id ---- */

static char root[64];

static void write_file(const char *name, const char *text)
{
	char path[320];

	snprintf(path, sizeof(path), "%s%s", root, name);
	sample_write(path, text, strlen(text));
}

static void set_hardware(uint64_t ahead_s, uint64_t passed_ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n",
		 (unsigned long long)((REAL0 + passed_ns) / S + ahead_s));
	write_file("/sys/class/rtc/rtc0/since_epoch", text);
}

/* What the clocks show, and how much more from one reading to the next. */
static struct clock_anchor fake_now;
static uint64_t fake_step_ns;

static struct clock_anchor fake_clock(void)
{
	struct clock_anchor now = fake_now;

	fake_now.monotonic_ns += fake_step_ns;
	fake_now.boottime_ns += fake_step_ns;
	fake_now.realtime_ns += fake_step_ns;
	return now;
}

static void begin_watch(struct machine_watch *w)
{
	fake_now = (struct clock_anchor){ T0, T0, REAL0 };
	machine_watch_init(w, root, fake_clock);
}

static bool look_at_machine(struct machine_watch *w, uint64_t passed_ns, uint64_t stepped_ns,
			    struct machine_news *news)
{
	fake_now = (struct clock_anchor){ T0 + passed_ns, T0 + passed_ns,
					  REAL0 + passed_ns + stepped_ns };
	return machine_watch_look(w, news);
}

static void hardware_goes_on_while_the_guest_stands_still(void)
{
	struct machine_watch w;
	struct machine_news news;

	snprintf(root, sizeof(root), "%s", sample_folder());
	set_hardware(0, 0);
	begin_watch(&w);
	set_hardware(100, S);
	ok(!look_at_machine(&w, S, 0, &news)); /* not yet due */
	set_hardware(1, 2 * S);
	ok(!look_at_machine(&w, 2 * S, 0, &news)); /* a second is its resolution */
	set_hardware(31, 3 * S);
	ok(!look_at_machine(&w, 3 * S, 0, &news)); /* looked just now */
	set_hardware(31, 4 * S);
	fake_step_ns = S; /* held up in the reading: not to be relied on */
	ok(!look_at_machine(&w, 4 * S, 0, &news));
	fake_step_ns = 0;
	ok(look_at_machine(&w, 4 * S, 0, &news));
	ok_eq(news.stopped_ns, 30 * S);
	ok(!news.is_restored);
	set_hardware(31, 60 * S);
	ok(!look_at_machine(&w, 60 * S, 0, &news));	   /* once */
	write_file("/sys/class/rtc/rtc0/since_epoch", ""); /* busy: it does not tell this time */
	ok(!look_at_machine(&w, 70 * S, 0, &news));
	set_hardware(31, 72 * S);
	ok(!look_at_machine(&w, 72 * S, 0, &news)); /* it went on by as much as the kernel's */
	set_hardware(31, 74 * S);
	ok(!look_at_machine(&w, 74 * S, 3600 * S, &news)); /* date -s says nothing */
	set_hardware(3600, 76 * S);
	ok(!look_at_machine(&w, 76 * S, 3600 * S, &news)); /* nor does hwclock --systohc after it */
	set_hardware(7200 - 1, 78 * S);
	ok(!look_at_machine(&w, 78 * S, 7200 * S + 900 * MS, &news)); /* a second late */
	set_hardware(7200 + 1, 80 * S);
	ok(look_at_machine(&w, 80 * S, 0, &news));
	ok_eq(news.stopped_ns, 2 * S); /* the least that is told */
	sample_remove(root);
}

static void another_generation_is_another_life(void)
{
	static const char id[] = "/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw";
	struct machine_watch w;
	struct machine_news news;

	snprintf(root, sizeof(root), "%s", sample_folder());
	write_file(id, "one");
	ok(identity_generation(root) != 0);
	begin_watch(&w);
	write_file(id, "not looked at yet");
	ok(!look_at_machine(&w, 3 * S, 0, &news));
	write_file(id, "one");
	ok(!look_at_machine(&w, 11 * S, 0, &news));
	write_file(id, "two");
	ok(!look_at_machine(&w, 14 * S, 0, &news)); /* without a cause it is looked at less often */
	ok(look_at_machine(&w, 21 * S, 0, &news));
	ok(news.is_restored && !news.stopped_ns);
	ok(!look_at_machine(&w, 44 * S, 0, &news));
	sample_remove(root);
}

/* ---- through the pipeline ---- */

#define STALL_POLL 20
#define STALL_MS   1300

/* Waits in a poll, as a stopped thread would, and then tells of what happened meanwhile. */
static struct script {
	bool guest_runs; /* a request is done by it meanwhile */
	bool is_quiet;	 /* nothing is done before */
	unsigned int polls;
	uint64_t stalled_ns, given;
} script;

static uint64_t now_ns(void)
{
	return stream_anchor().monotonic_ns;
}

static void give(const struct source_sink *sink, uint64_t arrival_ns, uint64_t completion_ns)
{
	struct request r = { .arrival_ns = arrival_ns,
			     .dispatch_ns = arrival_ns,
			     .completion_ns = completion_ns,
			     .sector = 8 * script.given++,
			     .bytes = 4096,
			     .device = DEVICE,
			     .tid = 5,
			     .pid = 5,
			     .source = SOURCE_BPF };

	sink->request(sink->ctx, &r);
}

static int64_t scripted_poll(struct source *s, const struct source_sink *sink)
{
	uint64_t before = script.given, now = now_ns();

	(void)s;
	script.polls++;
	if (script.polls == STALL_POLL) {
		script.stalled_ns = now;
		nanosleep(&(struct timespec){ STALL_MS / 1000, STALL_MS % 1000 * 1000000 }, NULL);
		return 0;
	}
	if (script.polls == STALL_POLL + 1) {
		uint64_t middle = script.stalled_ns + (now - script.stalled_ns) / 2;

		give(sink, script.stalled_ns - MS, now);
		if (script.guest_runs)
			give(sink, middle, middle + 10);
	} else if (!script.is_quiet || script.polls > STALL_POLL) {
		give(sink, now - 1000, now);
	}
	return (int64_t)(script.given - before);
}

static int scripted_open(struct source **out, const struct source_config *config, struct err *err)
{
	(void)config, (void)err;
	*out = (struct source *)&script;
	return 0;
}

static int scripted_fd(const struct source *s)
{
	(void)s;
	return -1;
}

static void scripted_close(struct source *s, const struct source_sink *sink)
{
	(void)s, (void)sink;
}

static const struct source_ops scripted = { .name = "scripted",
					    .id = SOURCE_BPF,
					    .open = scripted_open,
					    .poll = scripted_poll,
					    .fd = scripted_fd,
					    .close = scripted_close };

/* What reached the store of a pipeline that stalled once. */
static struct segment_files run_script(bool guest_runs, bool is_quiet)
{
	struct sender_config sender = { .host = "here", .boot_id = "boot", .has_trace = true };
	struct pipeline_config config = { .source = &scripted,
					  .window_ns = 100 * MS,
					  .segment_interval_ns = 50 * MS,
					  .heartbeat_ns = 60 * S,
					  .has_trace = true,
					  .host = "here",
					  .boot_id = "boot" };
	uint32_t device = DEVICE;
	const char *dir = sample_folder(), *urls[1];
	struct segment_files files = { 0 };
	struct pipeline *p;
	struct err err = { 0 };
	char url[96];

	script = (struct script){ .guest_runs = guest_runs, .is_quiet = is_quiet };
	snprintf(url, sizeof(url), "file:%s", dir);
	urls[0] = url;
	sender.urls = urls;
	sender.nr_urls = 1;
	config.source_config.devices = &device;
	config.source_config.nr_devices = 1;
	ok(!board_new(&config.board) && !sender_new(&config.sender, &sender, &err));
	if (!ok(!pipeline_start(&p, &config, &err)))
		tap_note("%s", err.line);
	for (int i = 0; i < 6000 && script.polls < STALL_POLL + 30; i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	pipeline_stop(p);
	sender_free(config.sender, 60);
	board_free(config.board);
	ok_int(segment_files_read(dir, &files), 0);
	ok_eq(files.nr_bad, 0);
	ok_eq(files.nr_requests, script.given);
	ok_eq(files.profile_requests, script.given);
	ok_eq(segment_files_sum(&files), script.given);
	ok_eq(files.nr_captured, script.given);
	sample_remove(dir);
	return files;
}

static void a_stall_is_marked_and_left_out(void)
{
	struct segment_files files = run_script(false, false);

	ok(files.nr_pauses[PAUSE_STALLED] >= 1);
	ok(files.longest_pause_ns >= PAUSE_STALL_NS);
	ok_eq(files.nr_paused, 1);
	ok_eq(files.profile_paused, 1);
	ok(files.profile_pauses >= 1);
	ok(files.profile_max_s > 0 && files.profile_max_s < 0.001);
}

static void a_stopped_agent_alone_is_told_from_that(void)
{
	struct segment_files files = run_script(true, false);

	ok(files.nr_pauses[PAUSE_AGENT_STOPPED] >= 1);
	ok(files.longest_pause_ns >= PAUSE_STALL_NS);
	ok_eq(files.nr_paused, 0);
	ok_eq(files.profile_paused, 0);
	ok(files.profile_pauses >= 1);
	ok(files.profile_max_s >= (double)STALL_MS / 1000); /* it took as long as that */
}

/* No profile is of the time before: the next one tells. */
static void a_stall_after_nothing_is_in_a_profile(void)
{
	struct segment_files files = run_script(false, true);

	ok(files.nr_pauses[PAUSE_STALLED] >= 1);
	ok(files.profile_pauses >= 1);
	ok_eq(files.profile_paused, 1);
}

/* ---- in what is measured and kept ---- */

static void no_time_of_a_pause_is_anybodys(void)
{
	struct window_config config = { 0 };
	struct window *w = NULL;
	struct profile p;
	struct request r[3] = { times(100 * MS, 100 * MS, 101 * MS),
				times(102 * MS, 102 * MS, 9 * S),
				times(9001 * MS, 9001 * MS, 9002 * MS) };

	for (int i = 0; i < 3; i++)
		r[i].tid = r[i].pid = 5, r[i].bytes = 4096, r[i].source = SOURCE_BPF;
	r[1].flags = REQUEST_PAUSED;
	ok_int(window_new(&w, &config, 0), 0);
	ok_int(window_add(w, &r[0]), 0);
	window_resume(w, 9 * S);
	ok_int(window_add_many(w, r + 1, 2), 0);
	profile_init(&p);
	ok_int(window_profile(w, 10 * S, &p), 0);
	ok_eq(p.requests[OPERATION_READ], 2);
	ok_eq(p.paused_requests, 1);
	ok_eq(p.read.response.stage[STAGE_TOTAL].nr, 1);
	ok_eq(p.read.response.stage[STAGE_TOTAL].max_ns, 1 * MS);
	ok_near(p.closed.in_flight_mean, 0.001, 1e-12);
	ok_near(p.closed.think_time_mean_s, 0.001, 1e-12); /* not the one across the pause */
	profile_release(&p);
	window_free(w);
}

static void profiles_carry_pauses(void)
{
	struct profile p, back;
	struct buf json = { 0 };
	struct err err = { 0 };

	profile_init(&p);
	profile_init(&back);
	p.begin_s = 1, p.end_s = 2;
	p.paused_requests = 7;
	for (int i = 0; i < 2 * PROFILE_MAX_PAUSES; i++)
		profile_add_pause(&p, &(struct profile_pause){ PAUSE_SUSPENDED, 1 + i, 0.5 });
	profile_add_pause(&p, &(struct profile_pause){ PAUSE_SUSPENDED, 1, 0.5 }); /* known */
	ok_eq(p.nr_pauses, PROFILE_MAX_PAUSES);
	ok_near(p.pauses[PROFILE_MAX_PAUSES - 1].length_s, 0.5 * (PROFILE_MAX_PAUSES + 1), 1e-12);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &json), 0);
	ok_int(profile_from_json((const char *)json.data, json.len, &back, &err), 0);
	ok_eq(back.paused_requests, 7);
	ok_eq(back.nr_pauses, p.nr_pauses);
	for (size_t i = 0; i < p.nr_pauses; i++)
		ok(back.pauses[i].cause == p.pauses[i].cause &&
		   back.pauses[i].begin_s == p.pauses[i].begin_s &&
		   back.pauses[i].length_s == p.pauses[i].length_s);
	profile_release(&back);
	buf_release(&json);
	profile_release(&p);
}

static void ledgers_keep_pauses_apart(void)
{
	struct ledger l;

	ledger_init(&l);
	for (unsigned int cause = NR_LOSS_CAUSES; cause < NR_LEDGER_CAUSES; cause++)
		ok(loss_cause_name(cause) && pause_cause_text(cause));
	ok(!loss_cause_name(NR_LEDGER_CAUSES) && !pause_cause_text(NR_LEDGER_CAUSES) &&
	   !pause_cause_text(LOSS_SHED));
	ok_int(ledger_add(&l, &(struct loss){ PAUSE_STALLED, true, 0, 1, 5, 0 }), 0);
	ok_int(ledger_add(&l, &(struct loss){ PAUSE_STALLED, true, 0, 5, 9, 0 }), 0);
	ok_int(ledger_add(&l, &(struct loss){ PAUSE_STALLED, true, 1, 5, 9, 0 }), -EINVAL);
	ok_int(ledger_add(&l, &(struct loss){ PAUSE_STALLED, false, 0, 5, 9, 0 }), -EINVAL);
	ok_int(ledger_add(&l, &(struct loss){ NR_LEDGER_CAUSES, true, 0, 5, 9, 0 }), -EINVAL);
	ok_eq(l.nr, 2);
	ok_eq(ledger_sum(&l), 0);
	ledger_release(&l);
}

static const struct tap_test tests[] = {
	{ "waiting and working are no pause", waiting_and_working_are_no_pause },
	{ "a stall is what was not meant", a_stall_is_what_was_not_meant },
	{ "in a suspension the clocks part", asleep_the_clocks_part },
	{ "requests tell who stood still", requests_tell_who_stood_still },
	{ "the hardware's clock goes on while the guest stands still",
	  hardware_goes_on_while_the_guest_stands_still },
	{ "another generation id is another life", another_generation_is_another_life },
	{ "a stall is marked, and left out of response times", a_stall_is_marked_and_left_out },
	{ "an agent stopped alone is told from that", a_stopped_agent_alone_is_told_from_that },
	{ "a stall after nothing was done is in a profile", a_stall_after_nothing_is_in_a_profile },
	{ "no time of a pause is anybody's", no_time_of_a_pause_is_anybodys },
	{ "profiles carry pauses", profiles_carry_pauses },
	{ "ledgers keep pauses apart", ledgers_keep_pauses_apart },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
