// What people of other tools write, and what it is called here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// A key of another tool. `theirs` is the key alone, or with the sections that distinguish it
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

/// Components that other tools have of a kind: `theirs` are names of one thing, without case, '_',
/// '-', '.' and blanks, `ours` the components that are meant; `says` follows in a message.
struct ForeignComponent {
  std::string_view kind;
  std::string_view theirs;
  std::string_view ours;
  std::string_view says{};
};

std::span<const ForeignComponent> foreign_components();

/// "Cosine-AnnealingLR" -> "cosineannealinglr".
std::string plain_name(std::string_view name);

/// Which of a kind's components another tool's name stands for, or one that is written otherwise.
struct Meant {
  std::vector<std::string> names;  // the likeliest first; empty: nothing is known
  std::string_view says{};
};
Meant meant_components(std::string_view word, const std::string& kind,
                       const std::vector<std::string>& names);

/// "; did you mean 'a' or 'b'?", or "; here it is 'a', as in ..." where there is more to say; empty
/// without names.
std::string meant_text(const Meant& meant);

/// Why a word that other tools have is none of the words here; empty when we know nothing.
std::string why_not_here(std::string_view word, const std::vector<std::string>& words);

}  // namespace ddptrain
