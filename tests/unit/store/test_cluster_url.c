/* SPDX-License-Identifier: Apache-2.0 */
/* The URLs of clusters, the lists of their objects, and hostile ones of both. */
#include <errno.h>
#include <string.h>

#include "analyzer/store/engine/cluster_url.h"
#include "analyzer/store/engine/object_list.h"
#include "tests/support/tap.h"

#define OBJECTS "?objects=https://s3.example.com:9000/traces"

static void test_whole(void)
{
	struct cluster_url u;
	int ret = cluster_url_parse(&u,
				    "pg://me@db1:6000,db2,[::1]:7000/fleet" OBJECTS
				    "/below/&keys=/etc/a%20b&region=eu-1&sslmode=verify-full",
				    NULL);

	ok(ret == 0);
	ok_str(u.hosts, "db1,db2,::1");
	ok_str(u.ports, "6000,5432,7000");
	ok_str(u.user, "me");
	ok_str(u.database, "fleet");
	ok_str(u.objects, "https://s3.example.com:9000/traces/below");
	ok_str(u.keys, "/etc/a b");
	ok_str(u.sslmode, "verify-full");
	cluster_url_release(&u);
}

static void test_refused(void)
{
	static const struct {
		const char *url, *says;
	} bad[] = {
		{ "pg://me:secret@db/fleet" OBJECTS, "no password" },
		{ "pg://db/fleet", "objects=" },
		{ "pg://db" OBJECTS, "/DATABASE" },
		{ "pg:///fleet" OBJECTS, "host" },
		{ "pg://db:x/fleet" OBJECTS, "port" },
		{ "pg://db/fleet?objects=ftp://h/b", "https://HOST:PORT/BUCKET" },
		{ "pg://db/fleet?objects=https://h", "https://HOST:PORT/BUCKET" },
		{ "pg://db/fleet?objects=https://a:b@h/b", "no keys" },
		{ "pg://db/fleet?objects=https://h/b%3Fx", "letters, digits" },
		{ "pg://db/fleet" OBJECTS "&keys=%0", "hexadecimal" },
		{ "pg://db/fleet" OBJECTS "&keys=%00", "hexadecimal" },
		{ "pg://db/fleet" OBJECTS "&keys=", "a value" },
		{ "pg://db/fleet" OBJECTS "&keys=a&keys=b", "twice" },
		{ "pg://db/fleet" OBJECTS "&options=-cfsync=off", "got 'options'" },
	};
	size_t nr_right = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cluster_url u;
		struct err err = { 0 };
		int ret = cluster_url_parse(&u, bad[i].url, &err);

		cluster_url_release(&u);
		if (ret == -EINVAL && strstr(err.line, bad[i].says) && !strstr(err.line, "secret"))
			nr_right++;
		else
			tap_note("%s: %d %s", bad[i].url, ret, err.line);
	}
	ok_eq(nr_right, sizeof(bad) / sizeof(bad[0]));
	ok(!cluster_url_is("/srv/pg://x") && !cluster_url_is(NULL));
}

static void test_list(void)
{
	static const char one[] =
		"<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><IsTruncated>true"
		"</IsTruncated><NextContinuationToken>t</NextContinuationToken><Contents><Key>a/b"
		"</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><Size>7</Size></Contents>"
		"</ListBucketResult>";
	static const char no_token[] =
		"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
	struct object_page page = { 0 };

	ok(object_page_read(&page, one, sizeof(one) - 1, NULL) == 0 && page.nr == 1 &&
	   page.items[0].bytes == 7 && strcmp(page.items[0].key, "a/b") == 0 &&
	   strcmp(page.next, "t") == 0);
	object_page_release(&page);
	ok(object_page_read(&page, no_token, sizeof(no_token) - 1, NULL) == -EBADMSG);
	ok(object_page_read(&page, "<html/>", 7, NULL) == -EBADMSG);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a URL with every part is taken apart", test_whole },
		{ "a wrong URL is refused with what is wrong, and no password is repeated",
		  test_refused },
		{ "a page of a list of objects is read, and one that ends early is refused",
		  test_list },
	};

	return tap_run(tests, TAP_NR(tests));
}
