/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/serve/http/ask_watch.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

/* An agent ends its policy with an answer that has none, so the first one needs it already. */
static void policies_are_known_before_the_first_reply(void)
{
	static const char text[] = "policies:\n  - {tenant: a, hosts: [web*], keep: never}\n";
	const char *dir = sample_folder();
	char path[512], told[POLICY_FIELD_BYTES];
	struct ask_watch *w = NULL;
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/segments/none", dir);
	sample_write(path, "", 0);
	snprintf(path, sizeof(path), "%s/policies.yaml", dir);
	sample_write(path, text, sizeof(text) - 1);
	for (int i = 0; i < 20; i++) {
		if (!ok_int(ask_watch_new(&w, dir, NULL, NULL, &err), 0))
			break;
		if (ok(ask_watch_policy(w, "web1", told)))
			ok_str(told, "1 0 60 0 0 0");
		ok(!ask_watch_policy(w, "mail1", told));
		ask_watch_free(w);
	}
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "policies are known before the first reply", policies_are_known_before_the_first_reply },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
