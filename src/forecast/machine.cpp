#include "forecast/machine.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;

constexpr Constant flops(double tera, std::string_view source) {
  return {tera * kTera, "FLOP/s", source};
}
constexpr Constant rate(double giga, std::string_view source) {
  return {giga * kGiga, "B/s", source};
}
constexpr Constant bytes(double giga, std::string_view source) {
  return {giga * kGiga, "B", source};
}
constexpr Constant share(double value, std::string_view source) { return {value, "", source}; }

constexpr std::string_view kA100 = "NVIDIA A100 datasheet, SXM 80 GB, dense";
constexpr std::string_view kH100 = "NVIDIA H100 datasheet, SXM, dense";
constexpr std::string_view kH200 = "NVIDIA H200 datasheet, SXM, dense";
constexpr std::string_view kB200 = "NVIDIA HGX B200 datasheet, an eighth, dense";
constexpr std::string_view kGB200 = "NVIDIA GB200 NVL72 datasheet, a 72nd, dense";
constexpr std::string_view kPlain = "assumed: no published point";
constexpr std::string_view kEager = "assumed: as torchtitan on H100";

constexpr std::array kMachines{
    KnownMachine{.name = "a100x8",
                 .title = "DGX A100: 8 x A100 80 GB, 8 x 200 Gb/s",
                 .node = 8,
                 .fp64 = flops(19.5, kA100),
                 .fp32 = flops(19.5, kA100),
                 .tf32 = flops(156, kA100),
                 .bf16 = flops(312, kA100),
                 .reached_convolution = share(0.194,
                                              "NVIDIA DeepLearningExamples, PyTorch ResNet-50 "
                                              "v1.5, AMP: 2,470 images/s on one A100 x 24.5 GFLOP"),
                 .reached_product = share(0.316,
                                          "karpathy/llm.c PR 323, PyTorch GPT-2 124M: 115,000 "
                                          "tokens/s on one A100 x 0.857 GFLOP"),
                 .reached_plain = share(0.5, kPlain),
                 .memory = bytes(80, kA100),
                 .bandwidth = rate(2039, kA100),
                 .link = rate(240, "NCCL src/graph/topo.h, SM80_NVLINK_BW 20.0 x 12 links"),
                 .network = rate(25, "DGX A100 user guide: 8 ConnectX, 200 Gb/s each"),
                 .cores = {16, "cores", "DGX A100 user guide: 128 cores"}},
    KnownMachine{
        .name = "h100x8",
        .title = "DGX H100: 8 x H100 SXM 80 GB, 8 x 400 Gb/s",
        .node = 8,
        .fp64 = flops(66.9, kH100),
        .fp32 = flops(66.9, kH100),
        .tf32 = flops(494.7, kH100),
        .bf16 = flops(989.4, kH100),
        .reached_convolution = share(0.174,
                                     "MLPerf Training v3.0, NVIDIA, ResNet-50: 7,008 images/s on "
                                     "each of 8 H100 x 24.5 GFLOP"),
        .reached_product = share(
            0.337, "torchtitan, Llama 3.1 8B, FSDP: 5,762 tokens/s on each of 8 H100 x 57.9 GFLOP"),
        .reached_plain = share(0.5, kPlain),
        .memory = bytes(80, kH100),
        .bandwidth = rate(3350, kH100),
        .link = rate(370.8,
                     "NCCL src/graph/topo.h, SM90_NVLINK_BW 20.6 x 18 links; nccl-tests#212: 370 "
                     "GB/s reached"),
        .network = rate(50, "DGX H100 user guide: 8 ConnectX-7, 400 Gb/s each"),
        .cores = {14, "cores", "DGX H100 user guide: 112 cores"}},
    KnownMachine{
        .name = "h200x8",
        .title = "DGX H200: 8 x H200 141 GB, 8 x 400 Gb/s",
        .node = 8,
        .fp64 = flops(66.9, kH200),
        .fp32 = flops(66.9, kH200),
        .tf32 = flops(494.7, kH200),
        .bf16 = flops(989.4, kH200),
        .reached_convolution = share(0.249, "derived: H100's, by the ratio of memory bandwidths"),
        .reached_product = share(0.337, kEager),
        .reached_plain = share(0.5, kPlain),
        .memory = bytes(141, kH200),
        .bandwidth = rate(4800, kH200),
        .link = rate(370.8, "NCCL src/graph/topo.h, SM90_NVLINK_BW 20.6 x 18 links"),
        .network = rate(50, "DGX H200 user guide: 8 ConnectX-7, 400 Gb/s each"),
        .cores = {14, "cores", "DGX H200 user guide: 112 cores"}},
    KnownMachine{
        .name = "b200x8",
        .title = "DGX B200: 8 x B200 180 GB, 8 x 400 Gb/s",
        .node = 8,
        .fp64 = flops(37, kB200),
        .fp32 = flops(75, kB200),
        .tf32 = flops(1125, kB200),
        .bf16 = flops(2250, kB200),
        .reached_convolution =
            share(0.176, "derived: H100's, by the ratio of memory bandwidth to arithmetic"),
        .reached_product = share(0.337, kEager),
        .reached_plain = share(0.5, kPlain),
        .memory = bytes(180, kB200),
        .bandwidth = rate(7700, kB200),
        .link = rate(721.8, "NCCL src/graph/topo.h, SM100_NVLINK_BW 40.1 x 18 links (nccl#1807)"),
        .network = rate(50, "DGX B200 user guide: 8 ConnectX-7, 400 Gb/s each"),
        .cores = {14, "cores", "DGX B200 user guide: 112 cores"}},
    KnownMachine{
        .name = "gb200x72",
        .title = "GB200 NVL72: 72 x B200 186 GB in one NVLink domain, 400 Gb/s each",
        .node = 72,
        .fp64 = flops(40, kGB200),
        .fp32 = flops(80, kGB200),
        .tf32 = flops(1250, kGB200),
        .bf16 = flops(2500, kGB200),
        .reached_convolution =
            share(0.165, "derived: H100's, by the ratio of memory bandwidth to arithmetic"),
        .reached_product = share(0.337, kEager),
        .reached_plain = share(0.5, kPlain),
        .memory = bytes(186, kGB200),
        .bandwidth = rate(8000, kGB200),
        .link = rate(721.8, "NCCL src/graph/topo.h, SM100_NVLINK_BW 40.1 x 18 links (nccl#1807)"),
        .network = rate(50, "GB200 NVL72 datasheet: a ConnectX-7 of 400 Gb/s for each device"),
        .cores = {36, "cores", "GB200 NVL72 datasheet: 2,592 Grace cores"}},
};

