/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler includes the scripts of shell/ as they are, as in answer/page_assets.c, so that no
 * copy has to be kept up to date.
 */
#include "analyzer/measure/shell.h"

/* clang-format off */
#define SHELL_SCRIPT(name)                                            \
	__asm__(".section .rodata\n"                                  \
		".global shell_" #name "\n"                           \
		".type shell_" #name ", %object\n"                    \
		"shell_" #name ":\n"                                  \
		".incbin \"analyzer/measure/shell/" #name ".sh\"\n"   \
		".byte 0\n"                                           \
		".size shell_" #name ", . - shell_" #name "\n"        \
		".previous\n")

SHELL_SCRIPT(session_supervise);
SHELL_SCRIPT(target_claim);
SHELL_SCRIPT(target_cpu);
SHELL_SCRIPT(target_device);
SHELL_SCRIPT(target_leave);
SHELL_SCRIPT(target_memory);
SHELL_SCRIPT(target_place);
SHELL_SCRIPT(target_watch);
/* clang-format on */
