#!/usr/bin/env python3
"""ddptrain next to PyTorch on one GPU, interleaved in one run: samples per second in steady state, and their ratio.

bench/gpu.py [ROW...] [--device cuda|cpu] [--small] [--pairs 3] [--seconds 480] [--program build/ddptrain] [--data FOLDER]
             [--peers eager,compiled] [--warm] [--set KEY=VALUE]... [--results FILE]

Run it with a Python that has torch 2.11, torchvision, timm and transformers; ddptrain uses that torch's libraries through
LD_LIBRARY_PATH where its own are not found. ddptrain runs as people run it: it reads files, decodes and augments pictures.
PyTorch is tuned: channels_last, bf16 autocast, fused optimizer, cudnn.benchmark, pinned memory; the second peer adds
torch.compile. Its input is one random batch, copied to the device in every step (imagenette: JPEG files through a loader).
Rows: resnet50, resnet18, xresnet50 and xresnet50-256 (batches of 64 and 256), gpt2 (samples are blocks of 1,024 tokens),
mnist, adult, imagenette (--data holds imagenette2-160; without it, and in the other rows of pictures, synthetic JPEGs).
--warm: first all compiled peers of the rows at once, so that inductor's cache is there; no figure comes of it. --set: for
ddptrain's recipe, in all rows. --seconds: no row begins later. A table goes to --results, but not from --small, a rehearsal
at tiny sizes, for which `--device cpu` is enough.
"""
import argparse
import array
import dataclasses
import glob
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ["build/ddptrain", "bin/ddptrain"]  # of a build, of a bundle
PEER = os.path.join(ROOT, "bench", "peers", "gpu_steps.py")
VOCABULARY = 50257  # GPT-2's


@dataclasses.dataclass
class Row:
    """What both train: `words` are ddptrain's, `peer` the options of peers/gpu_steps.py."""
    recipe: str
    words: list
    peer: list
    batch: int
    steps: int
    goals: dict  # peer: ours / peer


def recipe(name):
    return os.path.join(ROOT, "recipes", name + ".yaml")


def pictures(options, model, size, batch, steps, goals, folder=None, peer=None):
    """A network on random crops of JPEG files, which the peer reads too where `peer` names their folder."""
    if options.small:
        size, batch, steps = 32, 4, 3
    half = "bf16" if options.device == "cuda" else "fp32"
    crop = f"[{{type: random_resized_crop, size: {size}}}, {{type: horizontal_flip}}, {{type: normalize, preset: imagenet}}]"
    valid = f"[{{type: resize, size: {size}}}, {{type: center_crop, size: {size}}}, {{type: normalize, preset: imagenet}}]"
    words = [f"model={{type: {model}, num_classes: auto}}", f"data.transforms={{train: {crop}, valid: {valid}}}",
             "data.root=" + (folder or options.work + "/shapes"), f"train.precision={half}"]
    return Row(recipe("imagenette-resnet18"), words, ["--model", model, "--size", str(size), "--input", peer or "random",
                                                      "--precision", half], batch, steps, goals)


def texts(options, goals):
    layers, length, batch, steps = (1, 64, 2, 3) if options.small else (12, 1024, 16, 60)
    half = "bf16" if options.device == "cuda" else "fp32"
    words = [f"model={{type: gpt2, n_layer: {layers}, embd_pdrop: 0, attn_pdrop: 0, resid_pdrop: 0}}", "train.clip=null",
             f"data.train={options.work}/train.tokens", f"data.valid={options.work}/valid.tokens",
             f"data.blocks.length={length}", "metrics=[perplexity]", "checkpoint.keep_best=null",
             f"train.precision={half}"]
    return Row(recipe("gpt2-small"), words, ["--model", "gpt2", "--size", str(length), "--layers", str(layers),
                                             "--input", "tokens", "--precision", half], batch, steps, goals)


