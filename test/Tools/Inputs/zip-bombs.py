#!/usr/bin/env python3
# ===- zip-bombs.py - Members that hold more than they may ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""zip-bombs.py FOLDER GOOD.PT2 GOOD.LUM INPUT...: small files that would decompress to hundreds of megabytes.

Each must be refused with exit code 2 and one error that names the member, its size and the limit, without more memory
than the good file takes, and a little.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

folder, good_archive, good_artifact = map(pathlib.Path, sys.argv[1:4])
inputs = [f"--input={i}" for i in sys.argv[4:]]
MEGABYTE = 1 << 20
LIMIT = 256 * MEGABYTE  # kMaxMemberBytes
failures = 0


class Member:
    """What a member says of itself may be a lie."""

    def __init__(self, content, fill=None, compressed=True, size=None):
        if fill is None:
            self.size, self.crc = len(content), zlib.crc32(content)
            packer = zlib.compressobj(1, zlib.DEFLATED, -15)
            self.data = packer.compress(content) + packer.flush() if compressed else content
        else:  # `fill` megabytes behind the content
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            block, pieces = content[-1:] * MEGABYTE, [packer.compress(content)]
            self.crc, self.size = zlib.crc32(content), len(content) + fill * MEGABYTE
            for _ in range(fill):
                self.crc = zlib.crc32(block, self.crc)
                pieces.append(packer.compress(block))
            self.data = b"".join(pieces) + packer.flush()
        self.method = 8 if compressed else 0
        if size is not None:
            self.size = size


def write(path, members):
    body, directory = b"", b""
    for name, member in members.items():
        encoded = name.encode()
        fields = struct.pack("<HHHHHIIIHH", 20, 0, member.method, 0, 0x21, member.crc, len(member.data), member.size,
                             len(encoded), 0)
        directory += struct.pack("<IH", 0x02014B50, 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + encoded
        body += struct.pack("<I", 0x04034B50) + fields + encoded + member.data
    path.write_bytes(body + directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(members), len(members),
                                                    len(directory), len(body), 0))
    return path


