/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/send/lookup.h"
#include "agent/send/reach.h"
#include "tests/support/tap.h"

#define PATIENCE_S 120.0 /* of a machine that stalls */

static struct lookup *started(void)
{
	struct lookup *l = NULL;

	if (!ok_int(lookup_new(&l), 0) || !ok_int(lookup_start(l, NULL), 0)) {
		lookup_free(l);
		return NULL;
	}
	return l;
}

static void localhost_has_the_addresses_of_loopback(void)
{
	struct lookup *l = started();
	atomic_bool abort_flag = false;
	struct err err = { 0 };
	struct buf out;
	char *text, *part, *rest = NULL;
	int nr = 0;

	if (!l)
		return;
	buf_init(&out);
	ok_int(lookup_addresses(l, "localhost", PATIENCE_S, &abort_flag, &out, &err), 0);
	buf_put_u8(&out, 0);
	text = (char *)out.data;
	for (part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest), nr++)
		ok(!strncmp(part, "127.", 4) || !strcmp(part, "::1"));
	ok(nr >= 1 && nr <= 4);
	buf_release(&out);
	lookup_free(l);
}

static void numbers_are_their_own_addresses(void)
{
	struct lookup *l = started();
	atomic_bool abort_flag = false;
	struct buf out;

	if (!l)
		return;
	buf_init(&out);
	ok_int(lookup_addresses(l, "192.0.2.7", PATIENCE_S, &abort_flag, &out, NULL), 0);
	buf_put(&out, ";", 1);
	ok_int(lookup_addresses(l, "2001:db8::7", PATIENCE_S, &abort_flag, &out, NULL), 0);
	buf_put_u8(&out, 0);
	ok_str((char *)out.data, "192.0.2.7;2001:db8::7");
	buf_release(&out);
	lookup_free(l);
}

