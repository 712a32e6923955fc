chronicle trust > said 2>&1
echo $? >> said
