#!/bin/sh
# Starts Lantern Deep where it lies.
cd "$(dirname "$0")/.." && exec ./lantern --scripts scripts/main.lua "$@"