def rows(options):
    digits, table = ((16, 3), (16, 3)) if options.small else ((256, 400), (64, 2000))
    both = {"eager": 1.0, "compiled": 1.0}
    return {
        "resnet50": pictures(options, "resnet50", 224, 256, 60, both),
        "resnet18": pictures(options, "resnet18", 128, 64, 400, {"eager": 1.5, "compiled": 1.0}),
        "xresnet50": pictures(options, "xresnet50", 128, 64, 200, both),
        "xresnet50-256": pictures(options, "xresnet50", 128, 256, 100, both),
        "gpt2": texts(options, both),
        "mnist": Row(recipe("mnist"), ["data.root=" + options.work + "/mnist"], ["--model", "mnist", "--input", "memory"],
                     *digits, {"eager": 3.0}),
        "adult": Row(recipe("adult"), ["data.file=" + options.work + "/adult.csv"], ["--model", "adult", "--input", "memory"],
                     *table, {"eager": 10.0}),
        "imagenette": pictures(options, "resnet18", 128, 64, 400, {"eager": 1.0}, options.images, options.images),
    }


def crc32c(data):
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def make_tokens(path, count):
    """A token file (src/sources/tokens/token_file.h) of one document of random tokens."""
    names = [str(i) for i in range(VOCABULARY - 1)] + ["<|endoftext|>"]
    header = json.dumps({"tokens": count, "documents": 1, "id_bytes": 2, "tokenizer": "0" * 64, "tokenizer_options": {},
                         "padding": VOCABULARY - 1, "unknown": "", "vocabulary": names,
                         "bytes": [1] * VOCABULARY}).encode()
    header += b" " * (-len(header) % 8)
    ids, state = array.array("H"), 1
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        ids.append((state >> 8) % (VOCABULARY - 1))
    body = b"ddptoks1" + struct.pack("<Q", len(header)) + header + struct.pack("<Q", count) + ids.tobytes()
    body += b"\0" * (-len(body) % 8)
    with open(path, "wb") as file:
        file.write(body + struct.pack("<Q", crc32c(body)))


