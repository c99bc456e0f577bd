/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_throttle: machines of simulated loads that throttle their write-back (wbt.h). A request
 * that is not admitted, or finds others in line, waits in line. When the throttle wakes those in
 * line, as many are let in as it admits, in the order in which they came.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_THROTTLE_H
#define ANALYZER_WHATIF_SIMULATE_STORED_THROTTLE_H

#include "analyzer/whatif/simulate/stored_state.h"

void stored_machine_begin(struct stored_machine *m, const struct causal_throttle *throttle);
/*
 * Returns 1 if the next request of a lane, which is due, may be sent. Returns 0 if it waits in
 * line, or -ENOMEM.
 */
int stored_throttle_pass(struct stored_sim *s, uint32_t lane);
/* The request in a slot is sent. */
void stored_throttle_sent(struct stored_sim *s, uint32_t slot);
/* The request in a slot has completed. Returns whether those in line are woken. */
bool stored_throttle_done(struct stored_sim *s, uint32_t slot);
/* The clock of a machine, which is set while lanes are in line. Returns whether they are woken. */
bool stored_throttle_clock(struct stored_sim *s, uint32_t machine);
/*
 * Takes the first lane from the line of a machine if its request is admitted now. Returns the lane,
 * or STORED_NO_LANE.
 */
uint32_t stored_throttle_next(struct stored_sim *s, uint32_t machine);
/* Sets the clock of a machine if lanes are in line. Returns 0 or -ENOMEM. */
int stored_throttle_wind(struct stored_sim *s, uint32_t machine);

#endif
