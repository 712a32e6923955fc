#!/bin/sh
[ "$(sh greet.sh Ann)" = "Hello, Ann" ] || { echo "one name is wrong"; exit 1; }
