"""A test program of GoogleTest in several processes, each with a share of the tests."""
import dataclasses
import re
import subprocess
import time

from .checks import kill_group

NO_DEVICE = 77  # the exit code of test_gpu where there is none


@dataclasses.dataclass
class Shard:
    code: int  # negative: a signal; None: stopped at the end of its time
    out: str   # of both streams

    def count(self, word):
        """Of tests that PASSED or were SKIPPED."""
        return sum(map(int, re.findall(rf"^\[ +{word} +\] (\d+) tests?[.,]", self.out, re.MULTILINE)))

    def failures(self):
        """What each test that failed printed, by name; one that did not end is among them."""
        found, name, printed = {}, "", []
        for line in self.out.splitlines():
            mark = re.match(r"\[ *(RUN|OK|SKIPPED|FAILED) *\] ([^\s,]+)", line)
            if mark and mark[1] == "RUN":
                name, printed = mark[2], []
            elif mark and name == mark[2]:
                if mark[1] == "FAILED":
                    found[name] = " | ".join(printed)
                name = ""
            elif name and line.strip():
                printed.append(line.strip())
        if self.code not in (0, 1) or (self.code and not found):
            how = "was stopped: its time is over" if self.code is None else f"ended with code {self.code}"
            found[name or "a process"] = how + (": " + " | ".join(printed[-4:]) if printed else "")
        return found


def run_shards(bench, count, **variables):
    begun = []
    for index in range(count):
        shared = {**bench.variables, **variables, "GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(index)}
        with open(f"{bench.work}/shard-{index}.txt", "wb") as out:
            begun.append(subprocess.Popen([bench.tests], cwd=bench.work, env=shared, stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=subprocess.STDOUT, start_new_session=True))
    end = time.monotonic() + bench.left() - 5
    return [ended(bench, index, process, end) for index, process in enumerate(begun)]


def ended(bench, index, process, end):
    try:
        code = process.wait(max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        kill_group(process)
        process.wait()
        code = None
    with open(f"{bench.work}/shard-{index}.txt", encoding="utf-8", errors="replace") as file:
        return Shard(code, file.read())
