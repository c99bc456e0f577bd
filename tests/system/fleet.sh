#!/usr/bin/env bash
# A small fleet over TLS (scripts/fleet.sh, which has 200 agents and more time).
. tests/support/tap.sh
need certificates "no openssl" command -v openssl
holds "twelve agents with certificates and tokens, both replaced meanwhile, lose nothing" \
	timeout 120 scripts/fleet.sh 12 3 200 100
done_testing
