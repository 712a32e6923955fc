#!/bin/sh
# Greets everybody who is named.
for name in $*; do echo "Hello, $name"; done
