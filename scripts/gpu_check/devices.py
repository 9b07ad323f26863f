"""Slots 1, 3 and 8: what is there, the test program, compute-sanitizer."""
import os
import re
import shutil
import subprocess

from .checks import Skip, expect, last_lines, losses_of
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
    losses = losses_of(train(bench, SHAPES, bench.device, name, *more, steps=20))
    expect(len(losses) == 20 and losses[-1] < 2 * losses[0], f"losses {losses}")
    return f"loss {losses[0]:.3f} to {losses[-1]:.3f} in 20 steps"


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
    if not os.path.exists(bench.tests):
        raise Skip(f"{bench.tests} is not there; 'ninja -C build test_gpu' builds it")
    limit = bench.left() - 5
    ended = subprocess.run([bench.tests, "--gtest_brief=1"], cwd=bench.work, timeout=limit, capture_output=True, text=True,
                           errors="replace", check=False,
                           env={**bench.variables, "DDPTRAIN_GPU_TEST_DEVICE": bench.device})
    expect(ended.returncode != 77 or not bench.on_cuda, last_lines(ended.stdout))
    if ended.returncode == 77:
        raise Skip(last_lines(ended.stdout, 1))
    failed = re.findall(r"FAILED  \] (\S+)", ended.stdout)
    expect(ended.returncode == 0, f"exit code {ended.returncode}: {', '.join(sorted(set(failed)))[:600]}")
    counts = re.findall(r"\[ +(PASSED|SKIPPED) +\] (\d+) tests", ended.stdout)
    return ", ".join(f"{number} {word.lower()}" for word, number in counts)


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