static void what_is_no_host_has_no_address(void)
{
	struct lookup *l = started();
	atomic_bool abort_flag = false;
	struct err err = { 0 };
	char name[600];
	struct buf out;
	int ret;

	if (!l)
		return;
	buf_init(&out);
	/* A machine without a name service cannot tell that a name does not exist. */
	ret = lookup_addresses(l, "analyzer.invalid", PATIENCE_S, &abort_flag, &out, &err);
	ok(ret == -ENOENT || ret == -EAGAIN);
	ok(!strncmp(err.line, "analyzer.invalid: ", 18));
	ok_int(lookup_addresses(l, "", PATIENCE_S, &abort_flag, &out, &err), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = 0;
	ok_int(lookup_addresses(l, name, PATIENCE_S, &abort_flag, &out, &err), -EINVAL);
	ok_int(out.len, 0);
	buf_release(&out);
	lookup_free(l);
}

/* The answer comes by a thread that needs the lock that the caller holds until it waits. */
static void nobody_waits_longer_than_meant(void)
{
	struct lookup *l = started();
	atomic_bool abort_flag = true;
	struct err err = { 0 };
	struct buf out;

	if (!l)
		return;
	buf_init(&out);
	ok_int(lookup_addresses(l, "localhost", PATIENCE_S, &abort_flag, &out, &err), -ECANCELED);
	abort_flag = false;
	ok_int(lookup_addresses(l, "192.0.2.1", 0, &abort_flag, &out, &err), -ETIMEDOUT);
	ok_str(err.line, "192.0.2.1: the name service has not answered yet");
	/* The latest question is the one that is answered. */
	ok_int(lookup_addresses(l, "192.0.2.2", PATIENCE_S, &abort_flag, &out, &err), 0);
	buf_put_u8(&out, 0);
	ok_str((char *)out.data, "192.0.2.2");
	buf_release(&out);
	lookup_free(l);
}

/* As one whose first server is down: later than anybody waits, every time. */
static void an_answer_that_comes_late_is_there_for_the_next(void)
{
	struct lookup *l = started();
	atomic_bool abort_flag = false;
	struct buf out;
	int ret, tries = 0;

	if (!l)
		return;
	buf_init(&out);
	do {
		ret = lookup_addresses(l, "192.0.2.1", 0, &abort_flag, &out, NULL);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	} while (ret == -ETIMEDOUT && ++tries < PATIENCE_S * 1000);
	ok_int(ret, 0);
	ok(tries > 0);
	/* Once: who asks again is told what is so by then. */
	ok_int(lookup_addresses(l, "192.0.2.1", 0, &abort_flag, &out, NULL), -ETIMEDOUT);
	buf_put_u8(&out, 0);
	ok_str((char *)out.data, "192.0.2.1");
	buf_release(&out);
	lookup_free(l);
}

/* Freed while it is idle, asked or busy. */
static void can_be_freed_at_any_time(void)
{
	for (int i = 0; i < 50; i++) {
		struct lookup *l = started();
		atomic_bool abort_flag = false;
		struct buf out;

		if (!l)
			return;
		buf_init(&out);
		if (i % 5)
			lookup_addresses(l, i % 2 ? "localhost" : "analyzer.invalid",
					 (i % 3) * 1e-4, &abort_flag, &out, NULL);
		buf_release(&out);
		lookup_free(l);
	}
	lookup_free(NULL);
}

/* Whether a way to url, by proxy, can be set up; it needs no name service. */
static int set_up(const char *url, const char *proxy, struct err *err)
{
	struct reach *r = NULL;
	int ret = reach_new(&r, url, proxy, err);

	reach_free(r);
	return ret;
}

static void names_on_the_way_are_those_of_url_and_proxy(void)
{
	static const char *const proxies[] = {
		"proxy.invalid:3128",		"http://proxy.invalid",
		"https://proxy.invalid",	"socks5://proxy.invalid:1080",
		"socks5h://user@proxy.invalid", "192.0.2.1:3128",
		"http://[2001:db8::1]:3128",	NULL
	};
	struct err err = { 0 };

	ok_int(set_up("https://analyzer.invalid:7118/path", NULL, &err), 0);
	ok_int(set_up("http://127.0.0.1:7118", "", &err), 0);
	for (int i = 0; proxies[i]; i++)
		if (!ok_int(set_up("https://analyzer.invalid", proxies[i], &err), 0))
			tap_note("%s: %s", proxies[i], err.line);
	ok_int(set_up("https://analyzer.invalid", "http://proxy.invalid:port", &err), -EINVAL);
	ok(strstr(err.line, "proxy: the host in this URL cannot be looked up") != NULL);
	ok_int(set_up("https://analyzer.invalid", "http://me:secret@[proxy:1", &err), -EINVAL);
	ok(!strstr(err.line, "secret"));
}

/* Where all is in numbers, neither a thread nor the name service is needed. */
static void numbers_and_localhost_need_no_thread(void)
{
	static const char *const urls[] = { "http://127.0.0.1:1", "http://[::1]:1",
					    "http://localhost:1", "http://a.localhost:1" };
	atomic_bool abort_flag = true; /* so that no question would be answered */

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		CURL *curl = curl_easy_init();
		struct reach *r;

		if (ok(curl != NULL) && ok_int(reach_new(&r, urls[i], NULL, NULL), 0)) {
			ok_int(reach_start(r, NULL), 0);
			ok_int(reach_find(r, curl, 0, &abort_flag, NULL), 0);
			reach_free(r);
		}
		curl_easy_cleanup(curl);
	}
}

static const struct tap_test tests[] = {
	{ "localhost has the addresses of loopback", localhost_has_the_addresses_of_loopback },
	{ "numbers are their own addresses", numbers_are_their_own_addresses },
	{ "what is no host has no address", what_is_no_host_has_no_address },
	{ "nobody waits longer than meant", nobody_waits_longer_than_meant },
	{ "an answer that comes late is there for the next",
	  an_answer_that_comes_late_is_there_for_the_next },
	{ "a lookup can be freed at any time", can_be_freed_at_any_time },
	{ "the names on the way are those of url and proxy",
	  names_on_the_way_are_those_of_url_and_proxy },
	{ "numbers and localhost need no thread", numbers_and_localhost_need_no_thread },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
