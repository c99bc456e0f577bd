/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hide/pseudonym.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

static const char secret[] = "0123456789abcdef";

static struct pseudonym_key key_of(const char *text)
{
	struct pseudonym_key k;

	ok_int(pseudonym_key_set(&k, text, strlen(text)), 0);
	return k;
}

static const char *hex(const uint8_t *bytes, size_t nr)
{
	static char text[2 * PSEUDONYM_HASH_BYTES + 1];

	for (size_t i = 0; i < nr; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

/* By another implementation: Python's hmac.new(sha256(secret), kind + "\0" + name, "sha256"). */
static void known_answers(void)
{
	struct pseudonym_key k = key_of(secret);
	char name[SEGMENT_NAME_BYTES], comm[SEGMENT_COMM_BYTES], path[SEGMENT_PATH_BYTES];
	uint8_t hash[PSEUDONYM_HASH_BYTES];

	ok_str(hex(k.bytes, sizeof(k.bytes)),
	       "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f");
	pseudonym_hash(&k, "host", "web1", 4, hash);
	ok_str(hex(hash, sizeof(hash)),
	       "16779136f6bc648b2a14729840d7d16c512f3955e989bc6297a6835df0875c34");
	pseudonym_host(&k, "web1", name);
	ok_str(name, "host-16779136f6bc648b");
	pseudonym_boot_id(&k, "1c9a6d2e-4a0b-4f0e-9e1b-3f1f0c8f7a55", name);
	ok_str(name, "3497e7c9-f64f-2c44-fc48-1c7333d3fe4d");
	pseudonym_comm(&k, "postgres", comm);
	ok_str(comm, "085d20dd57b9");
	pseudonym_path(&k, "/system.slice/postgresql.service", path);
	ok_str(path, "/f8921f5361c1/e317dbd744e5");
	pseudonym_device(&k, "md_home", name);
	ok_str(name, "dev-2ad4a1343a52");
}

static void names_of_the_kernel_stay(void)
{
	static const char *const stay[] = { "sda",   "vdb2",  "nvme0n1", "nvme1c0n1", "dm-3",
					    "md127", "loop0", "dasdab",	 "mmcblk0p1", "" };
	static const char *const go[] = { "sdsmith", "sd-jo", "payroll", "md_home", "sda/x", "SDA" };
	struct pseudonym_key k = key_of(secret);
	char name[SEGMENT_NAME_BYTES];

	for (size_t i = 0; i < TAP_NR(stay); i++) {
		pseudonym_device(&k, stay[i], name);
		ok_str(name, stay[i]);
	}
	for (size_t i = 0; i < TAP_NR(go); i++) {
		pseudonym_device(&k, go[i], name);
		ok(!strncmp(name, "dev-", 4) && strlen(name) == 16);
	}
}

static void keys_and_kinds_differ(void)
{
	struct pseudonym_key a = key_of(secret), b = key_of("0123456789abcdeg"), c, d;
	char x[SEGMENT_NAME_BYTES], y[SEGMENT_NAME_BYTES], comm[SEGMENT_COMM_BYTES];
	struct err err = { 0 };

	pseudonym_host(&a, "web1", x);
	pseudonym_host(&b, "web1", y);
	ok(strcmp(x, y));
	pseudonym_comm(&a, "web1", comm);
	ok(!strstr(x, comm));
	pseudonym_host(&a, "web2", y);
	ok(strcmp(x, y));
	pseudonym_host(&a, "", y);
	ok_str(y, "");
	ok_int(pseudonym_key_random(&c, &err), 0);
	ok_int(pseudonym_key_random(&d, &err), 0);
	ok(memcmp(&c, &d, sizeof(c)));
	ok_int(pseudonym_key_set(&c, secret, 15), -EINVAL);
	pseudonym_key_forget(&d);
	ok(!d.bytes[0] && !d.bytes[31]);
}

static void long_paths_are_cut_at_the_front(void)
{
	struct pseudonym_key k = key_of(secret);
	char in[SEGMENT_PATH_BYTES], out[SEGMENT_PATH_BYTES], one[SEGMENT_PATH_BYTES];
	size_t nr = 0;

	while (nr + 2 < sizeof(in)) {
		in[nr++] = '/';
		in[nr++] = 'a';
	}
	in[nr] = 0;
	pseudonym_path(&k, in, out);
	ok_eq(strlen(out), SEGMENT_PATH_BYTES - 1);
	pseudonym_path(&k, "/a", one); /* a slash and 12 digits */
	ok_str(out + strlen(out) - 13, one);
	pseudonym_path(&k, "/", out);
	ok_str(out, "/");
}

static void a_key_file_is_nobody_elses(void)
{
	static const struct {
		mode_t mode;
		const char *text;
		int want;
	} cases[] = {
		{ 0600, "0123456789abcdef\n", 0 },	 { 0400, "0123456789abcdef\r\n", 0 },
		{ 0640, "0123456789abcdef\n", -EINVAL }, { 0604, "0123456789abcdef", -EINVAL },
		{ 0600, "0123456789abcde\n", -EINVAL },	 { 0600, "", -EINVAL },
	};
	const char *dir = sample_folder();
	struct pseudonym_key k, want = key_of(secret);
	char path[512], big[PSEUDONYM_KEY_MAX + 1];
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/key", dir);
	for (size_t i = 0; i < TAP_NR(cases); i++) {
		sample_write(path, cases[i].text, strlen(cases[i].text));
		chmod(path, cases[i].mode);
		ok_int(pseudonym_key_read(&k, path, &err), cases[i].want);
		if (!cases[i].want)
			ok(!memcmp(&k, &want, sizeof(k)));
		unlink(path);
	}
	memset(big, 'x', sizeof(big));
	sample_write(path, big, sizeof(big));
	chmod(path, 0600);
	ok_int(pseudonym_key_read(&k, path, &err), -EINVAL);
	ok_int(truncate(path, PSEUDONYM_KEY_MAX), 0);
	ok_int(pseudonym_key_read(&k, path, &err), 0);
	ok_int(pseudonym_key_read(&k, dir, &err), -EINVAL);
	unlink(path);
	ok_int(pseudonym_key_read(&k, path, &err), -ENOENT);
	ok(strstr(err.line, path));
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "pseudonyms are HMAC-SHA256 by another implementation's answers", known_answers },
	{ "names that the kernel makes stay, others go", names_of_the_kernel_stay },
	{ "another key, another kind, another name: another pseudonym", keys_and_kinds_differ },
	{ "a path too long is cut at the front", long_paths_are_cut_at_the_front },
	{ "a key file must be one's own and of the right length", a_key_file_is_nobody_elses },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
