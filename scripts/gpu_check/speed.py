"""Slot 9: bench/gpu.py, which compares with PyTorch in the same run."""
import os
import shutil
import subprocess

from .checks import Skip, expect, last_lines


def bench(bench):
    bench.cuda_only("speed is not simulated; 'bench/gpu.py --device cpu' rehearses it")
    python = os.environ.get("DDPTRAIN_PYTHON") or shutil.which("python3")
    imports = subprocess.run([python, "-c", "import torch, torchvision, timm, transformers"], capture_output=True,
                             check=False)
    if imports.returncode != 0:
        raise Skip(f"{python} cannot import torch, torchvision, timm and transformers; DDPTRAIN_PYTHON names another")
    script = os.path.join(bench.root, "bench", "gpu.py")
    half = str(int(bench.left() / 2))  # a row that has begun goes on
    ended = subprocess.run([python, script, "--program", bench.program, "--pairs", "1", "--seconds", half],
                           cwd=bench.work, capture_output=True, text=True, errors="replace", timeout=bench.left(),
                           check=False)
    expect(ended.returncode == 0, f"exit code {ended.returncode}: {last_lines(ended.stderr)}")
    return last_lines(ended.stdout, 8)
