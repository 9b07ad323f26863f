"""What imdb_bag.py and imdb_transformer.py share: IMDB's reviews as numbers, batches of like lengths, one cycle, the scores.

Tokens are those of fastai's rules (fastai.text.core), cut into words as `tokenizer: {type: fastai, split: words}` does: punctuation and
the endings of contractions stand alone. Numbers are those of fastai's make_vocab.
"""
import collections
import math
import re

import torch
from fastai.text.all import compose, defaults, make_vocab
from measure import cpu_seconds, report

PADDING = 1  # xxpad
PIECE = re.compile(r"[ \t]*(?:([\n-\r]+)|(\w+)|(.))", re.DOTALL)
WORD = re.compile(r"\w*")
ENDING = re.compile(r"'(s|m|d|t|ll|ve|re)(?![0-9A-Za-z_\x80-\U0010ffff])")


def is_digit(c):
    return "0" <= c <= "9"


def is_letter(c):
    return "a" <= c <= "z" or "A" <= c <= "Z" or c == "_"


def joins(text, first, at):
    """Whether the sign at `at` belongs to the word that began at `first`: "3.14", "1,000", "u.s.a."."""
    if at >= len(text) or text[at] not in ".,":
        return False
    before, behind = text[at - 1], text[at + 1] if at + 1 < len(text) else " "
    if is_digit(before) and is_digit(behind):
        return True
    if text[at] == ",":
        return False
    single = at - first == 1 or text[at - 2] == "."
    return single and is_letter(before) and (is_letter(behind) or (at - first > 2 and not is_digit(behind)))


def words(text):
    at, made = 0, []
    while piece := PIECE.match(text, at):
        at, (lines, word, sign) = piece.end(), piece.groups()
        if lines or (sign and not sign.isspace()):
            made.append(lines or sign)
        if not word:
            continue
        first = piece.start(2)
        while joins(text, first, at):
            at = WORD.match(text, at + 1).end()
        stem, ending = text[first:at], ENDING.match(text, at)
        if ending and ending[1] == "t" and len(stem) > 1 and stem.endswith("n"):
            made += [stem[:-1], "n't"]
            at = ending.end()
        elif ending and ending[1] != "t":
            made += [stem, ending[0]]
            at = ending.end()
        else:
            made.append(stem)
    return made


def read(folder, split, most):
    """Tokens of each review, `most` at most, and labels; in the order of the files' names."""
    rules = compose(*defaults.text_proc_rules)
    files = [(file, label) for label, name in enumerate(("neg", "pos")) for file in sorted((folder / split / name).glob("*.txt"))]
    return [words(rules(file.read_text(encoding="utf-8")))[:most] for file, _ in files], [label for _, label in files]


def numbers(folder, most=None):
    """(texts, labels) of train and test as tensors, and the size of the vocabulary, which is fitted on train."""
    splits = [read(folder, split, most) for split in ("train", "test")]
    vocabulary = make_vocab(collections.Counter(token for text in splits[0][0] for token in text))  # at most 60,000, thrice or oftener
    number = {token: i for i, token in enumerate(vocabulary) if token != "xxfake"}
    return [([torch.tensor([number.get(token, 0) for token in text]) for text in texts], torch.tensor(labels))
            for texts, labels in splits], len(vocabulary)


def order(lengths, batch, generator, chunk=100):
    """Whole batches of samples of nearly equal length, the one with the longest sample first: `sampler: length_sorted`."""
    drawn = torch.randperm(len(lengths), generator=generator).tolist()[len(lengths) % batch:]
    ordered = [i for first in range(0, len(drawn), chunk * batch)
               for i in sorted(drawn[first:first + chunk * batch], key=lambda i: -lengths[i])]
    batches = [ordered[first:first + batch] for first in range(0, len(ordered), batch)]
    batches.sort(key=lambda rows: -lengths[rows[0]])
    return [batches[0]] + [batches[1 + i] for i in torch.randperm(len(batches) - 1, generator=generator).tolist()]


def padded(texts, rows):
    return torch.nn.utils.rnn.pad_sequence([texts[i] for i in rows], batch_first=True, padding_value=PADDING)


def cosine(start, end, share):
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))


def one_cycle(start, peak, end, share, rise=0.25):
    """fastai.callback.schedule.combined_cos, as Learner.fit_one_cycle uses it."""
    return cosine(start, peak, share / rise) if share < rise else cosine(peak, end, (share - rise) / (1 - rise))


def accuracy(model, texts, labels, batch=256):
    """Of all rows, in batches of like lengths."""
    model.eval()
    rows = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    with torch.no_grad():
        return sum((model(padded(texts, part)).argmax(1) == labels[part]).sum().item()
                   for part in (rows[first:first + batch] for first in range(0, len(rows), batch))) / len(rows)


def train(model, optimizer, data, *, lr, clip=None, epochs=4, batch=64, seed=1, steps=0):
    """Prints a line after each epoch; the last has the score that counts. `steps` cuts the run short, schedule included."""
    (texts, labels), valid = data
    lengths = [len(text) for text in texts]
    generator = torch.Generator().manual_seed(seed)
    total = steps or epochs * (len(texts) // batch)
    step = 0
    while step < total:
        model.train()
        for rows in order(lengths, batch, generator)[:total - step]:
            for group in optimizer.param_groups:
                group["lr"] = one_cycle(lr / 25, lr, lr / 1e5, step / total)
                group["betas"] = (one_cycle(0.95, 0.85, 0.95, step / total), group["betas"][1])
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(padded(texts, rows)), labels[rows])
            loss.backward()
            if clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            step += 1
        report(seed=seed, step=step, steps=total, loss=loss.item(), accuracy=accuracy(model, *valid), cpu_seconds=round(cpu_seconds(), 1))
