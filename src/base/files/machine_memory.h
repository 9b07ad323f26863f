// How much memory a machine has left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ddptrain {

/// Bytes that this process and others of its control group may still take before the system ends
/// some: /proc/meminfo's MemAvailable, or what the limits of control groups (cgroup v2) leave, if
/// that is less; file caches that can be dropped count as free. `root` is put before the names of
/// the kernel's files. None: the kernel does not say.
std::optional<std::int64_t> available_memory(const std::string& root = "");

}  // namespace ddptrain
