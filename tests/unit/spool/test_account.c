/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/account.h"
#include "agent/guest/identity.h"
#include "formats/request.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define DISK device_make(8, 0)

struct rig {
	char path[48];
	bool is_durable, is_removable;
	uint64_t forgotten; /* the sequence number asked for last */
	struct account *a;
};

static bool answer_durable(void *ctx, uint64_t epoch, uint64_t sequence)
{
	struct rig *rig = ctx;

	(void)epoch, (void)sequence;
	return rig->is_durable;
}

static bool forget(void *ctx, uint64_t epoch, uint64_t sequence)
{
	struct rig *rig = ctx;

	(void)epoch;
	rig->forgotten = sequence;
	return rig->is_removable;
}

static void new_path(struct rig *rig)
{
	int fd;

	*rig = (struct rig){ .path = "/tmp/blkcast-account.XXXXXX" };
	fd = mkstemp(rig->path);
	ok(fd >= 0);
	close(fd);
}

static bool open_as(struct rig *rig, const char *boot_id)
{
	struct account_config config = { .path = rig->path,
					 .boot_id = boot_id,
					 .watches_all = true,
					 .is_durable = answer_durable,
					 .forget = forget,
					 .ctx = rig };
	struct err err = { 0 };

	rig->a = NULL;
	return ok(!account_open(&rig->a, &config, &err));
}

static void begin_run(struct rig *rig, uint64_t epoch, uint64_t completed)
{
	struct account_base base = { DISK, completed };

	account_begin(rig->a, epoch, epoch * 1000, &base, 1);
}

static void see(struct rig *rig, uint64_t now, uint64_t nr)
{
	struct account_count count = { DISK, nr, nr };

	account_seen(rig->a, now, &count, 1);
}

static void commit(struct rig *rig, uint64_t sequence, uint64_t nr)
{
	struct account_count count = { DISK, nr, nr };

	account_prepare(rig->a, sequence, &count, 1);
	account_commit(rig->a, sequence);
}

/* All losses that wait for a segment, summed by cause. */
static struct ledger take(struct rig *rig, uint64_t sequence)
{
	struct ledger ledger;

	ledger_init(&ledger);
	ok_int(account_take(rig->a, sequence, &ledger), 0);
	return ledger;
}

static void death_is_seen_less_accounted(void)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	if (!open_as(&rig, "boot"))
		return;
	begin_run(&rig, 1, 5000);
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, 0);
	see(&rig, 1500, 700);
	commit(&rig, 0, 600);
	see(&rig, 1700, 1000);
	account_close(rig.a); /* as the kernel does for one that is killed */

	open_as(&rig, "boot");
	begin_run(&rig, 2, 5000 + 1000 + 42);
	ledger = take(&rig, 0);
	ok_eq(ledger.total[LOSS_AGENT_DIED], 400);
	ok_eq(ledger.total[LOSS_NOT_WATCHED], 42);
	for (size_t i = 0; i < ledger.nr; i++) {
		ok_eq(ledger.losses[i].device, DISK);
		ok_eq(ledger.losses[i].begin_real_ns, 1700);
		ok(ledger.losses[i].count_known);
	}
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

static void losses_wait_until_a_segment_carries_them(void)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	see(&rig, 1, 100);
	account_close(rig.a);
	/* Two runs that die before their first segment is durable: 100 is told by the third. */
	for (uint64_t epoch = 2; epoch < 4; epoch++) {
		open_as(&rig, "boot");
		begin_run(&rig, epoch, 100);
		ledger = take(&rig, 0);
		ok_eq(ledger.total[LOSS_AGENT_DIED], 100);
		ledger_release(&ledger);
		account_close(rig.a);
	}
	open_as(&rig, "boot");
	begin_run(&rig, 4, 100);
	ledger = take(&rig, 0);
	ok_eq(ledger_sum(&ledger), 100);
	ledger_release(&ledger);
	commit(&rig, 0, 0);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 5, 100);
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, 0);
	account_close(rig.a);
	unlink(rig.path);
}

static void check_prepared(bool is_durable, bool is_acknowledged, uint64_t died)
{
	struct account_count count = { DISK, 100, 100 };
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	see(&rig, 1, 100);
	account_prepare(rig.a, 0, &count, 1);
	if (is_acknowledged)
		account_acknowledged(rig.a, 1, 0);
	account_close(rig.a);
	rig.is_durable = is_durable;
	open_as(&rig, "boot");
	begin_run(&rig, 2, 100);
	ledger = take(&rig, 0);
	ok_eq(ledger_sum(&ledger), died);
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

static void death_between_prepare_and_commit_is_settled_by_the_file(void)
{
	check_prepared(false, false, 100);
	check_prepared(true, false, 0);
	check_prepared(false, true, 0); /* sent and gone before it was committed */
}

static void given_up_segment_returns_what_it_carried(void)
{
	struct account_count count = { DISK, 30, 30 };
	struct loss loss = { LOSS_SPOOL_FULL, true, 30, 5, 6, DISK };
	struct ledger ledger, lost;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	see(&rig, 1, 70);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 2, 70);
	see(&rig, 2, 30);
	ledger = take(&rig, 0);
	ok_eq(ledger_sum(&ledger), 70);
	ledger_release(&ledger);
	ledger_init(&lost);
	ledger_add(&lost, &loss);
	account_give_up(rig.a, 0, &count, 1, &lost);
	ledger_release(&lost);
	ledger = take(&rig, 1);
	ok_eq(ledger.total[LOSS_AGENT_DIED], 70);
	ok_eq(ledger.total[LOSS_SPOOL_FULL], 30);
	ledger_release(&ledger);
	commit(&rig, 1, 0);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 3, 100);
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, 0);
	account_close(rig.a);
	unlink(rig.path);
}

