"""torchrun starts ranks on this machine, which pass one barrier over Gloo; the caller measures the time.

python bench/peers/torchrun_barrier.py [RANKS]
"""
import os
import sys

if "RANK" not in os.environ:
    ranks = sys.argv[1] if len(sys.argv) > 1 else "4"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks, __file__]
    os.execve(sys.executable, torchrun, {**os.environ, "OMP_NUM_THREADS": "1"})

import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == 0:
    print('{"ranks": %d}' % dist.get_world_size(), flush=True)
dist.destroy_process_group()
