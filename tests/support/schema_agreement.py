"""The schema and the program agree: every shipped recipe passes both, and what is wrong with the recipes of tests/recipes
is found by both, in the same line, where a schema can express it.

    python3 schema_agreement.py PROGRAM REPOSITORY
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

# Problems by their ids. A new id has to be sorted into one of these.
EXPRESSIBLE = {"unknown-key", "foreign-key", "bad-value", "unknown-component", "newer-format", "extends"}
INEXPRESSIBLE = {
    "the text is no tree yet, so no schema sees it": {
        "alias", "control-character", "directive", "duplicate-key", "encoding", "key", "merge-key", "quote",
        "second-document", "syntax", "tab", "tag", "too-deep", "too-many-nodes"},
    "a recipe is checked after its layers are one, and a schema sees one file": {
        "extends-cycle", "file", "missing-key", "override", "reference"},
    "a rule between parts": {
        "batch", "digest", "duration", "duration-share", "expect-metric", "keep-best-metric", "labels", "lr",
        "lr-from-and-others", "no-effect", "schedule-in-seconds", "stage-in-seconds", "target", "tta",
        "warmup"},
}
# Texts that this script cannot read either, because the parser of Python refuses them.
NO_TREE = "the text is no tree yet, so no schema sees it"

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

    def program_takes(self, *files):
        command = [self.program, "validate", *map(str, files)]
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.repository / "tests/recipes")
        self.expect(result.returncode in (0, 2), f"{files}: exit {result.returncode}: {result.stderr}")
        return result.returncode == 0

    def errors(self, file):
        recipe = Recipe(file.read_text())
        return recipe, list(self.validator.iter_errors(recipe.data))

    def shipped(self):
        files = [file for folder in ("recipes", "configs") for file in (self.repository / folder).rglob("*.yaml")]
        self.expect(len(files) > 20, "recipes are missing")
        self.expect(self.program_takes(*files), "the program refuses a shipped recipe")
        for file in files:
            first = file.read_text().splitlines()[0]
            schema = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            found = schema and (file.parent / schema[1]).resolve() == self.repository / "schemas/recipe.json"
            self.expect(found, f"{file}:1: the first line does not name the schema")
            _, errors = self.errors(file)
            self.expect(not errors, f"{file}: the schema refuses it: {[error.message for error in errors]}")

    def text_tests(self):
        for file in sorted((self.repository / "tests/recipes").glob("*.yaml")):
            problems = re.findall(r"^(\S+?):(?:(\d+):)?(?:\d+:)? error\[([a-z-]+)\]",
                                  file.with_suffix(".expected").read_text(), re.M)
            ids = {rule for _, _, rule in problems}
            for rule in ids - EXPRESSIBLE:
                self.expect(any(rule in group for group in INEXPRESSIBLE.values()),
                            f"{file.name}: can a schema express '{rule}'? sort it in {__file__}")
            self.expect(self.program_takes(file.name) == (not ids), f"{file.name}: not what its .expected says")
            if ids & INEXPRESSIBLE[NO_TREE]:
                continue
            recipe, errors = self.errors(file)
            lines = set().union(*(recipe.lines_of(error) for error in errors))
            self.expect(bool(errors) == bool(ids & EXPRESSIBLE),
                        f"{file.name}: the program says {sorted(ids)}, the schema {[e.message for e in errors]}")
            text = [""] + file.read_text().splitlines()
            for name, line, rule in problems:
                behind_reference = rule == "bad-value" and "${" in text[int(line or 0)]  # known after layering
                if rule in EXPRESSIBLE and name == file.name and not behind_reference:
                    self.expect(int(line) in lines, f"{file.name}:{line}: the schema does not find [{rule}]")


def main():
    agreement = Agreement(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    agreement.shipped()
    agreement.text_tests()
    print("\n".join(agreement.disagreements) or "the schema and the program agree")
    return 1 if agreement.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
