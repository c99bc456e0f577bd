/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell: gives access to the scripts of the folder shell/, which are included into the program when
 * it is built.
 */
#ifndef ANALYZER_MEASURE_SHELL_H
#define ANALYZER_MEASURE_SHELL_H

extern const char shell_session_supervise[], shell_target_claim[], shell_target_cpu[],
	shell_target_device[], shell_target_leave[], shell_target_memory[], shell_target_place[],
	shell_target_watch[];

#endif
