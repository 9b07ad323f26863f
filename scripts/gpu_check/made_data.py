#!/usr/bin/env python3
"""Small synthetic data for every shipped recipe, in a folder; needs nothing but the program.

scripts/gpu_check/made_data.py PROGRAM FOLDER
"""
import os
import shutil
import struct
import subprocess
import sys

CLASSES = 10  # of the shapes


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_shapes(program, folder):
    subprocess.run([program, "data", "make", "shapes", folder + "/shapes", "--train", "6", "--val", "1", "--size",
                    "32"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_scenes(program, folder):
    """Images with masks, and with points; heads as Biwi has them, two persons."""
    for what in ("masks", "points"):
        subprocess.run([program, "data", "make", what, f"{folder}/{what}", "--train", "24", "--val", "6", "--size", "32"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for person, first, count in (("01", 0, 16), ("13", 16, 6)):
        write(f"{folder}/biwi/{person}/rgb.cal", "30 0 16\n0 30 16\n0 0 1\n")
        for i in range(first, first + count):
            stem = f"{folder}/biwi/{person}/frame_{i:05}"
            shutil.copyfile(f"{folder}/points/images/train_{i:04}.png", stem + "_rgb.png")
            write(stem + "_pose.txt", f"1 0 0\n0 1 0\n0 0 1\n\n{i * 37 % 200 - 100} {i * 53 % 200 - 100} 900\n")


def make_houses(program, folder):
    subprocess.run([program, "data", "make", "table", folder + "/houses", "--rows", "200"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def images_of(folder):
    """(train or val, class, file) of the shapes."""
    for side in ("train", "val"):
        for name in sorted(os.listdir(f"{folder}/shapes/{side}")):
            for file in sorted(os.listdir(f"{folder}/shapes/{side}/{name}")):
                yield side, name, file


def make_noisy(folder):
    """The list of imagenette-noisy: labels of five degrees of noise."""
    names = ",".join(f"noisy_labels_{percent}" for percent in (0, 1, 5, 25, 50))
    rows = [f"{side}/{name}/{file}," + ",".join([name] * 5) + f",{side == 'val'}"
            for side, name, file in images_of(folder)]
    write(folder + "/noisy.csv", "\n".join([f"path,{names},is_valid", *rows]) + "\n")


def make_pets(folder):
    """Three breeds, whose names stand in the names of the files."""
    os.makedirs(folder + "/pets", exist_ok=True)
    breeds = {}
    for side, name, file in images_of(folder):
        if len(breeds) < 3 or name in breeds:
            breeds[name] = breeds.get(name, 0) + 1
            shutil.copyfile(f"{folder}/shapes/{side}/{name}/{file}", f"{folder}/pets/{name}_{breeds[name]}.jpg")


def make_digits(folder, train=40):
    """The IDX files of MNIST's page: magic number, sizes, bytes."""
    os.makedirs(folder + "/mnist", exist_ok=True)
    for prefix, count in (("train", train), ("t10k", 20)):
        with open(f"{folder}/mnist/{prefix}-images-idx3-ubyte", "wb") as file:
            file.write(struct.pack(">4I", 2051, count, 28, 28))
            file.write(bytes(i * 31 % 251 for i in range(count * 28 * 28)))
        with open(f"{folder}/mnist/{prefix}-labels-idx1-ubyte", "wb") as file:
            file.write(struct.pack(">2I", 2049, count) + bytes(i % 10 for i in range(count)))


def make_people(folder, rows=120):
    """The columns of Adult that the recipe names; some ages are missing."""
    work, school = ("Private", "State-gov", "?"), ("Bachelors", "HS-grad", "11th", "Masters")
    lines = ["age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,class"]
    for i in range(rows):
        age = "" if i % 9 == 4 else 20 + i * 7 % 50
        lines.append(f"{age},{work[i % 3]},{1000 * (i * 13 % 97)},{school[i % 4]},{9 + i % 5},Divorced,Sales,Wife,White,"
                     + (">50K" if i * 7 % 50 > 25 else "<=50K"))
    write(folder + "/adult.csv", "\n".join(lines) + "\n")


def make_ratings(folder, users=14, items=11):
    """Ratings of 0.5 to 5 in halves, of most pairs."""
    lines = ["userId,movieId,rating,timestamp"]
    for user in range(users):
        for item in range(items):
            if (user * 5 + item * 3) % 4:
                lines.append(f"{user + 1},{item + 1},{(user * 7 + item * item * 3) % 10 / 2 + 0.5},{user * items + item}")
    write(folder + "/ratings.csv", "\n".join(lines) + "\n")


def make_reviews(folder, each=20):
    """Reviews of 2 to 40 words, `each` of a class and split."""
    good, bad = ("fine", "warm", "bright", "Grand"), ("dull", "cold", "weak", "Hollow")
    plain = ("the", "film", "was", "a", "story", "of", "people", ",", "and")
    for split in ("train", "test"):
        for i in range(2 * each):
            words = [(good if i % 2 else bad)[(i + word) % 4] if word % 3 == 1 else plain[(i * word + word) % 9]
                     for word in range(2 + i * 7 % 39)]
            write(f"{folder}/reviews/{split}/{'pos' if i % 2 else 'neg'}/{i}.txt", " ".join(words) + " ")


def make_all(program, folder):
    os.makedirs(folder, exist_ok=True)
    make_shapes(program, folder)
    make_scenes(program, folder)
    make_houses(program, folder)
    for make in (make_noisy, make_pets, make_digits, make_people, make_ratings, make_reviews):
        make(folder)


if __name__ == "__main__":
    make_all(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
