#!/bin/sh
# Fails until greet.sh greets by name.
said=$(sh greet.sh Ann)
[ "$said" = "Hello, Ann" ] || { echo "greet.sh Ann said: $said"; exit 1; }
