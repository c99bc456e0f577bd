/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_record: converts a record of the kernel side (bpf/event.h) to a request, even where some of
 * its times are missing.
 */
#ifndef AGENT_BPF_RECORD_H
#define AGENT_BPF_RECORD_H

#include "agent/source/bpf/kernel_btf.h"
#include "bpf/event.h"
#include "formats/request.h"

/*
 * Fills r from e. A time that is missing or impossible is marked in the flags and replaced by the
 * next later known time. A request whose end was not seen (EVENT_NO_COMPLETION) is given the
 * present moment as its end.
 */
void bpf_record_request(struct request *r, const struct event_request *e,
			const struct kernel_btf *k, uint8_t layer);

#endif
