#!/usr/bin/env bash
# A small fleet over TLS (scripts/fleet.sh, which has 200 agents and more time).
. tests/support/tap.sh
# A sanitizer cannot look for leaks in who has changed its user, and ends it with an error.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
need certificates "no openssl" command -v openssl
holds "twelve agents with certificates and tokens, both replaced meanwhile, lose nothing" \
	timeout 120 scripts/fleet.sh 12 3 200 100
done_testing
