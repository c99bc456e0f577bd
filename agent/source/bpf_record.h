/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_record: a record of the kernel side (bpf/event.h) as a request, whatever its times lack. */
#ifndef AGENT_BPF_RECORD_H
#define AGENT_BPF_RECORD_H

#include "agent/source/kernel_btf.h"
#include "bpf/event.h"
#include "formats/request.h"

/*
 * A time that is missing or impossible is marked in the flags and stands at the next one known. A
 * request whose end was not seen (EVENT_NO_COMPLETION) ends now.
 */
void bpf_record_request(struct request *r, const struct event_request *e,
			const struct kernel_btf *k, uint8_t layer);

#endif
