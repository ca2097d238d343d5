#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Weights, labelled data and score of an int8 classifier: does a block of four pixels show an edge, or a warm or a cool area?

usage: model.py weights FOLDER            writes layer1.tgmx (6 x 16) and layer2.tgmx (3 x 6)
       model.py labelled FOLDER [SEED]    writes blocks.npy (int8, <1,50,60,16>) and labels.txt, one label a block
       model.py score FOLDER SCORES.npy   compares the largest of three scores of each block with its label

A block is four RGBA pixels beside each other: 16 channels, each sample minus 128, as simaaivideototensor makes them of
RGBA. Alpha is always 127 there, so its weights are the bias. The weights follow from the rules below; nothing is trained.
"""
import pathlib
import random
import struct
import sys

CLASSES = ("edge", "warm", "cool")
SHAPE = (1, 50, 60, 16)
# Rescale of both layers; classify.sh passes the same numbers to simaaimatmul.
LAYER1 = (260, 15)  # 0.00793: a step of D between the halves of a block becomes about 2 D
LAYER2 = (512, 15)  # 1/64


def pixels(left, right):
    """16 weights: `left` for the first two pixels and `right` for the others, each (red, green, blue, alpha)."""
    return [*left, *left, *right, *right]


def layer1():
    """Steps of luma and of red minus blue, each direction for itself: int8 saturation at -128 is the rectifier. Then
    red minus blue of the whole block, and a unit that is always 127."""
    bias = -32  # four alphas of 127: about -128 after the rescale
    return [
        pixels((-42, -42, -42, bias), (42, 42, 42, bias)),
        pixels((42, 42, 42, bias), (-42, -42, -42, bias)),
        pixels((-63, 0, 63, bias), (63, 0, -63, bias)),
        pixels((63, 0, -63, bias), (-63, 0, 63, bias)),
        pixels((31, 0, -31, 0), (31, 0, -31, 0)),
        pixels((0, 0, 0, 127), (0, 0, 0, 127)),
    ]


def layer2():
    """An edge where the steps add up to more than about 60 above their common floor of 4 * -128; else red against blue."""
    return [[24, 24, 24, 24, 0, 85], [0, 0, 0, 0, 4, 0], [0, 0, 0, 0, -4, 0]]


def tgmx(rows):
    stream = b"TGMX" + struct.pack("<BHH", 1, len(rows), len(rows[0]))
    return stream + b"".join(struct.pack("<HHb", row, col, value)
                             for row, values in enumerate(rows) for col, value in enumerate(values))


def npy(shape, values):
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"{len(values)}b", *values)


def read_npy(path):
    data = path.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack(f"{len(data) - start}b", data[start:])


def colour(generator, warm):
    """Red and blue differ by 15 or more, the larger one is red where `warm`."""
    low = generator.randint(10, 180)
    high = generator.randint(low + 15, min(245, low + 180))
    green = generator.randint(10, 245)
    return (high, green, low) if warm else (low, green, high)


def block(generator, label):
    """Samples of a block of this class, with noise; an edge lies in its middle and has a step of luma of 25 or more."""
    left = right = colour(generator, generator.random() < 0.5 if label == "edge" else label == "warm")
    while label == "edge" and abs(sum(left) - sum(right)) < 3 * 25:
        right = colour(generator, generator.random() < 0.5)
    noisy = [min(255, max(0, round(value + generator.gauss(0, 8)))) for rgb in (left, left, right, right) for value in rgb]
    return [value - 128 for n in range(4) for value in (*noisy[3 * n:3 * n + 3], 255)]


def write_weights(folder):
    (folder / "layer1.tgmx").write_bytes(tgmx(layer1()))
    (folder / "layer2.tgmx").write_bytes(tgmx(layer2()))


def write_labelled(folder, seed):
    generator = random.Random(seed)
    labels = [generator.choice(CLASSES) for _ in range(SHAPE[1] * SHAPE[2])]
    values = [value for label in labels for value in block(generator, label)]
    (folder / "blocks.npy").write_bytes(npy(SHAPE, values))
    (folder / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")


def score(folder, path):
    labels = (folder / "labels.txt").read_text(encoding="utf-8").split()
    scores = read_npy(pathlib.Path(path))
    if len(scores) != 3 * len(labels):
        sys.exit(f"{path}: {len(scores)} scores for {len(labels)} blocks")
    right = 0
    for n, label in enumerate(labels):
        three = scores[3 * n:3 * n + 3]
        right += CLASSES[three.index(max(three))] == label
    chance = max(labels.count(name) for name in CLASSES) / len(labels)
    accuracy = right / len(labels)
    print(f"accuracy {accuracy:.3f} on {len(labels)} labelled blocks (the most frequent class alone: {chance:.3f})")
    return accuracy


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("weights", "labelled", "score"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "weights":
        write_weights(folder)
    elif sys.argv[1] == "labelled":
        write_labelled(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    else:
        sys.exit(0 if score(folder, sys.argv[3]) >= 0.9 else 1)


if __name__ == "__main__":
    main()
