# An agent in a few lines: speaks the agent protocol, and notes what it was told in `orders`, which git ignores: when it is written must not matter.
read -r order
field() { printf '%s' "$order" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
say() { printf '%s\n' "$1"; }
why=$(printf '%s' "$order" | sed -n 's/.*## Why you are here\\n\\n\([^\\]*\)\\n.*/\1/p')
echo "$(field type) $(field attempt) at $(field place) of $(field task): $why" >> orders
say "{\"type\":\"session\",\"protocol\":1,\"session\":\"$(field session)\",\"resumed\":false}"
say '{"type":"text","text":"Working."}'
say '{"type":"permission","id":"c1","tool":"write","input":{"path":"NOTES.md"}}'
read -r answer
echo "$answer" >> orders
case $answer in *'"allow"'*)
  echo noted > NOTES.md
  say '{"type":"file_change","path":"NOTES.md","change":"created"}'
  say '{"type":"tool_end","id":"c1","ok":true}' ;;
esac
say '{"type":"question","id":"q1","question":"Which way?","options":["left","right"]}'
read -r answer
case $answer in *'"interrupt"'*) say '{"type":"finished","interrupted":true}'; exit ;; esac
echo "$answer" >> orders
say '{"type":"usage","id":"m1","input":100,"output":20}'
say '{"type":"signal","id":"s1","tool":"signal_back","arguments":{"signal":"complete","summary":"noted"}}'
read -r answer
echo "$answer" >> orders
say '{"type":"finished"}'
