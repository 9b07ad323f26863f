// What config/ reports of text and values, what this folder reports of layers, and what the levels
// of `validate` report.
#include "recipe/rules/rule_docs.h"

#include <span>

namespace ddptrain {
namespace {

constexpr RuleDoc kValueDocs[] = {
    {"unknown-key", "A key that nothing reads.",
     "A misspelled key would leave its option at the default, and the run would train with another "
     "value than the one that is written. Every key of a recipe and of its components is declared; "
     "anything else is refused. Keys of the top level that begin with 'x-' are free, for notes and "
     "anchors.",
     "optimizer:\n  type: sgd\n  weight_decy: 1e-4\n",
     "optimizer:\n  type: sgd\n  weight_decay: 1e-4\n"},
    {"foreign-key", "A key of another tool, which has another name here.",
     "Two names for one option would contradict each other as soon as one recipe extends another, "
     "so keys of other tools are known but not read. The message says which key means the same.",
     "max_epochs: 5\n", "train:\n  duration: 5 epochs\n"},
    {"bad-value", "A value of the wrong type, out of range, or not among the words.",
     "Values are read by a strict part of YAML 1.2: true and false, decimal numbers, text; "
     "durations, sizes and shares carry their unit. What other readers take for something else "
     "(yes, 010, 1_000, .inf) is refused rather than guessed. 'ddptrain describe' tells what an "
     "option may be.",
     "train:\n  duration: 5\n", "train:\n  duration: 5 epochs\n"},
    {"missing-key", "An option that has no default is not given.",
     "No default is right for all runs, as for the folder of the data, so none is assumed.",
     "train:\n  clip: {max: 1.0}\n", "train:\n  clip: {type: norm, max: 1.0}\n"},
    {"option-conflict", "Options of one component that do not go together.",
     "An option may need another one, exclude it, or have to fit its number or length. Left alone, "
     "one of the two would have no effect, or the component could not be built. 'ddptrain "
     "describe' shows below a component's options what must hold between them.",
     "schedule: {type: one_cycle, three_phase: true}\n",
     "schedule: {type: one_cycle, three_phase: true, like: torch}\n"},
    {"renamed-key", "A key that has another name now.",
     "It is read as before. 'ddptrain migrate FILE --write' writes the new name and leaves "
     "everything else as it is.",
     "", ""},
    {"newer-format", "A recipe of a newer program.",
     "Its keys may mean something that this program does not know. 'ddptrain version' says which "
     "program this is.",
     "recipe: 2\n", "recipe: 1\n"},
    {"unknown-component", "A 'type' that no component has.",
     "'ddptrain list' shows the components of every kind.", "loss: cross_entropi\n",
     "loss: cross_entropy\n"},
    {"too-many-problems", "More problems than are shown.",
     "Their number says that the file is no recipe; fix the first ones and check again.", "", ""},
};

constexpr RuleDoc kTextDocs[] = {
    {"syntax", "Text that is not YAML.",
     "The place is where reading stopped; what is wrong may stand a little before it. Nothing else "
     "is checked until the text can be read.",
     "metrics: [accuracy\n", "metrics: [accuracy]\n"},
    {"tab", "A tab before the text of a line.",
     "YAML does not say how wide a tab is, so that it cannot tell how deep a line stands. Most "
     "editors can write spaces instead.",
     "train:\n\tduration: 5 epochs\n", "train:\n  duration: 5 epochs\n"},
    {"quote", "A quote that is not closed on its line.",
     "YAML would take all lines up to the next quote, often the rest of the file, for one text. "
     "Long text is written with '|' or '>'.",
     "name: 'imagenette\n", "name: 'imagenette'\n"},
    {"key", "A key that is empty or no text.",
     "Keys are the names of options; lists, maps and aliases are none.", "train: {: 5 epochs}\n",
     "train: {duration: 5 epochs}\n"},
    {"duplicate-key", "A key that is given twice in one map.",
     "Readers of YAML disagree about which of the two counts, and say nothing. The message names "
     "both places.",
     "seed: 1\nname: twice\nseed: 2\n", "seed: 2\nname: once\n"},
    {"merge-key", "A merge key, '<<'.",
     "It is no part of YAML 1.2, and readers disagree about which value wins. 'extends' shares "
     "whole sections, '${other.key}' and aliases share single values.",
     "x-usual: &usual {lr: 0.1}\noptimizer: {<<: *usual, type: sgd}\n",
     "x-lr: &lr 0.1\noptimizer: {lr: *lr, type: sgd}\n"},
    {"alias", "An alias inside the value that its own anchor names.",
     "Such a value would contain itself without end.", "x-loop: &loop [1, *loop]\n",
     "x-loop: &loop [1, 2]\n"},
    {"second-document", "A second document in the file.",
     "A recipe is one document; what follows '---' would be lost.",
     "name: first\n---\nname: second\n", "name: first\n"},
    {"directive", "A line that begins with '%'.",
     "Directives change how YAML is read; every recipe is read alike.",
     "%YAML 1.1\n---\nname: old\n", "name: new\n"},
    {"tag", "A tag, such as '!!int'.",
     "The option says what type its value has, and some tags run code in other readers.",
     "seed: !!int 42\n", "seed: 42\n"},
    {"encoding", "Bytes that are not UTF-8.",
     "Save the file as UTF-8; the place is that of the first byte that does not fit.", "", ""},
    {"control-character", "A character that cannot be seen.",
     "It came from a terminal, a copied page or a damaged file; remove it.", "", ""},
    {"too-deep", "Maps and lists nested too deep.",
     "No recipe needs it; the limit keeps hostile files from exhausting the program.", "", ""},
    {"too-many-nodes", "Too many values, those of anchors and aliases included.",
     "A few lines of aliases can stand for billions of values; the limit keeps such files from "
     "exhausting the program.",
     "", ""},
    {"too-large", "A file too large for a recipe.",
     "It is most likely another file; data belongs into files that a recipe names.", "", ""},
};

constexpr RuleDoc kLayerDocs[] = {
    {"file", "A file that cannot be read.",
     "Files in 'extends' are sought from the folder of the file that names them, those of the "
     "command line from the current folder.",
     "extends: nowhere.yaml\n", "extends: base.yaml\n"},
    {"extends", "An 'extends' that does not name files, or too many.",
     "It takes one file or a list of them, weakest first.", "extends: {file: base.yaml}\n",
     "extends: [base.yaml]\n"},
    {"extends-cycle", "A file that extends itself, by itself or through others.",
     "There would be no weakest layer to begin with. The message prints the circle.",
     "extends: recipe.yaml\n", "extends: base.yaml\n"},
    {"reference", "A '${...}' that stands for nothing.",
     "'${env:NAME}' needs the variable or a default, '${env:NAME:-default}'; '${other.key}' needs "
     "that key in the recipe, set by a layer and not through itself.",
     "name: batches-of-${batch.globl}\n", "name: batches-of-${batch.global}\n"},
    {"literal-secret", "A password that stands in the recipe as it is.",
     "A recipe is shared and committed, and a run keeps a copy of it, which its owner alone can "
     "read where such a text is in it. A reference to the environment, '${env:NAME}', stays as it "
     "is written in both.",
     "x-notes: {api_token: abc}\n", "x-notes: {api_token: '${env:API_TOKEN}'}\n"},
    {"dropped-option", "An option of a weaker layer that a change of 'type' takes away.",
     "Options belong to a type: a rate that suits adam does not suit sgd, so a layer that changes "
     "'type' begins with the defaults of the new one. What every type of the section has "
     "(model.weights, model.layer_groups, data.source, data.sampler, data.mix, data.loader) is "
     "kept, and so is what the same layer sets; all words of a command line are one layer. An "
     "option that a weaker layer sets and no later one sets again would be lost silently. Set it "
     "next to the new type; on the command line, '~optimizer.lr' drops it on purpose. A base for "
     "several types is best written without options of one.",
     "optimizer: {type: rmsprop, lr: 0.01}\n",
     "optimizer: {type: rmsprop, lr: 0.01, momentum: 0.9}\n"},
    {"plugin", "A file of 'plugins' that cannot be opened, or is of other versions.",
     "A plug-in is built for one ddptrain and one LibTorch, and its file says for which; the "
     "program looks before any of its code runs. Checks without the engine know it by the .json "
     "next to it, which 'ddptrain plugin shapes FILE' writes.",
     "plugins: [no/such/libmine.so]\n", "plugins: []\n"},
    {"override", "A 'key=value' of the command line that cannot be applied.",
     "'optimizer.lr=0.1' sets a value, '~train.clip' removes one, 'metrics+=[top_k]' appends, "
     "'data.transforms.train[0].size=96' goes into a list by position, and "
     "'data.transforms.train[resize].size=96' by type. In a shell, quotes around the word keep "
     "brackets and blanks together.",
     "", ""},
};

}  // namespace

const std::vector<RuleDoc>& reading_rules() {
  static const auto all = [] {
    using Docs = std::span<const RuleDoc>;
    std::vector<RuleDoc> rules;
    for (const auto docs : {Docs(kValueDocs), Docs(kTextDocs), Docs(kLayerDocs)})
      rules.insert(rules.end(), docs.begin(), docs.end());
    return rules;
  }();
  return all;
}

const std::vector<RuleDoc>& level_rules() {
  static const std::vector<RuleDoc> all{
      {"data-level", "What the recipe names as data is not there or cannot be read.",
       "'validate --level data' opens the dataset and reads samples of it, as a run would. The "
       "exit code is that of a run which meets the same.",
       "", ""},
      {"one-class", "The training data have one class alone.",
       "A model that always says the same is right then, so that nothing is learned. Most often a "
       "folder above the class folders, or one of them, was named as 'data.root'.",
       "", ""},
      {"model-level", "The model does not take a batch of these data.",
       "'validate --level model' sends one batch forward and backward on the CPU, and looks at "
       "shapes and at whether the loss is finite.",
       "", ""},
      {"parallel-level", "One step on the devices fails.",
       "'validate --level step' makes one optimizer step on the devices, evaluates one batch, and "
       "writes and reads a checkpoint.",
       "", ""},
  };
  return all;
}

}  // namespace ddptrain
