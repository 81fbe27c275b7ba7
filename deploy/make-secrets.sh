#!/bin/sh
# Make the secrets of compose.yaml: deploy/secrets and deploy/.env, which git ignores. Those that exist stay.
# Containers read the files as users of their own; on this machine, only the owner of the folder can reach them.
set -eu
here=$(dirname "$0")
folder=$here/secrets
mkdir -p "$folder"
chmod 0700 "$folder"

random() { python3 -c 'import secrets; print(secrets.token_urlsafe(32))'; }
keep() { [ -e "$1" ] || cat >"$1"; }

random | keep "$folder/metrics-token"
random | keep "$folder/grafana-password"
keep "$folder/tokens" <<END
read $(cat "$folder/metrics-token") name=prometheus
write $(random) name=application
admin $(random) name=operator
END
chmod 0644 "$folder"/*
(umask 077 && echo "POSTGRES_PASSWORD=$(random)" | keep "$here/.env")
echo "The secrets are in $folder; the file tokens has one for each scope."
