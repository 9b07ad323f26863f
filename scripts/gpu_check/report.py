"""gpu-check.json and the table next to it: results of slots, which may have run one by one."""
import json
import os
import time


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def table(results):
    rows = [("slot", "check", "result", "seconds", "figure or reason")]
    rows += [(str(each["slot"]), each["check"], each["status"], f"{each['seconds']:.1f}",
              each["figure"] if each["status"] == "passed" else each["reason"]) for each in results]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip() for row in rows]
    count = {status: sum(each["status"] == status for each in results) for status in ("passed", "failed", "skipped")}
    return "\n".join(lines) + "\n\n" + ", ".join(f"{number} {status}" for status, number in count.items()) + "\n"


def write(folder, about, slots, results):
    """Replaces the results of `slots` by `results` where the file is of the same device; returns all."""
    path = os.path.join(folder, "gpu-check.json")
    before = load(path)
    kept = [each for each in before.get("results", [])
            if each["slot"] not in slots and before.get("device") == about["device"]]
    everything = sorted(kept + results, key=lambda each: each["slot"])
    os.makedirs(folder, exist_ok=True)
    document = {**about, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": everything}
    for name, text in (("gpu-check.json", json.dumps(document, indent=1) + "\n"), ("gpu-check.txt", table(everything))):
        with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))
    return everything