def run(command):
    """Exit code, standard error, and the most memory that it had, in bytes."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read().decode(), usage.ru_maxrss * 1024


def refused(what, command, most, *texts):
    global failures
    code, said, memory = run(command)
    errors = [line for line in said.splitlines() if "error: " in line]
    if code != 2 or len(errors) != 1 or not all(text in errors[0] for text in texts) or memory > most:
        failures += 1
        print(f"{what}: exit {code}, {memory / MEGABYTE:.0f} MB of at most {most / MEGABYTE:.0f}, expected {texts}\n{said}")


def good(command):
    code, said, memory = run(command)
    if code != 0:
        sys.exit(f"{command}: exit {code}\n{said}")
    return memory + 100 * MEGABYTE


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: Member(archive.read(name), compressed=False) for name in archive.namelist()}


def too_large(size, limit, compressed=True):
    packed = " when decompressed" if compressed else ""
    return f"has {size} bytes{packed}, more than the limit of {limit}"


# Archives, compiled and evaluated by the interpreter.
plain = members_of(good_archive)
json_text, weight_name = "model/models/model.json", "model/data/weights/weight_0"
weight = Member(bytes(48), fill=300)
bomb = Member(b"{ ", fill=300)
saved = {"archive/data.pkl": bomb, "archive/byteorder": Member(b"little")}
inner = write(folder / "inner.zip", saved).read_bytes()
pickled = {"config": {"w": {"path_name": "weight_0", "is_param": True, "use_pickle": True, "tensor_meta": None}}}
config = "model/data/weights/model_weights_config.json"
half = bytes(48) + b"x" * 48
archives = {
    "model": ({json_text: bomb}, json_text, too_large(bomb.size, LIMIT)),
    "config": ({config: bomb}, config, too_large(bomb.size, LIMIT)),
    "byteorder": ({"model/byteorder": bomb}, "byteorder", too_large(bomb.size, 64)),
    "weight": ({weight_name: weight}, weight_name, too_large(weight.size, 48)),
    "one byte too many": ({weight_name: Member(bytes(49))}, weight_name, too_large(49, 48)),
    "declared small": ({weight_name: Member(bytes(48), fill=300, size=48)}, weight_name, "more or other bytes"),
    "declared small model": ({json_text: Member(b"{ ", fill=300, size=64)}, json_text, "more or other bytes"),
    "declared large": ({json_text: Member(half, size=300 * MEGABYTE)}, json_text, "more bytes than its data can hold"),
    "declared large by what deflate can": (
        {weight_name: Member(os.urandom(MEGABYTE), size=900 * MEGABYTE)}, weight_name,
        too_large(900 * MEGABYTE, 48)),
    "declared larger": ({weight_name: Member(bytes(40), size=48)}, weight_name, "cannot be decompressed"),
    "torch.save in one": ({weight_name: bomb, config: Member(json.dumps(pickled).encode())}, weight_name,
                          too_large(bomb.size, LIMIT)),
    "pickle": ({weight_name: Member(inner, compressed=False), config: Member(json.dumps(pickled).encode())},
               "data.pkl", too_large(bomb.size, 64 * MEGABYTE)),
}
compiles = ["luminal-compile", "-o", folder / "out.lum"]
most = good([*compiles, good_archive])
for what, (changes, member, text) in archives.items():
    file = write(folder / "bomb.pt2", {**plain, **changes})
    refused(what, [*compiles, file], most, f"'{member}'" if "'" not in member and "/" in member else member, text)
    assert file.stat().st_size < 3 * MEGABYTE
# A stored member may be larger than the part that is read: nothing is decompressed.
write(folder / "window.pt2", {**plain, weight_name: Member(plain[weight_name].data + bytes(100), compressed=False)})
good([*compiles, folder / "window.pt2"])
# A compressed member of the stated length works too.
write(folder / "packed.pt2", {name: Member(member.data) for name, member in plain.items()})
good([*compiles, folder / "packed.pt2", "--embed-weights"])

# Artifacts, and the files that hold their weights.
parts = members_of(good_artifact)
root = json.loads(parts["manifest.json"].data)
runs = ["luminal-run", *inputs]
most = good([*runs, good_artifact])
for what, changes, text in (
        ("manifest.json", {"manifest.json": bomb}, too_large(bomb.size, LIMIT)),
        ("host.so", {"host.so": Member(parts["host.so"].data, fill=300)},
         too_large(len(parts["host.so"].data) + 300 * MEGABYTE, LIMIT)),
        ("constants.bin", {"constants.bin": Member(bytes(16), fill=300)}, too_large(16 + 300 * MEGABYTE, 64)),
        ("constants.bin", {"constants.bin": Member(bytes(65), compressed=False)}, too_large(65, 64, False)),
        ("weights.bin", {"weights.bin": Member(bytes(80), fill=300)}, too_large(80 + 300 * MEGABYTE, 80 + 64))):
    refused(what, [*runs, write(folder / "bomb.lum", {**parts, **changes})], most, f"'{what}'", text)
for index, entry in enumerate(root["weights"]):
    entry["member"], entry["offset"] = "data/weights/all", 16 * index
root["weights_embedded"] = False
write(folder / "outside.lum", {**parts, "manifest.json": Member(json.dumps(root).encode())})
for content, fill in ((bytes(32), None), (bytes(32), 300)):
    file = write(folder / "weights.pt2", {"m/data/weights/all": Member(content, fill), "m/version": Member(b"1")})
    command = [*runs, folder / "outside.lum", f"--weights={file}"]
    if fill:
        refused("weights", command, most, "data/weights/all", too_large(32 + 300 * MEGABYTE, 32))
    else:
        good(command)

# Headers of arrays. The files have holes where the header would be.
def sparse(name, start, size):
    with open(folder / name, "wb") as file:
        file.write(start)
        file.truncate(size)
    return folder / name


array = sparse("x.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 300 * MEGABYTE), 301 * MEGABYTE)
refused("npy", ["luminal-run", good_artifact, f"--input={array}", *inputs[1:]], most,
        f"its header has {300 * MEGABYTE} bytes, more than the limit of 65535")
tensors = sparse("w.safetensors", struct.pack("<Q", 300 * MEGABYTE), 301 * MEGABYTE)
refused("safetensors", [*runs, folder / "outside.lum", f"--weights={tensors}"], most,
        f"its header has {300 * MEGABYTE} bytes, more than the limit of 100000000")
sys.exit(f"{failures} files were not refused as they should be" if failures else 0)
