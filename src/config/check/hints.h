// What people of other tools write, and what it is called here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// A key of another tool. `theirs` is the key alone, or with the sections that it needs to be told
/// from others ("fp16.enabled"); `ours` is the path of a key here, and `says` what follows its name
/// in a message.
struct ForeignKey {
  std::string_view tools;
  std::string_view theirs;
  std::string_view ours;
  std::string_view says{};
};

std::span<const ForeignKey> foreign_keys();

/// "'train.duration', as in '5 epochs'" for "trainer.max_epochs"; empty when we know nothing.
/// `path` is where the key was written.
std::string foreign_key_hint(std::string_view path);

/// Which of the words another tool's word stands for ("bf16" for "bf16-mixed"); empty when none.
std::string foreign_word(std::string_view word, const std::vector<std::string>& words);

/// Why a word that other tools have is none of the words here; empty when we know nothing.
std::string why_not_here(std::string_view word, const std::vector<std::string>& words);

}  // namespace ddptrain