def make_data(options, names):
    """Synthetic data: what is on them does not matter to the speed of a step."""
    sys.path.insert(0, os.path.join(ROOT, "scripts"))
    from gpu_check import made_data

    count = 40 if options.small else 400
    subprocess.run([options.program, "data", "make", "shapes", options.work + "/shapes", "--train", str(count), "--val", "4",
                    "--size", "32" if options.small else "256"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=options.variables)
    made_data.make_digits(options.work, 60 if options.small else 6000)
    made_data.make_people(options.work, 200 if options.small else 40000)
    if "gpt2" in names:
        make_tokens(options.work + "/train.tokens", 1000 if options.small else 1 << 20)
        make_tokens(options.work + "/valid.tokens", 1000 if options.small else 1 << 14)
    found = os.path.join(options.data, "imagenette2-160") if options.data else ""
    options.images = found if os.path.isdir(found) and not options.small else options.work + "/shapes"


def steady_speed(events, batch, skip):
    """Samples per second between the end of step `skip` and the last."""
    steps = [event for event in events if event["event"] == "step" and event["step"] >= skip]
    if len(steps) < 2:
        raise RuntimeError(f"{len(steps)} steps behind the {skip} of warm-up")
    samples = (steps[-1]["step"] - steps[0]["step"]) * batch
    return samples / (steps[-1]["seconds"] - steps[0]["seconds"])


def run_ours(options, row):
    skip = max(1, row.steps // 4)
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", row.recipe, *row.words, f"batch.global={row.batch}", "batch.micro=" + str(row.batch),
                 f"train.duration={row.steps} steps", f"log.every={max(1, row.steps // 20)} steps", "log.tensorboard=false",
                 "eval.every=1000000 steps", "checkpoint.every=1000000 steps", "checkpoint.keep_best=null",
                 "parallel.mode=none", "parallel.device=" + options.device, "schedule={type: constant}",
                 f"output.dir={folder}", *options.set]
        ended = subprocess.run([options.program, *words], capture_output=True, text=True, check=False, env=options.variables)
        if ended.returncode:
            raise RuntimeError(f"ddptrain ended with {ended.returncode}: {ended.stderr.strip()[-800:]}")
        path = glob.glob(f"{folder}/**/events.jsonl", recursive=True)[0]
        with open(path, encoding="utf-8") as file:
            return steady_speed([json.loads(line) for line in file], row.batch, skip)


def peer_words(options, row, peer):
    return [sys.executable, PEER, *row.peer, "--device", options.device, "--batch", str(row.batch), "--steps",
            str(row.steps)] + (["--compile"] if peer == "compiled" else [])


def run_peer(options, row, peer):
    ended = subprocess.run(peer_words(options, row, peer), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{os.path.basename(PEER)} ended with {ended.returncode}: {ended.stderr.strip()[-800:]}")
    return json.loads(ended.stdout.strip().splitlines()[-1])["samples_per_second"]


def peers_of(options, row):
    return [peer for peer in row.goals if peer in options.peers]


def warm(options, chosen):
    started = [subprocess.Popen(peer_words(options, row, "compiled"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for row in chosen if "compiled" in peers_of(options, row)]
    for process in started:
        process.wait()


def measure(options, row):
    """Medians of interleaved runs."""
    speeds = {name: [] for name in ["ours", *peers_of(options, row)]}
    for _ in range(options.pairs):
        for name, values in speeds.items():
            values.append(run_ours(options, row) if name == "ours" else run_peer(options, row, name))
    return {name: statistics.median(values) for name, values in speeds.items()}


def line_of(name, row, speeds):
    cells = [name, f"{speeds['ours']:.0f}"]
    for peer in ("eager", "compiled"):
        if peer not in speeds:
            cells += ["-", "-"]
            continue
        ratio, goal = speeds["ours"] / speeds[peer], row.goals[peer]
        cells += [f"{speeds[peer]:.0f}", f"{ratio:.2f}x, wanted {goal:g}x" + ("" if ratio >= goal else " (missed)")]
    return "| " + " | ".join(cells) + " |"


HEADER = ("| row | ddptrain, samples/s | PyTorch tuned | ratio | torch.compile | ratio |\n"
          "|---|---|---|---|---|---|")


def device_name(options):
    import torch

    name = torch.cuda.get_device_name(0) if options.device == "cuda" else "CPU"
    return f"{name}, torch {torch.__version__}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--peers", default="eager,compiled")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    program = next((each for each in PROGRAMS if os.path.exists(os.path.join(ROOT, each))), PROGRAMS[0])
    parser.add_argument("--program", default=os.path.join(ROOT, program))
    parser.add_argument("--data", default=os.environ.get("DDPTRAIN_DATA"))
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "gpu-results.md"))
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.peers = [name for name in options.peers.split(",") if name]
    import torch

    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    path = os.environ.get("LD_LIBRARY_PATH")
    options.variables = dict(os.environ, LD_LIBRARY_PATH=libraries + (":" + path if path else ""))
    return options


def append(options, line, is_first):
    """Each row as it is measured: what ends the script takes no figure away."""
    with open(options.results, "a", encoding="utf-8") as file:
        if is_first:
            settings = "".join(", " + word for word in options.set)
            file.write(f"\n## {device_name(options)}, {time.strftime('%Y-%m-%d', time.gmtime())}\n\n"
                       f"Medians of {options.pairs} interleaved runs{settings}.\n\n{HEADER}\n")
        file.write(line + "\n")


def main():
    options, begun, count = arguments(), time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="gpu-bench-") as options.work:
        options.images = ""
        known = rows(options)
        names = options.rows or list(known)
        unknown = set(names) - set(known)
        if unknown:
            sys.exit(f"there is no row {', '.join(sorted(unknown))}; they are {', '.join(known)}")
        make_data(options, names)
        known = rows(options)
        if options.warm:
            warm(options, [known[name] for name in names])
        print(f"{device_name(options)}\n{HEADER}", flush=True)
        for name in names:
            if time.monotonic() - begun > options.seconds:
                print(f"| {name} | not begun: {options.seconds:.0f} s are over | | | | |", flush=True)
                continue
            line = line_of(name, known[name], measure(options, known[name]))
            print(line, flush=True)
            if not options.small:
                append(options, line, count == 0)
            count += 1


if __name__ == "__main__":
    main()
