// Machines that a forecast knows, with the source of every number.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// In base units: bytes, FLOP/s, bytes a second, seconds; a share has no unit.
struct Constant {
  double value = 0;
  std::string_view unit;
  std::string_view source;
};

/// Rates and sizes are those of one device.
struct KnownMachine {
  std::string_view name;   // "h100x8": the devices that a fast link joins, which is a node here
  std::string_view title;  // of which machine the numbers are
  int node = 8;
  Constant fp64, fp32, tf32, bf16;  // dense arithmetic; fp16 is as fast as bf16
  // What a training step reaches of it; fp32 and fp64 run without tensor cores' gain.
  Constant reached_convolution, reached_product, reached_plain;
  Constant memory, bandwidth;
  Constant link;     // that a ring of devices in a node reaches
  Constant network;  // line rate of a device's share of its node's network cards
  Constant cores;    // of the CPU, that load data
};

/// Those that hold for every machine of the table.
struct CommonConstants {
  Constant node_latency;     // of a collective in a node
  Constant network_latency;  // that each doubling of nodes adds, there and back
  Constant interference;     // share of hidden communication that slows what hides it
  Constant jitter;           // standard deviation of a device's computing time, as a share of it
  Constant digest;           // at which one process writes a checkpoint
};

std::span<const KnownMachine> machines();
/// Null if there is none.
const KnownMachine* find_machine(std::string_view name);
const CommonConstants& common_constants();

struct NamedConstant {
  std::string_view name;
  Constant constant;
};
/// All that a forecast for a machine uses, in the order of `plan --explain`.
std::vector<NamedConstant> constants_of(const KnownMachine& machine);

/// "989.4 TFLOP/s", "33.7 %", "25 us".
std::string to_text(const Constant& constant);

}  // namespace ddptrain
