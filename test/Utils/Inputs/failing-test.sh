#!/bin/sh
echo "no such function"
exit 1
