/* SPDX-License-Identifier: Apache-2.0 */
/* qpn_verbs: the verbs of blkcast qpn that have files of their own. Each returns an exit code. */
#ifndef ANALYZER_CMD_MODELS_QPN_VERBS_H
#define ANALYZER_CMD_MODELS_QPN_VERBS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/models/net/net.h"

int qpn_solve(struct cli *cli);
int qpn_calibrate(struct cli *cli);
int qpn_predict(struct cli *cli);

/* The values that --set, and the point of a --sweep, give to parameters of a net. */
struct qpn_settings {
	struct net_setting items[WORD_LIST_MAX + ARCH_SWEEP_MAX];
	char *names[WORD_LIST_MAX + ARCH_SWEEP_MAX]; /* owned */
	size_t nr;
};

/*
 * Reads the values of --set, each NAME=VALUE. Returns 0, -EINVAL with a message that names the
 * value, or -ENOMEM. The caller releases s in every case.
 */
int qpn_settings_read(struct qpn_settings *s, const struct word_list *set, struct err *err);
/* Adds a value, which replaces an earlier one of that name. Returns 0 or -ENOMEM. */
int qpn_settings_add(struct qpn_settings *s, const char *name, double value);
void qpn_settings_release(struct qpn_settings *s);
/*
 * Reads a net from a YAML file or from a .qpe file of QPME, with these values. Returns 0 or -errno.
 * On success *out belongs to the caller.
 */
int qpn_net(struct net **out, const char *path, const struct qpn_settings *settings,
	    struct err *err);

#endif