constexpr CommonConstants kCommon{
    .node_latency = {25e-6, "s",
                     "nccl-tests: small messages take 15 to 35 us on 8 H100; the middle"},
    .network_latency =
        {10.5e-6, "s",
         "nccl#1244: 46 us on 2 x 8 H20 over InfiniBand, less 25 us in the node, there and back"},
    .interference = share(0.8,
                          "calibrated: MLPerf Training v5.1, Nebius, Llama 3.1 8B, B200 at 8 and "
                          "16 (33.9 and 62.7 samples/s)"),
    .jitter = share(0.01, "assumed: no published point; docs/forecast.md has what 0 and 2 % give"),
    .digest = rate(1.8,
                   "measured on one core of an AMD Zen 5: SHA-256 of the file, which is slower "
                   "than a local disk")};

std::string scaled(double value, const std::vector<std::string>& prefixes, std::string_view unit,
                   double step) {
  std::size_t i = 0;
  for (; value >= step && i + 1 < prefixes.size(); ++i) value /= step;
  return format_number(std::stod(format_fixed(value, 3))) + " " + prefixes[i] + std::string(unit);
}

}  // namespace

std::span<const KnownMachine> machines() { return kMachines; }

const KnownMachine* find_machine(std::string_view name) {
  const auto found = std::ranges::find(kMachines, name, &KnownMachine::name);
  return found == kMachines.end() ? nullptr : &*found;
}

const CommonConstants& common_constants() { return kCommon; }

std::vector<NamedConstant> constants_of(const KnownMachine& machine) {
  return {{"fp64", machine.fp64},
          {"fp32", machine.fp32},
          {"tf32", machine.tf32},
          {"bf16, fp16", machine.bf16},
          {"reached by convolutions", machine.reached_convolution},
          {"reached by matrix products", machine.reached_product},
          {"reached in fp32, fp64", machine.reached_plain},
          {"memory", machine.memory},
          {"memory bandwidth", machine.bandwidth},
          {"link in a node", machine.link},
          {"network of a device", machine.network},
          {"CPU of a device", machine.cores},
          {"latency in a node", kCommon.node_latency},
          {"latency of a network hop", kCommon.network_latency},
          {"interference", kCommon.interference},
          {"jitter", kCommon.jitter},
          {"checkpoint", kCommon.digest}};
}

std::string to_text(const Constant& constant) {
  if (constant.unit.empty())
    return format_number(std::stod(format_fixed(100 * constant.value, 2))) + " %";
  if (constant.unit == "cores") return format_number(constant.value) + " cores";
  if (constant.unit == "s") return scaled(1e6 * constant.value, {"u", "m", ""}, "s", 1000);
  return scaled(constant.value, {"", "k", "M", "G", "T", "P"}, constant.unit, 1000);
}

}  // namespace ddptrain
