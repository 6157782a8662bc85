#!/bin/sh
# A service that answers from a given attempt on.
if [ "$RADDLE_ATTEMPT" -lt "$1" ]; then
    echo "attempt $RADDLE_ATTEMPT: connection refused" >&2
    exit 7
fi
echo "attempt $RADDLE_ATTEMPT: welcome"
