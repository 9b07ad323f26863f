"""Parses a report by Python's HTML parser: elements closed in order, no reference to anything outside of the
file, and a content security policy that allows the file's own script and style alone."""
import base64
import hashlib
import html.parser
import sys

VOID = {"meta", "br", "img", "link", "input", "hr", "col"}


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.ids, self.policy = [], [], set(), ""
        self.texts = {"script": [], "style": []}

    def handle_starttag(self, tag, attributes):
        self.check(tag, attributes)
        if tag in self.texts:
            self.texts[tag].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.check(tag, attributes)

    def check(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.problems.append(f"{tag} has an attribute twice")
        values = dict(attributes)
        for name, value in attributes:
            if name.startswith("on") or name == "style":
                self.problems.append(f"{tag} has {name}")
            inside = (value or "").startswith("data:image/") if name == "src" else (value or "").startswith("#")
            if name in ("src", "href", "xlink:href", "action", "srcset", "poster") and not inside:
                self.problems.append(f"{tag} refers to {value[:80]}")
        if tag in ("link", "iframe", "object", "embed", "form", "base"):
            self.problems.append(f"there is a {tag}")
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if "id" in values and values["id"] in self.ids:
            self.problems.append(f"two elements are called {values['id']}")
        self.ids.add(values.get("id"))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"{tag} is closed at {self.getpos()} but is not open")

    def handle_data(self, data):
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data


def main(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    checker = Checker()
    checker.feed(text)
    checker.close()
    problems = checker.problems + [f"{tag} is not closed" for tag in checker.open]
    rules = dict(rule.strip().split(" ", 1) for rule in checker.policy.split(";"))
    if rules.get("default-src") != "'none'" or rules.get("img-src") != "data:":
        problems.append(f"the policy is {checker.policy}")
    for tag, texts in checker.texts.items():
        digest = "'sha256-" + base64.b64encode(hashlib.sha256("".join(texts).encode()).digest()).decode() + "'"
        if len(texts) != 1 or rules.get(tag + "-src") != digest:
            problems.append(f"{len(texts)} {tag}, and the policy has {rules.get(tag + '-src')} for {digest}")
    if "@import" in text or "url(" in "".join(checker.texts["style"]):
        problems.append("the style refers to another file")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
