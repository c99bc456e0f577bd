/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/send/sent_form.h"
#include "tests/support/http_rig.h"
#include "tests/support/tap.h"

/*
 * One run sends a segment of 320 requests, whole where it is asked for, to a receiver that takes
 * bodies of at most max_bytes and whose answers are those of the script. The next run decides the
 * other way. Returns how many of the requests the receiver counts, stored or kept back.
 */
static uint64_t counted_by_two_runs(bool asked_first, size_t max_bytes,
				    const enum behaviour *script, unsigned int nr)
{
	struct rig rig = { .hindsight = NULL };
	struct receiver s;

	if (!receiver_begin(&s, script, nr))
		return 0;
	s.keeps_names = true;
	s.max_body_bytes = max_bytes;
	for (int run = 0; run < 2; run++) {
		if (!ok_int(hindsight_new(&rig.hindsight, 1000000, 0, "boot"), 0))
			return 0;
		if (asked_first == !run)
			hindsight_ask(rig.hindsight, 1000);
		if (run ? !rig_open(&rig, &s) : !rig_new(&rig, &s))
			return 0;
		if (!run)
			rig_send_many(&rig, 0, 320);
		for (int i = 0; i < 300 && s.nr_requests < nr; i++)
			nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		rig_close(&rig, run ? 10 : 0);
		hindsight_free(rig.hindsight);
	}
	ok_eq(rig_files_left(&rig, ".seg"), 0);
	rig_end(&rig, &s);
	return s.requests + s.kept_back;
}

static void a_restart_sends_the_same_form_again(void)
{
	static const enum behaviour lost[] = { ANSWER_LOST };
	static const enum behaviour half[] = { ANSWER_WELL, ANSWER_WELL, ANSWER_500 };

	/* It is too large, its first half is stored, and the next run is not asked for it. */
	ok_eq(counted_by_two_runs(true, 900, half, 3), 320);
	/* It was kept back, the answer is lost, and the next run is asked for it. */
	ok_eq(counted_by_two_runs(false, 900, lost, 1), 320);
	ok_eq(counted_by_two_runs(false, 0, lost, 1), 320);
	ok_eq(counted_by_two_runs(true, 0, lost, 1), 320);
}

/*
 * What the log says of a spool with segments whose file "form" has this text; NULL: it is a link,
 * or a folder, which can be opened but not read.
 */
static void say_of_form(const char *text, bool is_folder, char said[512])
{
	char dir[] = "/tmp/form.XXXXXX", path[64];
	struct spool_name name = { 1, 2 };
	FILE *f = tmpfile(), *out;
	struct sent_form form;
	struct log *log;

	memset(said, 0, 512);
	if (!ok(f && mkdtemp(dir) && !log_new(&log, fileno(f), LEVEL_ERROR)))
		return;
	snprintf(path, sizeof(path), "%s/" SENT_FORM_FILE, dir);
	out = text ? fopen(path, "w") : NULL;
	if (out) {
		fputs(text, out);
		fclose(out);
	} else {
		ok_int(is_folder ? mkdir(path, 0700) : symlink("elsewhere", path), 0);
	}
	sent_form_open(&form, dir, true, log);
	ok_int(sent_form_of(&form, &name), SENT_UNDECIDED);
	log_free(log);
	rewind(f);
	ok(fread(said, 1, 511, f) < 511);
	fclose(f);
	remove(path);
	rmdir(dir);
}

static void a_form_that_cannot_be_read_is_told(void)
{
	char said[512];

	say_of_form("blkcast-form 1 1 2 noise                                       \n", false,
		    said);
	ok(strstr(said, "form_not_read") && strstr(said, "is cut or damaged"));
	say_of_form("", false, said);
	ok_str(said, "");
	say_of_form(NULL, false, said);
	ok(strstr(said, "form_not_read") && strstr(said, "ymbolic links"));
	say_of_form(NULL, true, said);
	ok(strstr(said, "form_not_read") && strstr(said, "Is a directory"));
}

static const struct tap_test tests[] = {
	{ "a restart sends the form again that the run before it had sent",
	  a_restart_sends_the_same_form_again },
	{ "a form that cannot be read is told", a_form_that_cannot_be_read_is_told },
};

int main(void)
{
	int ret;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = tap_run(tests, TAP_NR(tests));
	curl_global_cleanup();
	return ret;
}
