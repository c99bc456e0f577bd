/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_device: finds the devices of a foreign trace by the names that the trace gives them. For
 * foreign.c.
 */
#ifndef FORMATS_FOREIGN_DEVICE_H
#define FORMATS_FOREIGN_DEVICE_H

#include "formats/foreign/foreign.h"

int foreign_devices_init(struct foreign *f);
void foreign_devices_release(struct foreign *f);

#endif
