"""The checks of each slot, in the order in which they run: see docs/gpu.md."""
from . import devices, faults, graphs, numbers, speed

SLOTS = {
    1: [("nvidia-smi", devices.nvidia_smi), ("doctor", devices.doctor), ("first steps: shapes", devices.shapes),
        ("first steps: vision_learner", devices.vision_learner), ("no visible GPU", devices.hidden)],
    2: [(f"{precision} of every recipe against the CPU", numbers.precision(precision))
        for precision in numbers.TOLERANCES] + [("every metric against the CPU", numbers.metrics)],
    3: [("test_gpu", devices.test_gpu)],
    4: [("none, dp and ddp of one device: the same bits", numbers.modes),
        ("two Gloo ranks on one device", numbers.two_gloo_ranks)],
    5: [("two NCCL ranks on one device", numbers.two_ranks), ("the same with sync_bn", numbers.two_ranks_sync_bn)],
    6: [("kill -9 of a rank", faults.killed), ("a rank that is stopped", faults.stopped),
        ("a broken JPEG on one rank", faults.broken_image), ("a label out of range", faults.label_out_of_range)],
    7: [("memory stays flat", faults.memory_flat), ("out of memory", faults.out_of_memory),
        ("batch.micro: auto", faults.micro_auto)],
    8: [(f"compute-sanitizer {tool}", devices.sanitizer(tool)) for tool in ("memcheck", "initcheck", "synccheck")],
    9: [("bench/gpu.py", speed.bench)],
    10: [("saved on the device, resumed on the CPU, and back", numbers.across_devices),
         ("eval on the device and on the CPU", numbers.evaluated), ("predict on the device and on the CPU", numbers.predicted)],
    11: [("steps with a graph and without: the same bits", graphs.one_process),
         ("the same of two ranks on one device", graphs.two_ranks)],
}
