#include "models/vision/inverted_residual_names.h"

namespace ddptrain {

// With squeeze-and-excitation the last convolution is the chain's fourth step, without the third.
std::vector<NameRow> inverted_residual_parts() {
  return {{"block.0.0.", "conv_pw."},          {"block.0.1.", "bn1."},
          {"block.1.0.", "conv_dw."},          {"block.1.1.", "bn2."},
          {"block.2.fc1.", "se.conv_reduce."}, {"block.2.fc2.", "se.conv_expand."},
          {"block.2.0.", "conv_pwl."},         {"block.2.1.", "bn3."},
          {"block.3.0.", "conv_pwl."},         {"block.3.1.", "bn3."}};
}

void add_separable_block(std::vector<NameRow>& rows, const std::string& ours,
                         const std::string& theirs) {
  const std::vector<NameRow> parts{
      {"block.0.0.", "conv_dw."},          {"block.0.1.", "bn1."},
      {"block.1.fc1.", "se.conv_reduce."}, {"block.1.fc2.", "se.conv_expand."},
      {"block.1.0.", "conv_pw."},          {"block.1.1.", "bn2."},
      {"block.2.0.", "conv_pw."},          {"block.2.1.", "bn2."}};
  for (const auto& part : parts) rows.push_back({ours + part.ours, theirs + part.theirs});
}

}  // namespace ddptrain
