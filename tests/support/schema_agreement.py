"""The schema and the program agree: every shipped recipe passes both, and what is wrong with the recipes of tests/recipes,
the examples of docs/problems.md and mutants of shipped recipes is found by both, in the same line, where a schema can
express it.

    python3 schema_agreement.py PROGRAM REPOSITORY MUTANTS
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema
import yaml

# Ids of problems that a schema finds too; of all others it finds none: they lie between parts, or in several files.
EXPRESSIBLE = {"unknown-key", "foreign-key", "bad-value", "unknown-component", "newer-format", "extends"}
# Ids of what a schema finds where no other file can supply it (a list's item without its type), or where it is not about
# numbers or lengths of two options.
SOMETIMES = {"missing-key", "option-conflict"}
# The text is no tree yet, so that no schema sees it, and the parser of Python may refuse it.
NO_TREE = {"alias", "control-character", "directive", "duplicate-key", "encoding", "key", "merge-key", "quote",
           "second-document", "syntax", "tab", "tag", "too-deep", "too-many-nodes"}

# A scalar's type: our subset of YAML 1.2's core, where Python's parsers follow 1.1.
NULL = re.compile(r"(~|null|)$")
NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]+)?$")


def typed(node):
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text
    if NULL.match(text):
        return None
    if text in ("true", "false"):
        return text == "true"
    if NUMBER.match(text) and re.search("[0-9]", text):
        number = float(text)
        return int(number) if number == int(number) else number
    return text


class Recipe:
    """A recipe as plain data, and the lines of its keys and values by their paths."""

    def __init__(self, text):
        self.key_lines, self.value_lines = {}, {}
        tree = yaml.compose(text, Loader=yaml.BaseLoader)
        self.value_lines[()] = 1
        self.data = self.read(tree, ()) if tree else {}

    def read(self, node, path):
        self.value_lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, path + (i,)) for i, item in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return typed(node)
        result = {}
        for key, value in node.value:
            below = path + (key.value,)
            result[key.value] = self.read(value, below)
            self.key_lines[below] = key.start_mark.line + 1
        return result

    def lines_of(self, error):
        """The lines of what a schema's error complains of, in all of its alternatives."""
        path = tuple(error.absolute_path)
        lines = {self.value_lines[path], self.key_lines.get(path)}
        if error.validator == "additionalProperties":
            known = set(error.schema.get("properties", {}))
            lines |= {self.key_lines[path + (key,)] for key in error.instance if key not in known}
        for alternative in error.context:
            lines |= self.lines_of(alternative)
        return lines


