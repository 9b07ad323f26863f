#!/usr/bin/env python3
"""Interleaves runs of ours and a peer's program and prints the median of the ratios: one row of the table for each comparison.

bench/compare.py [ROW...] [--pairs 5] [--data FOLDER] [--build build] [--peers FOLDER] [--small] [--json FILE]
bench/compare.py --list

Programs: `make bench`. Peers: bench/peers/setup. --data is imagenette2-224 (train/ below it; adult.csv next to it). A pair in which other
processes used more than a tenth of the machine is run again, at most twice, and then marked with '!'.
"""
import argparse
import dataclasses
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Row:
    """A comparison: commands, and the figure that both print or that is taken from outside (wall, rss, pss)."""
    ours: list
    peer: list
    figure: str
    at_least: float | None = None  # ratio in our favor
    at_most: float | None = None  # absolute, of ours
    better: str = "more"
    prepare: list | None = None  # a command that is run once before
    pss_at_most: float | None = None  # ours / peer; memory is watched, at a price in time, only where this is set


def rows(options):
    python = os.path.join(options.peers, "bin", "python")
    program = lambda name: os.path.join(options.build, "bench", "bench_" + name)
    script = lambda name: [python, os.path.join(ROOT, "bench", "peers", name)]
    resnet18 = os.path.join(ROOT, "recipes", "imagenette-resnet18.yaml")
    train = os.path.join(options.data, "train")
    small = options.small
    images, steps, epoch, batch = ("256", "2", 3, 8) if small else ("2560", "10", 20, 64)
    passes = ["--images", images] + (["--passes", "1"] if small else [])
    two_threads = ["parallel.device=cpu", "train.threads=2"]

    loader = [program("loader_speed"), train, images]
    pixels = os.path.join(options.build, "bench", "pixels")
    step = [program("step"), steps, resnet18, "model.num_classes=10", f"batch.global={batch}", *two_threads]
    run_of = lambda steps: [os.path.join(options.build, "ddptrain"), "run", resnet18, f"data.root={options.data}",
                            f"train.duration={steps} steps", "log.every=1 step", "schedule={type: constant}",
                            "data.loader.workers=2", f"batch.global={batch}", *two_threads]
    run, profiled = run_of(epoch + 1), 2 if small else 12
    mlp = [program("step"), "1", os.path.join(ROOT, "bench", "mlp.yaml")]
    rounds, block = ("1", "1") if small else ("5", "3")
    ddp = [program("ddp_step"), rounds, block, resnet18, "model.num_classes=10", "parallel.mode=ddp",
           "parallel.device=cpu", "parallel.devices=2", f"batch.global={batch}", "train.threads=1"]
    peer_epoch = lambda peer: script("epoch_resnet18.py") + [
        train, "--peer", peer, "--steps", str(epoch), "--batch", str(batch)]
    ddp_peer = script("ddp_step.py") + ["--rounds", rounds, "--block", block, "--batch", str(batch // 2)]
    peer_step = script("step_resnet.py") + ["--steps", steps, "--batch", str(batch)]
    xresnet_batch = "2" if small else "32"
    xresnet = [program("step"), steps, resnet18, "model={type: xresnet50, num_classes: 10}", f"batch.global={xresnet_batch}", *two_threads]
    peer_xresnet = script("step_resnet.py") + ["--network", "xresnet50", "--setting", "best", "--steps", steps, "--batch", xresnet_batch]
    unet_batch = "2" if small else "8"
    unet = [program("step"), steps, os.path.join(ROOT, "bench", "unet.yaml"), f"batch.global={unet_batch}", *two_threads]
    peer_unet = script("step_unet.py") + ["--steps", steps, "--batch", unet_batch]
    texts = lambda name, rows, length, learned=1: [program("step"), f"{steps}@{length}:{learned}", os.path.join(ROOT, "bench", name), f"batch.global={rows}", *two_threads]
    text_rows = "2" if small else "8"
    gpt2, lstm = texts("gpt2.yaml", text_rows, 256), texts("awd_lstm.yaml", "4" if small else "32", 72)
    peer_gpt2 = script("step_gpt2.py") + ["--steps", steps, "--batch", text_rows]
    peer_lstm = script("step_awd_lstm.py") + ["--steps", steps, "--batch", "4" if small else "32"]
    fast = "images_per_cpu_second"
    adult = os.path.join(os.path.dirname(options.data), "adult.csv")
    table = [os.path.join(options.build, "ddptrain"), "run", os.path.join(ROOT, "recipes", "adult.yaml"),
             f"data.file={adult}", f"train.duration={2 if small else 8} epochs", "log.every=100 steps",
             "eval.every=100 epochs", "checkpoint.every=100 epochs", "parallel.device=cpu", "train.threads=1"]
    adult_peer = lambda peer: script("adult.py") + [adult, "--peer", peer, "--epochs", "1" if small else "3"]
    made = lambda kind, *more: (os.path.join(options.build, "bench", kind), [
        os.path.join(options.build, "ddptrain"), "data", "make", kind, os.path.join(options.build, "bench", kind), *more])
    ratings, make_ratings = made("ratings", "--rows", "20000")
    collab = [os.path.join(options.build, "ddptrain"), "run", os.path.join(ROOT, "recipes", "ratings.yaml"),
              f"data.file={ratings}/ratings.csv", f"train.duration={2 if small else 20} epochs", "log.every=50 steps",
              "eval.every=100 epochs", "checkpoint.every=100 epochs", "parallel.device=cpu", "train.threads=1"]
    collab_peer = script("collab.py") + [f"{ratings}/ratings.csv", "--epochs", "2" if small else "4"]
    augment = "data.transforms.train=[{type: fastai_augment, size: 180}, {type: normalize, preset: imagenet}]"

    def samples(kind, recipe, where):
        folder, make = made(kind, "--size", "360", "--train", "96", "--val", "8")
        passes = "1" if small else "3"
        return Row([program("sample_speed"), passes, os.path.join(ROOT, "recipes", recipe), where.format(folder), augment],
                   script("sample_speed.py") + [folder, "--kind", kind, "--passes", passes], fast, 3.0, prepare=make)

    language = os.path.join(options.build, "bench", "language")
    ddptrain = os.path.join(options.build, "ddptrain")
    make_language = script("language.py") + [language, "prepare", "--program", ddptrain, "--texts",
                                             os.path.join(os.path.dirname(options.data), "imdb")]
    language_peer = lambda what: script("language.py") + [language, what]
    one_core = ["taskset", "-c", "0"]
    fresh = lambda command: ["sh", "-c", f"rm -rf {language}/cache {language}/made && exec {command}"]
    tokens = fresh(f"taskset -c 0 {ddptrain} data tokens {language}/tokens.yaml {language}/made")
    first_step = fresh(f"{ddptrain} run {language}/small.yaml output.dir={language}/made")
    generation = [ddptrain, "generate", f"{language}/runs/bench/001", "The film was made in the winter of", "--greedy",
                  "--tokens", "128"]

    shards = os.path.join(options.build, "bench", "shards")
    make_shards = [ddptrain, "data", "shards", resnet18, f"data.root={options.data}", shards, "--size", "32MiB"]
    shard_speed = [program("shard_speed"), "1" if small else "3", os.path.join(ROOT, "bench", "shards.yaml"), f"data.root={shards}"]
    shards_peer = lambda pipeline: script("shards_webdataset.py") + [shards, "--pipeline", pipeline, "--epochs", "1" if small else "3"]
    from_shards = lambda pipeline: Row(shard_speed, shards_peer(pipeline), "images_per_second", 1.2, prepare=make_shards)

    # Some images of each class, and a run of one step on them.
    def run_on_some(name, images):
        folder = os.path.join(options.build, "bench", name)
        run = (f"{ddptrain} run {resnet18} data.root={folder} 'train.duration=1 step' 'schedule={{type: constant}}' batch.global=8"
               f" data.loader.workers=2 {' '.join(two_threads)}")
        make = (f"rm -rf {folder} && mkdir -p {folder}/val && for c in {options.data}/val/*; do mkdir {folder}/val/${{c##*/}} &&"
                f" ls $c/* | head -{images} | xargs -I% ln -s % {folder}/val/${{c##*/}}/; done && ln -s val {folder}/train")
        return folder, make, run

    scored, make_scored, run_scored = run_on_some("scored", 4 if small else 100)
    make_scored = ["sh", "-c", f"{make_scored} && {run_scored} output.dir={scored}/runs"]
    started, make_started, run_started = run_on_some("started", 2)
    score = lambda verb, *more: [ddptrain, verb, f"{scored}/runs/imagenette-resnet18/001", *more, "train.threads=2", "data.loader.workers=2"]
    peer_score = script("score_resnet18.py") + [f"{scored}/val"]

    houses = os.path.join(options.build, "bench", "houses")
    make_houses = [os.path.join(options.build, "ddptrain"), "data", "make", "table", houses,
                   "--rows", "4000" if small else "1000000"]
    csv = lambda file, **more: Row([program("csv_speed"), file], script("csv_pandas.py") + [file], "seconds", 10.0,
                                   better="less", **more)
    return {
        "loader-pil": Row(loader, script("loader_imagenette.py") + [train, "--pipeline", "pil", *passes], fast, 3.5),
        "loader-tuned": Row(loader, script("loader_imagenette.py") + [train, "--pipeline", "tuned", *passes], fast, 4.0),
        "loader-cached": Row([*loader, pixels], script("loader_imagenette.py") + [train, "--pipeline", "tuned", *passes], fast, 10.0,
                             prepare=["rm", "-rf", pixels]),
        "shards-pil": from_shards("pil"),
        "shards-tuned": from_shards("tuned"),
        "step-default": Row(step, peer_step, "images_per_second", 1.3),
        "step-best": Row(step, [*peer_step, "--setting", "best"], "images_per_second", 1.07),
        "step-xresnet50": Row(xresnet, peer_xresnet, "images_per_second", 1.05),
        "unet-default": Row(unet, peer_unet, "images_per_second"),
        "unet-best": Row(unet, [*peer_unet, "--setting", "best"], "images_per_second", 1.0),
        "gpt2": Row(gpt2, peer_gpt2, "images_per_second", 1.1, pss_at_most=0.5),
        "gpt2-compile": Row(gpt2, [*peer_gpt2, "--setting", "compile"], "images_per_second", 1.1, pss_at_most=0.5),
        "gpt2-learned": Row(texts("gpt2.yaml", text_rows, 256, 0.25), [*peer_gpt2, "--learned", "0.25"], "images_per_second", 1.1),
        "awd-lstm": Row(lstm, peer_lstm, "images_per_second", 1.1),
        "epoch-plain": Row(run, peer_epoch("plain"), "images_per_second", 1.25, pss_at_most=0.7),
        "epoch-fastai": Row(run, peer_epoch("fastai"), "images_per_second", 1.25, pss_at_most=0.7),
        "epoch-accelerate": Row(run, peer_epoch("accelerate"), "images_per_second", 1.25, pss_at_most=0.7),
        "epoch-tuned": Row(run, peer_epoch("tuned"), "images_per_second"),
        "profile": Row([*run_of(profiled + 2), "--profile", str(profiled)], run_of(profiled + 2), "images_per_second", 0.9),
        "eval": Row(score("eval"), peer_score, "seconds", better="less", prepare=make_scored, pss_at_most=0.5),
        "predict": Row(score("predict", f"{scored}/val", "--output", f"{scored}/ours.csv"), [*peer_score, "--csv", f"{scored}/peer.csv"],
                       "seconds", better="less", prepare=make_scored, pss_at_most=0.5),
        "masks": samples("masks", "camvid-tiny.yaml", "data.root={}"),
        "points": samples("points", "biwi-tiny.yaml", "data.file={}/points.csv"),
        "collab": Row(collab, collab_peer, "rows_per_second", 5.0, prepare=make_ratings),
        "adult-fastai": Row(table, adult_peer("fastai"), "rows_per_second", 4.0),
        "adult-torch": Row(table, adult_peer("torch") + ["--compile"], "rows_per_second", 5.0),
        "csv": csv(adult),
        "csv-large": csv(os.path.join(houses, "houses.csv"), prepare=make_houses),
        "tokenize": Row(tokens, one_core + language_peer("tokenize"), "wall", 7.0, better="less", prepare=make_language),
        "generate": Row(generation, language_peer("generate"), "tokens_per_second", 1.5, prepare=make_language),
        "startup-trainer": Row(first_step, language_peer("trainer"), "wall", 10.0, better="less", prepare=make_language),
        "startup": Row(mlp, script("startup.py"), "wall", at_most=0.33, better="less"),
        "startup-memory": Row(mlp, script("startup.py"), "rss", at_most=150, better="less"),
        "startup-run": Row(["sh", "-c", f"exec {run_started} output.dir={started}/runs"],
                           script("epoch_resnet18.py") + [f"{started}/train", "--peer", "tuned", "--steps", "1", "--batch", "8"], "wall", better="less",
                           prepare=["sh", "-c", make_started], pss_at_most=0.5),
        "ranks": Row([program("ranks"), "4"], script("torchrun_barrier.py") + ["4"], "wall", at_most=0.6, better="less"),
        "ddp-step": Row(ddp, ddp_peer, "ddp_over_bare", 1.0, better="less"),
    }


def tree(pid):
    """This process and all below it."""
    found, todo = [], [pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        for path in glob.glob(f"/proc/{pid}/task/*/children"):
            try:
                todo += [int(child) for child in open(path).read().split()]
            except OSError:
                pass
    return found


def pss_mib(pid):
    total = 0
    for process in tree(pid):
        try:
            for line in open(f"/proc/{process}/smaps_rollup"):
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except OSError:
            pass
    return total / 1024


def machine_busy_seconds():
    user, nice, system, idle, wait, irq, softirq, *_ = map(int, open("/proc/stat").readline().split()[1:])
    return (user + nice + system + irq + softirq) / TICKS


def figures_of(text, errors, folder):
    """The last line of JSON; the lines of bench_loader_speed; what generate logs; the events of a run."""
    wrote = re.search(r"wrote (\d+) tokens behind 1 prompt in ([\d.]+) (ms|s)\b", errors)
    if wrote:
        return {"tokens_per_second": int(wrote[1]) / float(wrote[2]) * (1000 if wrote[3] == "ms" else 1)}
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
        if line.startswith(("train, fast:", "train, cached:")):
            return {"images_per_cpu_second": float(line.split(":")[1])}
    steps = [event for path in glob.glob(f"{folder}/**/events.jsonl", recursive=True)
             for event in map(json.loads, open(path)) if event["event"] == "step"]
    if len(steps) > 1 and steps[-1]["seconds"] > steps[0]["seconds"]:
        first, last = steps[0], steps[-1]
        speed = (last["samples"] - first["samples"]) / (last["seconds"] - first["seconds"])
        return {"images_per_second": speed, "rows_per_second": speed}
    return {}


def measure(command, watch_pss):
    """Figures of one run: what it printed, wall and CPU seconds, peak rss of its largest process, peak pss of all."""
    with tempfile.TemporaryDirectory() as folder:
        if command[1:2] == ["run"]:
            command = [*command, f"output.dir={folder}"]
        busy, start = machine_busy_seconds(), time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peak, ended = [0.0], threading.Event()

        def watch():
            while watch_pss and not ended.wait(0.5):
                peak[0] = max(peak[0], pss_mib(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
        reader.join()
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {process.returncode}:\n{text[-1000:]}{errors[0][-3000:]}")
        cpu = usage.ru_utime + usage.ru_stime
        others = machine_busy_seconds() - busy - cpu
        found = figures_of(text, errors[0], folder)
        found.setdefault("seconds", wall)  # the whole process, where it prints no figure of its own
        return {**found, "wall": wall, "cpu": cpu, "rss": usage.ru_maxrss / 1024, "pss": peak[0],
                "disturbed": others > 0.1 * wall * os.cpu_count() + 0.05}


def undisturbed(command, row, tries):
    for _ in range(tries):
        result = measure(command, row.pss_at_most is not None)
        if not result["disturbed"]:
            break
    return result


def compare(name, row, pairs, tries):
    results = []
    if row.prepare:
        subprocess.run(row.prepare, check=True, stderr=subprocess.DEVNULL)
    for pair in range(pairs):
        ours, peer = undisturbed(row.ours, row, tries), undisturbed(row.peer, row, tries)
        results.append((ours, peer))
        print(f"  {name} {pair + 1}/{pairs}: {ours[row.figure]:.4g} against {peer[row.figure]:.4g}", file=sys.stderr)
    median = lambda values: statistics.median(list(values))
    turn = (lambda a, b: a / b) if row.better == "more" else (lambda a, b: b / a)
    found = {
        "row": name, "figure": row.figure,
        "ours": median(a[row.figure] for a, _ in results), "peer": median(b[row.figure] for _, b in results),
        "ratio": median(turn(a[row.figure], b[row.figure]) for a, b in results),
        "pss": median(a["pss"] / b["pss"] for a, b in results if b["pss"]) if results[0][1]["pss"] else None,
        "disturbed": sum(a["disturbed"] or b["disturbed"] for a, b in results), "pairs": pairs}
    found["wanted"] = f">= {row.at_least}x" if row.at_least else f"<= {row.at_most}" if row.at_most else ""
    if row.pss_at_most:
        found["wanted"] += f", pss <= {row.pss_at_most}x"
    found["met"] = ((row.at_least is None or found["ratio"] >= row.at_least)
                    and (row.at_most is None or found["ours"] <= row.at_most)
                    and (row.pss_at_most is None or found["pss"] <= row.pss_at_most))
    return found


def show(found):
    marks = ("yes" if found["met"] else "NO") + ("!" * bool(found["disturbed"]))
    pss = f"{found['pss']:.2f}" if found["pss"] else ""
    print(f"| {found['row']} | {found['figure']} | {found['ours']:.4g} | {found['peer']:.4g} | {found['ratio']:.2f}x |"
          f" {found['wanted']} | {marks} | {pss} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--tries", type=int, default=3, help="runs of a pair that others disturbed")
    parser.add_argument("--data", default=os.path.join(ROOT, "data", "imagenette2-224"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--peers", default=os.environ.get("DDPTRAIN_PEERS", os.path.join(ROOT, "..", "ddptrain-peers")))
    parser.add_argument("--small", action="store_true", help="a few images and steps, to see that everything runs")
    parser.add_argument("--json", help="write every figure to this file")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    for name in ("data", "build", "peers"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    table = rows(options)
    if options.list:
        print("\n".join(table))
        return
    unknown = [name for name in options.rows if name not in table]
    if unknown:
        parser.error(f"no row is called '{unknown[0]}'; there are {', '.join(table)}")
    print("| row | figure | ours | peer | in our favor | wanted | met | pss, ours / peer |\n|---|---|---|---|---|---|---|---|")
    all_found = []
    for name in options.rows or table:
        all_found.append(compare(name, table[name], options.pairs, 1 if options.small else options.tries))
        show(all_found[-1])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(all_found, file, indent=2)


if __name__ == "__main__":
    main()
