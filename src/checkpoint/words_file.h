// The words of an embedding's rows, from the file that lies next to weights: fastai's itos.pkl.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// Words in order of their numbers. A pickled list of texts (itos_wt103.pkl, or fastai's
/// `dls.vocab`, whose first list is the words), read as data (checkpoint/pytorch/pickle.h), or a
/// .json list of texts. Throws an Error (Exit::data) that names the file: also where the pickle
/// asks for calls that reach beyond data.
std::vector<std::string> read_words(const std::string& path);

}  // namespace ddptrain
