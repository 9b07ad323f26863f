// Which of a machine's cores a rank computes on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Cores by NUMA node, in order; no node is empty.
using CoresByNode = std::vector<std::vector<int>>;

/// Those that this process may use (sched_getaffinity), divided as /sys/devices/system/node says;
/// one node where it says nothing.
CoresByNode usable_cores();

/// The cores of one of `ranks` ranks of a machine: a share of its own, of one node where there are
/// as many ranks as nodes, or some. Where ranks outnumber cores, several have the same one.
std::vector<int> share_of_cores(const CoresByNode& nodes, int rank, int ranks);

/// What is near a device on the PCI bus: its NUMA node (none: the system knows of none), and those
/// of `usable` that are its cores; empty where the system does not say. `root` stands for /sys.
struct Nearness {
  std::optional<int> node;
  std::vector<int> cores;
};
Nearness near_device(const std::string& bus_address, const CoresByNode& usable,
                     const std::string& root = "/sys");

/// The cores of one of the ranks of a machine, given what is near each one's device: a share of its
/// own of those that it has in common with others. Empty where a rank has none near.
std::vector<int> share_of_near(const std::vector<Nearness>& ranks, int rank);

/// Memory that this thread, and all that it starts, ask for from now on comes from that node while
/// it has some. False where the system refuses.
bool prefer_memory_of(int node);

/// "0-3,8,10-11" as Linux writes lists of cores; what is no such list is empty.
std::vector<int> read_cores(std::string_view text);
std::string to_text(const std::vector<int>& cores);

/// This thread, and all that it starts from now on, run on these cores alone. An Error
/// (Exit::device) where the system refuses.
void bind_to(const std::vector<int>& cores);

}  // namespace ddptrain
