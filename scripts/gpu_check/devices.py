"""Slots 1, 3 and 8: what is there, the test program, compute-sanitizer."""
import os
import re
import shutil
import subprocess

from .checks import Skip, events_of, expect, last_lines, losses_of
from .shards import NO_DEVICE, run_shards
from .recipes import train, words_of

SHAPES = "recipes/shapes.yaml"


def nvidia_smi(bench):
    bench.cuda_only("there is no driver behind a simulated device")
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True, timeout=60).stdout.strip().replace("\n", "; ")


def doctor(bench):
    ended = bench.run(["doctor"], 60)
    expect(not bench.on_cuda or "cannot be used" not in ended.out, last_lines(ended.out, 20))
    lines = [line for line in ended.out.splitlines() if re.match(r"(GPUs|CUDA|driver|devices)", line)]
    return "; ".join(" ".join(line.split()) for line in lines)


def first_steps(bench, name, *more):
    run = train(bench, SHAPES, bench.device, name, *more, steps=20)
    losses, seconds = losses_of(run), [event["seconds"] for event in events_of(run, "step")]
    expect(len(losses) == 20 and losses[-1] < 2 * losses[0], f"losses {losses}")
    return (f"loss {losses[0]:.3f} to {losses[-1]:.3f} in 20 steps; the first took {seconds[0]:.2f} s, all "
            f"{seconds[-1]:.2f} s; {captures_of(run)}")


def captures_of(run):
    """How steps were made, in the words of the log."""
    with open(os.path.join(run, "log.txt"), encoding="utf-8") as file:
        lines = re.findall(r"(?:a step is not captured|steps are made|the ends of steps are made|step \d+ is captured).*",
                           file.read())
    return "; ".join(lines) or "no step was captured"


def shapes(bench):
    return first_steps(bench, "shapes")


def vision_learner(bench):
    return first_steps(bench, "learner", "model={type: vision_learner, body: resnet18, num_classes: auto}")


def hidden(bench):
    bench.cuda_only("CUDA_VISIBLE_DEVICES hides GPUs alone")
    folder = os.path.join(bench.work, "runs", "hidden")
    bench.run(words_of(bench, SHAPES, "auto", folder), CUDA_VISIBLE_DEVICES="")
    ended = bench.run(words_of(bench, SHAPES, "cuda", folder), code=4, CUDA_VISIBLE_DEVICES="")
    return last_lines(ended.err, 1)


def test_gpu(bench):
    """In processes that share the device: most of the time is the CPU's, which gives the expected values."""
    if not os.path.exists(bench.tests):
        raise Skip(f"{bench.tests} is not there; 'ninja -C build test_gpu' builds it")
    cores = os.cpu_count() or 1
    processes = max(1, min(8, cores // 2))
    shards = run_shards(bench, processes, DDPTRAIN_GPU_TEST_DEVICE=bench.device,
                        OMP_NUM_THREADS=str(max(1, cores // processes)))
    for shard in shards:
        if shard.code == NO_DEVICE:
            expect(not bench.on_cuda, last_lines(shard.out))
            raise Skip(last_lines(shard.out, 1))
    failures = {name: why for shard in shards for name, why in shard.failures().items()}
    expect(not failures, f"{len(failures)} failed: " + " // ".join(f"{name}: {why[:300]}" for name, why in failures.items()))
    passed, skipped = (sum(shard.count(word) for shard in shards) for word in ("PASSED", "SKIPPED"))
    return f"{passed} passed, {skipped} skipped, in {processes} processes"


def sanitizer(tool):
    def check(bench):
        bench.cuda_only("compute-sanitizer looks at CUDA kernels alone")
        found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not os.path.exists(found):
            raise Skip("compute-sanitizer is not here; it comes with the CUDA toolkit")
        words = words_of(bench, SHAPES, "cuda", os.path.join(bench.work, "runs", tool))
        ended = subprocess.run([found, "--tool", tool, "--error-exitcode", "9", bench.program, *words], cwd=bench.work,
                               capture_output=True, text=True, errors="replace", timeout=bench.left(), check=False,
                               env=bench.variables)
        expect(ended.returncode == 0, f"exit code {ended.returncode}: {last_lines(ended.stdout, 12)}")
        return last_lines(ended.stdout, 1)
    return check
