// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"

#define COMMAND_ENTRY(name) &command_##name,
static const struct command *const commands[] = { COMMANDS(COMMAND_ENTRY) };

int main(int argc, char **argv)
{
	return cli_main(argc, argv, commands, sizeof(commands) / sizeof(*commands));
}
