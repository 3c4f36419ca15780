#!/bin/sh
# Install the server into one folder, which is what the image of the Dockerfile holds:
#
#     scripts/container.sh SOURCE TARGET
#
# SOURCE is a checkout; TARGET, which must not exist, gets a virtual environment in TARGET/venv and
# the encoder of the shipped models in TARGET/models. Packages come from pip's settings: set
# PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu where they have no torch for processors.
# PYTHON names the interpreter (python3).
set -eu

fail() {
    echo "container.sh: $*" >&2
    exit 2
}

[ $# -eq 2 ] || fail "expected two arguments, SOURCE and TARGET, got $#"
[ -f "$1/constraints.txt" ] || fail "$1: expected a checkout with constraints.txt"
[ ! -e "$2" ] || fail "$2: exists already; remove it, or name another folder"

source=$(cd "$1" && pwd)
mkdir -p "$2"
target=$(cd "$2" && pwd)
bin=$target/venv/bin
# What was set for another environment must not reach this one.
unset PYTHONPATH SYNTAGMA_ENCODER PIP_CONSTRAINT || true
export PYTHONNOUSERSITE=1 SYNTAGMA_HOME="$target/models"

"${PYTHON:-python3}" -m venv "$target/venv"
"$bin/pip" install --quiet --no-cache-dir --disable-pip-version-check \
    --constraint "$source/constraints.txt" "$source[serve,documents]"
"$bin/python" -c 'import sys, torch; sys.exit(torch.version.cuda is not None)' ||
    fail "torch was installed for CUDA, which takes gigabytes; set" \
        "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
"$bin/syntagma" download default

# What installs and compiles is not needed to serve.
site=$("$bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
rm -rf "$site/torch/include" "$site/torch/share" "$site/torch/test"
find "$site" -name '*.a' -delete
"$bin/pip" uninstall --quiet --yes --disable-pip-version-check setuptools wheel 2>/dev/null || true
"$bin/python" -m pip uninstall --quiet --yes pip

# Whoever runs the server may read everything and change nothing.
chmod -R a+rX,go-w "$target"

# It answers without a network.
printf 'The ferry left at noon. The gulls followed it.' >"$target/check.txt"
HF_HUB_OFFLINE=1 "$bin/syntagma" answer "$target/check.txt" 'When did the ferry leave?' | grep noon ||
    fail "the installed reader did not find the answer in its test"
rm "$target/check.txt"
echo "$(du -sm "$target" | cut -f 1) MB in $target"
