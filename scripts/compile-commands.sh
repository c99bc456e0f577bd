#!/usr/bin/env bash
# scripts/compile-commands.sh reads the commands of `make -Bn V=1` on standard input and writes a compilation
# database (https://clang.llvm.org/docs/JSONCompilationDatabase.html) on standard output.
set -euo pipefail
here=$(pwd)
grep -oE '(\S*cc|\S*gcc|clang) .* -c -o \S+ \S+\.c( |$)' | sed 's/ *$//' |
	jq -Rn --arg directory "$here" '[inputs | {directory: $directory, command: ., file: (split(" ") | last)}]'