/* A death in a drop; what the next run loses depends on whether the file can be removed by then. */
static void check_drop(bool is_removable, uint64_t want)
{
	struct loss loss = { LOSS_SPOOL_FULL, true, 9, 5, 6, DISK };
	struct ledger ledger, lost;
	char command[160];
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	ledger_init(&lost);
	ledger_add(&lost, &loss);
	account_drop_begin(rig.a, 1, 17, &lost);
	/* What a death here would leave is looked at as a copy: this run ends in order. */
	snprintf(command, sizeof(command), "cp '%s' '%s.copy'", rig.path, rig.path);
	ok(!system(command));
	account_drop_end(rig.a, true);
	account_close(rig.a);
	snprintf(command, sizeof(command), "mv '%s.copy' '%s'", rig.path, rig.path);
	ok(!system(command));
	rig.is_removable = is_removable;
	open_as(&rig, "boot");
	ok_eq(rig.forgotten, 17);
	begin_run(&rig, 2, 0);
	ledger = take(&rig, 0);
	ok_eq(ledger.total[LOSS_SPOOL_FULL], want);
	ledger_release(&ledger);
	ledger_release(&lost);
	account_close(rig.a);
	unlink(rig.path);
}

static void interrupted_drop_is_finished(void)
{
	check_drop(true, 9);
	check_drop(false, 0);
}

static void another_boot_is_a_gap_of_unknown_content(void)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	see(&rig, 1200, 10);
	account_close(rig.a);
	open_as(&rig, "next");
	begin_run(&rig, 2, 3);
	ledger = take(&rig, 0);
	ok_eq(ledger.total[LOSS_AGENT_DIED], 10);
	ok_eq(ledger.nr, 2);
	for (size_t i = 0; i < ledger.nr; i++)
		if (ledger.losses[i].cause == LOSS_NOT_WATCHED) {
			ok(!ledger.losses[i].count_known);
			ok_eq(ledger.losses[i].begin_real_ns, 1200);
			ok_eq(ledger.losses[i].end_real_ns, 2000);
		}
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

static void seen_before_it_was_counted_is_made_up_for(void)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 0);
	see(&rig, 1, 100);
	commit(&rig, 0, 100);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 2, 98); /* two seen were not counted yet at this instant */
	see(&rig, 2, 10);
	commit(&rig, 0, 10);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 3, 115);
	ledger = take(&rig, 0);
	ok_eq(ledger_sum(&ledger), 5);
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

/*
 * A run that saw two requests which were in the base it began with, and nothing more: the two it
 * counted twice are taken off what the next run finds unwatched.
 */
static void seen_twice_is_taken_off(void)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 1000);
	see(&rig, 1, 2);
	commit(&rig, 0, 2);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 2, 1000); /* nothing was counted meanwhile */
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, 0); /* no gap of unknown content */
	ledger_release(&ledger);
	see(&rig, 2, 10);
	commit(&rig, 0, 10);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 3, 1030);
	ledger = take(&rig, 0);
	ok_eq(2 + 10 + ledger_sum(&ledger), 30);
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

static void check_off(uint64_t counted, uint64_t seen, bool is_known)
{
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	open_as(&rig, "boot");
	begin_run(&rig, 1, 1000);
	see(&rig, 1, seen);
	commit(&rig, 0, seen);
	account_close(rig.a);
	open_as(&rig, "boot");
	begin_run(&rig, 2, 1000 + counted);
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, is_known ? 0 : 1);
	ok(is_known || !ledger.losses[0].count_known);
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

/*
 * Far more was seen than counted: the count stood still for a while, and cannot tell what went by.
 */
static void statistics_that_stood_still_are_a_gap(void)
{
	check_off(0, 65, false);
	check_off(100, 500, false);
	check_off(0, 64, true);
	check_off(400, 500, true); /* counted twice, or not yet: made up for */
}