class Agreement:
    def __init__(self, program, repository):
        self.program, self.repository = program, pathlib.Path(repository)
        self.schema = json.loads((self.repository / "schemas/recipe.json").read_text())
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft7Validator(self.schema)
        self.disagreements = []

    def expect(self, holds, text):
        if not holds:
            self.disagreements.append(text)

    def problems(self, folder, files):
        """The errors that the program finds in each of these files of a folder: (line, id)."""
        command = [self.program, "validate", "--format", "jsonl", *(file.relative_to(folder) for file in files)]
        result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        self.expect(result.returncode in (0, 2), f"{folder}: exit {result.returncode}: {result.stderr}")
        found = {file: [] for file in files}
        for problem in map(json.loads, result.stdout.splitlines()):
            if problem["severity"] == "error" and folder / problem["file"] in found:
                found[folder / problem["file"]].append((problem["line"], problem["rule"]))
        return found

    def errors(self, file):
        recipe = Recipe(file.read_text())
        return recipe, list(self.validator.iter_errors(recipe.data))

    def agree(self, file, problems):
        """The schema refuses what the program refuses, in the same lines, where it can."""
        ids = {rule for _, rule in problems}
        if ids & NO_TREE:
            return
        recipe, errors = self.errors(file)
        lines = set().union(*(recipe.lines_of(error) for error in errors))
        self.expect(bool(errors) == bool(ids & EXPRESSIBLE) or (errors and ids & SOMETIMES),
                    f"{file}: the program says {sorted(ids)}, the schema {[e.message for e in errors]}")
        text = [""] + file.read_text().splitlines()
        for line, rule in problems:
            behind_reference = rule == "bad-value" and "${" in text[line or 0]  # known after layering
            if rule in EXPRESSIBLE and not behind_reference:
                self.expect(line in lines, f"{file}:{line}: the schema does not find [{rule}]")

    def shipped(self):
        files = [file for folder in ("recipes", "configs") for file in (self.repository / folder).rglob("*.yaml")]
        self.expect(len(files) > 20, "recipes are missing")
        for file, problems in self.problems(self.repository, files).items():
            first = file.read_text().splitlines()[0]
            schema = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            found = schema and (file.parent / schema[1]).resolve() == self.repository / "schemas/recipe.json"
            self.expect(found, f"{file}:1: the first line does not name the schema")
            self.expect(not problems, f"{file}: the program refuses it: {problems}")
            self.agree(file, problems)

    def text_tests(self):
        folder = self.repository / "tests/recipes"
        for file, problems in self.problems(folder, sorted(folder.glob("*.yaml"))).items():
            self.agree(file, problems)

    def conflicts(self):
        """Options in conflict, where a schema can tell; with the least change it takes them."""
        transform = "data: {transforms: {train: [{type: %s}]}}"
        for right, wrong in [
                (transform % "normalize, preset: mnist", transform % "normalize"),
                (transform % "normalize, mean: [1], std: [1]", transform % "normalize, preset: mnist, mean: [1]"),
                (transform % "fastai_resize, size: 9, at: random",
                 transform % "fastai_resize, size: 9, at: random, method: squish"),
                (transform % "fastai_augment, flip_vert: true",
                 transform % "fastai_augment, flip_vert: true, do_flip: false"),
                (transform % "fastai_augment, min_scale: 0.5, size: 9", transform % "fastai_augment, min_scale: 0.5"),
                (transform % "gaussian_blur, kernel_size: 5", transform % "gaussian_blur, kernel_size: 4"),
                (transform % "affine, shear: [1, 2]", transform % "affine, shear: [1]"),
                ("schedule: {type: one_cycle, three_phase: true, like: torch}",
                 "schedule: {type: one_cycle, three_phase: true, like: fastai}"),
                ("schedule: {type: one_cycle, three_phase: true}", "schedule: {type: one_cycle, warmup: 30 s}"),
                ("model: {type: awd_lstm, bidir: true, n_hid: 8}", "model: {type: awd_lstm, bidir: true, n_hid: 7}"),
                ("model: {type: awd_lstm, bidir: true, n_hid: '${x}'}", "model: {type: vit_b_16, image_size: 40}")]:
            for text, fits in ((right, True), (wrong, False)):
                errors = list(self.validator.iter_errors(Recipe(text).data))
                self.expect(fits == (not errors), f"{text}: the schema says {[e.message for e in errors]}")

    def examples_of_rules(self, folder):
        """The wrong and right fragments of docs/problems.md, each over a good recipe."""
        shutil.copy(self.repository / "tests/support/good_recipe.yaml", folder)
        page = (self.repository / "docs/problems.md").read_text()
        kinds = []
        for rule, text in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.M | re.S):
            for kind, fragment in re.findall(r"^(Wrong|Right):\n\n```yaml\n(.*?)^```", text, re.M | re.S):
                kinds.append(kind)
                base = "" if "extends" in fragment else "extends: good_recipe.yaml\n"
                (folder / f"{rule}.{kind.lower()}.yaml").write_text(fragment + base)
        self.expect(len(kinds) > 200, "examples are missing")
        for file, problems in self.problems(folder, sorted(folder.glob("*.*.yaml"))).items():
            self.agree(file, problems)

    def mutants(self, folder):
        """Shipped recipes with one mistake, which test_mutations left there."""
        files = sorted(folder.rglob("*.mutant*.yaml"))
        self.expect(len(files) > 300, "mutants are missing")
        for file, problems in self.problems(folder, files).items():
            self.expect(problems, f"{file}: the program takes it")
            self.agree(file, problems)
        return len(files)


def main():
    agreement = Agreement(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    agreement.shipped()
    agreement.text_tests()
    agreement.conflicts()
    with tempfile.TemporaryDirectory() as folder:
        agreement.examples_of_rules(pathlib.Path(folder))
    count = agreement.mutants(pathlib.Path(sys.argv[3]))
    print("\n".join(agreement.disagreements) or f"the schema and the program agree, of {count} mutants too")
    return 1 if agreement.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
