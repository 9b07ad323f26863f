"""Slots 6 and 7: ranks that die or hang, bad data, memory."""
import os
import re
import shutil
import signal
import subprocess
import time

from .checks import Skip, events_of, expect, last_lines
from .numbers import SHAPES, start_ranks, wait_for_ranks
from .recipes import train, words_of

TINY = "model={type: mnist_net, num_classes: auto}"
STEP_TIMEOUT = 15  # seconds


def run_of(folder):
    return os.path.join(folder, sorted(os.listdir(folder))[0])


def wait_for_steps(bench, ranks, folder, count=3, limit=120):
    """Until both ranks have trained together for a few steps."""
    end = time.monotonic() + min(limit, bench.left())
    while time.monotonic() < end and all(rank.poll() is None for rank in ranks):
        try:
            if len(events_of(run_of(folder), "step")) >= count:
                return
        except (OSError, IndexError, ValueError):
            pass
        time.sleep(0.1)
    ended = wait_for_ranks(bench, ranks, 5)
    expect(False, f"no {count} steps: {' // '.join(last_lines(each.err) for each in ended)}")


def long_ranks(bench, name):
    ranks, folder = start_ranks(bench, name, TINY, "train.duration=1000000 steps", "eval.every=1000000 steps",
                                f"parallel.timeout={{start: 1 min, step: {STEP_TIMEOUT} s}}")
    wait_for_steps(bench, ranks, folder)
    return ranks


def killed(bench):
    ranks = long_ranks(bench, "killed")
    begun = time.monotonic()
    ranks[1].kill()
    survivor = wait_for_ranks(bench, ranks, 90)[0]
    expect(survivor.code == 4, f"exit code {survivor.code}, not 4: {last_lines(survivor.err)}")
    return f"exit code 4 after {time.monotonic() - begun:.0f} s: {last_lines(survivor.err, 1)}"


def stopped(bench):
    ranks = long_ranks(bench, "stopped")
    begun = time.monotonic()
    ranks[1].send_signal(signal.SIGSTOP)
    survivor = bench.wait(ranks[0], STEP_TIMEOUT + 60)
    wait_for_ranks(bench, [ranks[1]], 1) if ranks[1].poll() is not None else ranks[1].kill()
    expect(survivor.code in (4, 124), f"exit code {survivor.code}, not 4 or 124: {last_lines(survivor.err)}")
    return f"exit code {survivor.code} after {time.monotonic() - begun:.0f} s: {last_lines(survivor.err, 1)}"


def broken_image(bench):
    """The first batch is rows 0 to 7: rank 1 reads rows 4 to 7."""
    broken = os.path.join(bench.work, "broken")
    shutil.copytree(bench.data + "/shapes", broken)
    first = os.path.join(broken, "train", sorted(os.listdir(broken + "/train"))[0])
    image = os.path.join(first, sorted(os.listdir(first))[5])
    os.truncate(image, 40)
    begun = time.monotonic()
    ranks, _ = start_ranks(bench, "torn", TINY, f"data.root={broken}", "data.sampler=sequential")
    for ended in wait_for_ranks(bench, ranks, 120):
        expect(ended.code == 3, f"exit code {ended.code}, not 3: {last_lines(ended.err)}")
        expect(os.path.basename(image) in ended.err, f"no rank names {image}: {last_lines(ended.err)}")
    return f"exit code 3 on both ranks, which name the file, {time.monotonic() - begun:.0f} s after their start"


def label_out_of_range(bench):
    """Ten classes for a network of five outputs: refused before a kernel could assert."""
    folder = os.path.join(bench.work, "runs", "labels")
    words = words_of(bench, SHAPES, bench.device, folder, "model={type: mnist_net, num_classes: 5}")
    ended = bench.run(words, code=2)
    return last_lines(ended.err, 1)


def used_mib(bench, process):
    """Memory of the device on CUDA; on the simulated one it is the process' own."""
    if not bench.on_cuda:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return float(subprocess.run(query, capture_output=True, text=True, check=True, timeout=30).stdout)


def memory_flat(bench):
    steps, warm = (2000, 500) if bench.on_cuda else (400, 100)  # copies make simulated steps slow
    folder = os.path.join(bench.work, "runs", "flat")
    process = bench.start(words_of(bench, SHAPES, bench.device, folder, TINY, "log.every=20 steps",
                                   "eval.every=100 steps", "checkpoint.every=100 steps", steps=steps))
    samples = []
    while process.poll() is None and bench.left() > 5:
        time.sleep(0.5)
        try:
            done = events_of(os.path.join(folder, "run", "001"), "step")
            if done and done[-1]["step"] >= warm:
                samples.append(used_mib(bench, process))
        except (OSError, ValueError, AttributeError):
            pass  # not begun, or just ended
    ended = bench.wait(process, 30)
    expect(ended.code == 0, f"exit code {ended.code}: {last_lines(ended.err)}")
    if len(samples) < 4:
        raise Skip(f"{steps} steps were over after {len(samples)} looks at the memory")
    half = len(samples) // 2
    growth = max(samples[half:]) - max(samples[:half])
    expect(growth <= 16, f"{growth:.0f} MiB more in the second half of {len(samples)} looks")
    return f"{steps} steps, {max(samples):.0f} MiB, {growth:+.1f} MiB in the second half"


def big_batch(bench, name, *more):
    images = os.path.join(bench.work, "many")
    if not os.path.exists(images):
        bench.run(["data", "make", "shapes", images, "--train", "410" if bench.on_cuda else "26", "--val", "1", "--size",
                   "32"], 120)
    size, batch, model = ("224", 4096, "resnet50") if bench.on_cuda else ("32", 256, "mnist_net")
    return words_of(bench, SHAPES, bench.device, os.path.join(bench.work, "runs", name),
                    f"model={{type: {model}, num_classes: auto}}", f"data.root={images}", f"batch.global={batch}",
                    f"data.transforms.train[0].size={size}", f"data.transforms.valid[0].size={size}",
                    "data.loader.workers=auto", *more, steps=2)


SMALL_MEMORY = {"DDPTRAIN_SIMULATED_MEMORY": str(128 << 20)}


def out_of_memory(bench):
    more = {} if bench.on_cuda else SMALL_MEMORY
    words = big_batch(bench, "memory", "batch.micro=auto", "batch.accumulate=1")
    ended = bench.run(words, 200, code=7, **more)
    return last_lines(ended.err, 1)


def micro_auto(bench):
    more = {} if bench.on_cuda else SMALL_MEMORY
    ended = bench.run(big_batch(bench, "micro", "batch.micro=auto", "batch.accumulate=auto"), 300, **more)
    found = re.findall(r"global \d+ = micro \d+ x accumulate (\d+)", ended.err)
    expect(found and int(found[-1]) > 1, f"no smaller micro-batch was looked for: {last_lines(ended.err, 12)}")
    return re.findall(r"batch.micro auto: .*", ended.err)[-1]
