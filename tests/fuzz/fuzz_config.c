/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the agent's configuration: the file of --config. Where the first byte is 0, the rest
 * are arguments of the command line, one between two bytes of 0. What is refused has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/config.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CONFIG_FUZZ_ARGUMENTS 64

static void config_fuzz_file(const uint8_t *data, size_t size)
{
	struct config c;
	struct err err = { 0 };

	if (config_init(&c))
		abort();
	if (config_read_file(&c, fuzz_file("agent.yaml", data, size), &err) && !err.line[0])
		abort();
	if (!c.source || !c.spool || !c.host || !c.window_ns || !c.spool_bytes)
		abort();
	config_release(&c);
}

/* --config with a path is left out, because it could name any file of this machine. */
static void config_fuzz_arguments(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[CONFIG_FUZZ_ARGUMENTS + 2] = { (char *)"agent" };
	struct config c;
	struct err err = { 0 };
	int argc = 1;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	for (size_t at = 0; at < size && argc <= CONFIG_FUZZ_ARGUMENTS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	if (!memmem(data, size, "con", 3)) {
		if (config_parse(&c, argc, argv, &err) && !err.line[0])
			abort();
		config_release(&c);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && !data[0])
		config_fuzz_arguments(data + 1, size - 1);
	else
		config_fuzz_file(data, size);
	return 0;
}
