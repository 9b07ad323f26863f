#!/usr/bin/env python3
"""Measures rows of bench/compare.py and writes the table of bench/README.md: those never measured first, then the oldest.

bench/table.py [ROW...] [--minutes 40] [--pairs 3] [--write-only] [--build FOLDER] [--data FOLDER] [--peers FOLDER]

bench/table.jsonl has the newest figures of each row, a line each. A row that cannot run, since its peer or its data are missing,
keeps its figures and their date, and why is printed. A row is begun only if it took less time before than is left of the minutes,
and is ended when they are over.
"""
import argparse
import contextlib
import datetime
import json
import os
import platform
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIGURES, DOCUMENT = os.path.join(ROOT, "bench", "table.jsonl"), os.path.join(ROOT, "bench", "README.md")
BEGIN, END = "<!-- bench/table.py writes from here -->\n", "<!-- to here -->\n"

# The peer in the best setting that was found; torch.compile is part of it where it was faster.
TUNED = "PyTorch tuned: decode_jpeg, v2 on bytes"
BEST = "PyTorch: channels_last, glibc that keeps memory, fused SGD"
PEERS = {
    "loader-pil": "torchvision with PIL", "loader-tuned": TUNED, "loader-cached": TUNED + "; it decodes, ours read the cache",
    "shards-pil": "webdataset with PIL", "shards-tuned": "webdataset with decode_jpeg",
    "step-default": "PyTorch as is", "step-best": BEST + "; torch.compile was slower, 0.92x", "step-xresnet50": "fastai's network; " + BEST + "; torch.compile was no faster, 0.99x", "unet-default": "fastai as is", "unet-best": "fastai's network, which torch.compile refuses; " + BEST,
    "gpt2": "transformers, SDPA; compile is its own row", "gpt2-compile": "transformers, SDPA, torch.compile",
    "gpt2-learned": "transformers, SDPA", "awd-lstm": "fastai's network in PyTorch; torch.compile was slower, 0.94x",
    "epoch-plain": "PyTorch with PIL", "epoch-fastai": "fastai", "epoch-accelerate": "Accelerate", "epoch-tuned": TUNED + ", channels_last",
    "profile": "ours without --profile", "eval": TUNED + ", channels_last, inference_mode; import left out",
    "predict": TUNED + ", channels_last, inference_mode; import left out", "masks": "fastai", "points": "fastai",
    "collab": "fastai, TabDataLoader", "adult-fastai": "fastai", "adult-torch": "PyTorch: whole tensors, fused AdamW, torch.compile",
    "csv": "pandas", "csv-large": "pandas", "tokenize": "tokenizers (Rust)", "generate": "transformers with its cache",
    "startup-trainer": "transformers' Trainer", "startup": "PyTorch, one step of an MLP", "startup-memory": "PyTorch, one step of an MLP",
    "startup-run": "PyTorch tuned: two steps of resnet18 from files; ours saves and reports too", "ranks": "torchrun", "ddp-step": "DDP with bucket views",
}
UNITS = {"images_per_cpu_second": "images per CPU-second", "images_per_second": "rows/s", "rows_per_second": "rows/s", "seconds": "s",
         "tokens_per_second": "tokens/s", "wall": "s", "rss": "MiB", "ddp_over_bare": "of a bare step"}


def figures():
    with contextlib.suppress(FileNotFoundError), open(FIGURES) as file:
        return {found["row"]: found for found in map(json.loads, file)}
    return {}


def write_figures(known):
    with open(FIGURES + ".new", "w") as file:
        for row in PEERS:
            if row in known:
                print(json.dumps(known[row]), file=file)
    os.replace(FIGURES + ".new", FIGURES)


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    wide = "AVX-512" if "avx512f" in open("/proc/cpuinfo").read() else "AVX2"
    return f"{len(names)} cores, {names[0] if names else platform.machine()}, {wide}"


def short(number):
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def line_of(row, found):
    unit = UNITS[found["figure"]]
    pss = f"{found['pss']:.2f}" if found.get("pss") else ""
    busy = f", {found['disturbed']} of {found['pairs']} pairs disturbed" if found.get("disturbed") else ""
    return (f"| {row} | {PEERS[row]} | {short(found['ours'])} {unit} | {short(found['peer'])} | {found['ratio']:.2f}x | {pss} |"
            f" {found['machine']}; {found['date']}{busy} | `bench/compare.py {row}` |")


def write_table(known):
    lines = ["| row | peer | ours | peer's | in our favor | PSS, ours / peer | machine, date | command |", "|---|---|---|---|---|---|---|---|"]
    lines += [line_of(row, known[row]) if row in known else f"| {row} | {PEERS[row]} | | | | | not measured | `bench/compare.py {row}` |"
              for row in PEERS]
    text = open(DOCUMENT).read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(DOCUMENT + ".new", "w") as file:
        file.write(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)
    os.replace(DOCUMENT + ".new", DOCUMENT)


def measured(row, pairs, seconds, options):
    """What compare.py finds, or why it found nothing."""
    made = os.path.join(ROOT, "bench", "row.json.new")
    command = [sys.executable, os.path.join(ROOT, "bench", "compare.py"), row, "--pairs", str(pairs), "--json", made, *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, errors = process.communicate(timeout=max(1, seconds))
        if process.returncode != 0:
            return None, errors.strip().splitlines()[-1] if errors.strip() else f"ended with {process.returncode}"
        with open(made) as file:
            return json.load(file)[0], ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None, "the minutes were over"
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--write-only", action="store_true", help="write the table from bench/table.jsonl")
    passed_on = ("build", "data", "peers")
    for name in passed_on:
        parser.add_argument(f"--{name}", help="as of bench/compare.py")
    options = parser.parse_args()
    others = [f"--{name}={getattr(options, name)}" for name in passed_on if getattr(options, name)]
    rows = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "compare.py"), "--list"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()
    if set(rows) != set(PEERS):
        parser.error(f"rows of compare.py without a peer's description, or the reverse: {sorted(set(rows) ^ set(PEERS))}")
    for row in options.rows:
        if row not in rows:
            parser.error(f"no row is called '{row}'; there are {', '.join(rows)}")
    known, end = figures(), time.monotonic() + 60 * options.minutes
    oldest = sorted(options.rows or rows, key=lambda row: known.get(row, {}).get("date", ""))
    for row in [] if options.write_only else oldest:
        left = end - time.monotonic()
        if known.get(row, {}).get("seconds", 0) >= left:
            print(f"{row}: left for another time, it took {known[row]['seconds']:.0f} s", flush=True)
            continue
        start = time.monotonic()
        found, why = measured(row, options.pairs, left, others)
        if found is None:
            print(f"{row}: keeps its figures: {why}", flush=True)
            continue
        known[row] = {**found, "machine": machine(), "date": datetime.date.today().isoformat(), "seconds": round(time.monotonic() - start)}
        write_figures(known)
        print(f"{row}: {found['ratio']:.2f}x", flush=True)
    write_table(known)


if __name__ == "__main__":
    main()
