#!/bin/sh
# What the image contains: the service and its dependencies in a folder, with all loops compiled.
# The Dockerfile runs this, and so does `make deploy`, without a container runtime.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: build-image.sh SOURCE PREFIX, e.g. /src /opt/localarc" >&2
  exit 2
fi
source=$1 prefix=$2

python3 -m venv "$prefix"
"$prefix/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$source/constraints.txt" \
  "$source" "$source/packages/localarc-client" "$source/packages/localarc-service[postgres]"
"$prefix/bin/localarc" warm-up --service-only
"$prefix/bin/python" -m pip uninstall --quiet --yes setuptools pip