/* The account of a copied disk: its losses are the other machine's to tell, the gap is ours. */
static void another_machine_tells_its_own(void)
{
	struct account_config config = { .boot_id = "boot", .watches_all = true, .identity = 1 };
	struct ledger ledger;
	struct rig rig;

	new_path(&rig);
	config.path = rig.path;
	ok(!account_open(&rig.a, &config, NULL));
	begin_run(&rig, 1, 0);
	see(&rig, 1500, 10);
	account_close(rig.a);
	config.identity = 2;
	ok(!account_open(&rig.a, &config, NULL));
	begin_run(&rig, 2, 100);
	ledger = take(&rig, 0);
	ok_eq(ledger.nr, 1);
	ok_eq(ledger_sum(&ledger), 0);
	ok(ledger.nr == 1 && !ledger.losses[0].count_known);
	ok(ledger.nr == 1 && ledger.losses[0].begin_real_ns == 1500);
	ledger_release(&ledger);
	account_close(rig.a);
	unlink(rig.path);
}

static void identity_tells_machines_apart(void)
{
	const char *root = sample_folder();
	uint64_t one, other;
	char path[320];

	ok_eq(identity_read(root), 0);
	snprintf(path, sizeof(path), "%s/etc/machine-id", root);
	sample_write(path, "aaaa", 4);
	one = identity_read(root);
	ok(one != 0);
	ok_eq(identity_read(root), one);
	snprintf(path, sizeof(path), "%s/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw",
		 root);
	sample_write(path, "snapshot", 8);
	other = identity_read(root);
	ok(other != one && other != 0);
	ok(!identity_differs(one, other)); /* one could not read as much */
	sample_write(path, "another", 7);
	ok(identity_differs(other, identity_read(root)));
	sample_remove(root);
}

static void garbage_is_begun_anew(void)
{
	char noise[4096];
	struct rig rig;
	int fd;

	new_path(&rig);
	memset(noise, 0xa5, sizeof(noise));
	fd = open(rig.path, O_WRONLY);
	ok(write(fd, noise, sizeof(noise)) == sizeof(noise));
	close(fd);
	if (open_as(&rig, "boot")) {
		begin_run(&rig, 1, 0);
		ok_eq(account_next_epoch(rig.a, 0), 2);
		ok_eq(account_next_epoch(rig.a, 77), 77);
	}
	account_close(rig.a);
	unlink(rig.path);
}

/* The file is overwritten, so that a link of others must not choose which file that is. */
static void file_of_others_is_refused(void)
{
	struct account_config config = { .boot_id = "boot" };
	struct account *a = NULL;
	struct err err = { 0 };
	struct rig rig = { 0 };
	char victim[sizeof(rig.path) + 8];
	struct stat st;

	new_path(&rig);
	config.path = rig.path;
	snprintf(victim, sizeof(victim), "%s.other", rig.path);
	unlink(rig.path);
	ok(!symlink(victim, rig.path));
	ok_int(account_open(&a, &config, &err), -EPERM);
	ok(strstr(err.line, "symbolic link") != NULL && access(victim, F_OK) != 0);
	unlink(rig.path);
	ok(!close(open(victim, O_WRONLY | O_CREAT, 0600)) && !link(victim, rig.path));
	ok_int(account_open(&a, &config, &err), -EPERM);
	ok(strstr(err.line, "one name") != NULL);
	ok(!stat(victim, &st) && st.st_size == 0);
	ok(!unlink(victim) && !chmod(rig.path, 0660));
	ok_int(account_open(&a, &config, &err), -EPERM);
	if (!geteuid()) {
		ok(!chmod(rig.path, 0600) && !chown(rig.path, 65534, 65534));
		ok_int(account_open(&a, &config, &err), -EPERM);
	}
	ok(!unlink(rig.path) && !mkfifo(rig.path, 0600));
	ok_int(account_open(&a, &config, &err), -EPERM);
	ok(!unlink(rig.path));
}

static const struct tap_test tests[] = {
	{ "a death is what was seen less what is accounted for", death_is_seen_less_accounted },
	{ "losses wait until a durable segment carries them",
	  losses_wait_until_a_segment_carries_them },
	{ "a death between prepare and commit is settled by the file",
	  death_between_prepare_and_commit_is_settled_by_the_file },
	{ "a segment given up returns the losses it carried",
	  given_up_segment_returns_what_it_carried },
	{ "an interrupted drop is finished by the next run", interrupted_drop_is_finished },
	{ "the account of a copied disk is the other machine's", another_machine_tells_its_own },
	{ "the identity tells machines and generations apart", identity_tells_machines_apart },
	{ "another boot is a gap of unknown content", another_boot_is_a_gap_of_unknown_content },
	{ "what was seen before it was counted is made up for",
	  seen_before_it_was_counted_is_made_up_for },
	{ "what was seen twice is taken off what nobody watched", seen_twice_is_taken_off },
	{ "statistics that stood still are a gap of unknown content",
	  statistics_that_stood_still_are_a_gap },
	{ "garbage in the file is begun anew", garbage_is_begun_anew },
	{ "a file that others made, or a link, is refused", file_of_others_is_refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
